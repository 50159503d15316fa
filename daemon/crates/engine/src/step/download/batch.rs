//! Small files together: fetched in one request, made durable with two flushes, recorded in one
//! transaction.

use super::place::{Placed, commit, place};
use super::{Arrived, Ready, Task, ready};
use crate::error::EngineError;
use crate::observe::rules::TEMP_DIR;
use crate::step::Ctx;
use crate::step::batch::{Outcomes, Part, StepResult};
use crate::step::upload::ByteCounter;
use cairn_model::{Manifest, TransferDirection};
use cairn_transfer::Download;
use std::io;
use std::sync::Arc;

/// Fetches small files together. The outcomes are in the order of the tasks.
pub(crate) async fn many(ctx: &Ctx, tasks: &[Task]) -> Vec<StepResult> {
    let (mut outcomes, prepared) = Outcomes::of(tasks, |task| ready(ctx, task));
    let fetched = outcomes.keep(fetch(ctx, tasks, prepared).await);
    let ctx2 = ctx.clone();
    let write = move || -> Vec<Part<Ready, Result<Arrived, EngineError>>> {
        fetched
            .into_iter()
            .map(|Part { at, ready, what }| {
                let what = write_temp(&ctx2, &ready, what);
                Part { at, ready, what }
            })
            .collect()
    };
    let written = ctx.engine.ports.blocking(write).await;
    for (at, outcome) in place_many(ctx, tasks, written).await {
        outcomes.set(at, outcome);
    }
    outcomes.into_vec()
}

type Content = (Manifest, Vec<u8>);

async fn fetch(
    ctx: &Ctx,
    tasks: &[Task],
    prepared: Vec<(usize, Ready)>,
) -> Vec<(usize, Ready, Result<Content, EngineError>)> {
    let engine = &ctx.engine;
    let downloads: Vec<Download> = prepared.iter().map(|(_, r)| r.download).collect();
    let total = prepared.iter().map(|(_, r)| r.remote.size).sum();
    let label = match prepared.as_slice() {
        [(_, one)] if tasks.len() == 1 => one.path.clone(),
        _ => format!("{} small files", tasks.len()),
    };
    let guard = engine.running.start(label, TransferDirection::Down, total);
    let contents = engine
        .transfer
        .download_batch(&downloads, &ByteCounter(Arc::clone(&guard.running)))
        .await;
    let mut contents = contents.into_iter();
    prepared
        .into_iter()
        .map(|(at, ready)| {
            let content = match contents.next() {
                Some(content) => content.map_err(EngineError::from),
                None => Err(EngineError::ShortBatch),
            };
            (at, ready, content)
        })
        .collect()
}

fn write_temp(
    ctx: &Ctx,
    ready: &Ready,
    (manifest, bytes): Content,
) -> Result<Arrived, EngineError> {
    let disk = &ctx.engine.ports.disk;
    let mut file = disk.create_temp(&ctx.root().join(TEMP_DIR), &ready.temp_name())?;
    let executable = ready.remote.executable;
    let written = file
        .set_len(0)
        .and_then(|()| io::Write::write_all(&mut *file, &bytes))
        .and_then(|()| file.set_executable(executable))
        .and_then(|()| file.set_modified(manifest.modified_ms));
    let temp = file.path().to_owned();
    drop(file);
    if let Err(error) = written {
        if let Err(error) = disk.remove_file(&temp) {
            tracing::debug!(%error, "a temporary file stays for now");
        }
        return Err(error.into());
    }
    Ok(Arrived { temp, manifest })
}

/// Puts a batch in place under the disk lock: durable first, then named, then durable names, then one
/// transaction. Two flushes serve the whole batch.
async fn place_many(
    ctx: &Ctx,
    tasks: &[Task],
    written: Vec<Part<Ready, Result<Arrived, EngineError>>>,
) -> Vec<(usize, StepResult)> {
    let _disk_lock = ctx.engine.disk_lock.lock().await;
    let (ctx2, tasks) = (ctx.clone(), tasks.to_vec());
    let place = move || {
        let mut outcomes = Vec::new();
        let placed = place_each(&ctx2, &tasks, written, &mut outcomes);
        let recorded = record_batch(&ctx2, &tasks, &placed);
        if let Err(error) = &recorded {
            // They are in place but not recorded: the next scan sees that they are equal.
            tracing::warn!(%error, "downloads can't be recorded");
        }
        outcomes.extend(placed.iter().map(|part| {
            let outcome = match recorded {
                Ok(()) => Ok(()),
                Err(_) => Err(EngineError::NotRecorded),
            };
            (part.at, outcome)
        }));
        outcomes
    };
    ctx.engine.ports.blocking(place).await
}

/// Puts each file in place that was written; failures go to the outcomes.
fn place_each(
    ctx: &Ctx,
    tasks: &[Task],
    written: Vec<Part<Ready, Result<Arrived, EngineError>>>,
    outcomes: &mut Vec<(usize, StepResult)>,
) -> Vec<Part<Ready, Placed>> {
    let flushed = ctx.engine.ports.disk.sync_all(ctx.root());
    let flushed = flushed.map_err(|error| error.to_string());
    let mut placed = Vec::new();
    for Part { at, ready, what } in written {
        let put = what.and_then(|arrived| match &flushed {
            Ok(()) => place(ctx, &tasks[at], &arrived),
            Err(error) => Err(EngineError::Disk(io::Error::other(error.clone()))),
        });
        match put {
            Ok(what) => placed.push(Part { at, ready, what }),
            Err(error) => outcomes.push((at, Err(error))),
        }
    }
    placed
}

fn record_batch(ctx: &Ctx, tasks: &[Task], placed: &[Part<Ready, Placed>]) -> StepResult {
    ctx.engine.ports.disk.sync_all(ctx.root())?;
    let placed: Vec<_> = placed
        .iter()
        .map(|part| (&tasks[part.at], &part.ready.remote, &part.what))
        .collect();
    commit(ctx, &placed)
}
