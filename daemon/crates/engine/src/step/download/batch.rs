//! Small files together: fetched in one request, made durable with two flushes, recorded in one
//! transaction.

use super::place::{Placed, check_still_there, commit, place};
use super::{Arrived, PreparedDownload, Task, prepare_download};
use crate::error::EngineError;
use crate::observe::rules::TEMP_DIR;
use crate::step::Ctx;
use crate::step::batch::{BatchResults, Stage, StepResult};
use crate::step::upload::ByteCounter;
use cairn_model::{Manifest, NodeId, TransferDirection};
use std::io;
use std::sync::Arc;

/// Fetches small files together. Each comes back with its own result.
pub(crate) async fn many(ctx: &Ctx, tasks: Vec<Task>) -> Vec<(Task, StepResult)> {
    let mut results = BatchResults::new();
    let prepared = results.proceed(tasks.into_iter().map(|task| {
        let ready = prepare_download(ctx, &task);
        (task, ready)
    }));
    let fetched = results.proceed(fetch(ctx, prepared).await);
    let ctx2 = ctx.clone();
    let write = move || -> Vec<_> {
        fetched
            .into_iter()
            .map(|(task, (ready, content))| {
                let arrived = write_temp(&ctx2, &ready, content);
                (task, arrived.map(|arrived| (ready, arrived)))
            })
            .collect()
    };
    let written = results.proceed(ctx.engine.ports.run_blocking(write).await);
    results.extend(place_all(ctx, written).await);
    results.into_vec()
}

type Content = (Manifest, Vec<u8>);

async fn fetch(
    ctx: &Ctx,
    prepared: Vec<(Task, PreparedDownload)>,
) -> Stage<Task, (PreparedDownload, Content)> {
    let engine = &ctx.engine;
    let total = prepared.iter().map(|(_, r)| r.remote.size).sum();
    let label = match prepared.as_slice() {
        [(_, one)] => one.path.clone(),
        all => format!("{} small files", all.len()),
    };
    let guard = engine.running.start(label, TransferDirection::Down, total);
    let files = prepared.into_iter().map(|(task, ready)| {
        let download = ready.download;
        ((task, ready), download)
    });
    let fetched = engine
        .transfer
        .download_batch(
            files.collect(),
            total,
            &ByteCounter(Arc::clone(&guard.running)),
        )
        .await;
    fetched
        .into_iter()
        .map(|((task, mut ready), content)| {
            let fetched = content.map(|content| {
                ready.set_executable(&content.0);
                (ready, content)
            });
            (task, fetched.map_err(EngineError::from))
        })
        .collect()
}

fn write_temp(
    ctx: &Ctx,
    ready: &PreparedDownload,
    (manifest, bytes): Content,
) -> Result<Arrived, EngineError> {
    ctx.check_root()?;
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

/// Puts a batch in place: durable first, then named, then durable names, then one transaction. Two flushes serve the
/// whole batch.
async fn place_all(
    ctx: &Ctx,
    written: Vec<(Task, (PreparedDownload, Arrived))>,
) -> Vec<(Task, StepResult)> {
    let ports = &ctx.engine.ports;
    let (disk, root) = (Arc::clone(&ports.disk), ctx.root().to_owned());
    // Nobody else knows the names that they have until now: others may use the disk meanwhile.
    let flushed = ports.run_blocking(move || disk.sync_all(&root)).await;
    let _disk_lock = ctx.engine.disk_lock.lock().await;
    let ctx2 = ctx.clone();
    let place = move || {
        let mut results = BatchResults::new();
        let nodes: Vec<NodeId> = written.iter().map(|(task, _)| task.node).collect();
        let (there, _placing) = match check_still_there(&ctx2, &nodes) {
            Ok(there) => there,
            Err(error) => {
                tracing::warn!(%error, "downloads can't be put in place: the index is not to be had");
                results.fail_unrecorded(written.into_iter().map(|(task, _)| task), error);
                return results.into_vec();
            }
        };
        let written = results.proceed(written.into_iter().map(|(task, written)| {
            let is_there = there.contains(&task.node);
            (task, is_there.then_some(written).ok_or(EngineError::Stale))
        }));
        let placed = results.proceed(place_each(&ctx2, written, flushed));
        let recorded = record_batch(&ctx2, &placed);
        if let Err(error) = &recorded {
            // They are in place but not recorded: the next scan sees that they are equal.
            tracing::warn!(%error, "downloads can't be recorded");
        }
        results.extend(placed.into_iter().map(|(task, _)| match recorded {
            Ok(()) => (task, Ok(())),
            Err(_) => (task, Err(EngineError::NotRecorded)),
        }));
        results.into_vec()
    };
    ports.run_blocking(place).await
}

/// Puts each file in place if its content could be flushed.
fn place_each(
    ctx: &Ctx,
    written: Vec<(Task, (PreparedDownload, Arrived))>,
    flushed: io::Result<()>,
) -> Stage<Task, (PreparedDownload, Placed)> {
    let flushed = flushed.map_err(|error| (error.kind(), error.to_string()));
    written
        .into_iter()
        .map(|(task, (ready, arrived))| {
            let placed = match &flushed {
                Ok(()) => place(ctx, &task, &arrived),
                // With its kind: a full disk is not any failure of a disk.
                Err((kind, text)) => Err(io::Error::new(*kind, text.clone()).into()),
            };
            (task, placed.map(|placed| (ready, placed)))
        })
        .collect()
}

fn record_batch(ctx: &Ctx, placed: &[(Task, (PreparedDownload, Placed))]) -> StepResult {
    ctx.engine.ports.disk.sync_all(ctx.root())?;
    let placed: Vec<_> = placed
        .iter()
        .map(|(task, (ready, placed))| (task, &ready.remote, placed))
        .collect();
    commit(ctx, &placed)
}
