//! Many small files in one request.

use super::prepare::{Ready, ready};
use super::record::{activity_row, commit, committed_row, unchanged};
use super::{ByteCounter, Task};
use crate::error::{Changing, EngineError};
use crate::observe::hash::local_stat;
use crate::step::Ctx;
use crate::step::batch::{Outcomes, Part, StepResult};
use cairn_index::{ActivityRow, IndexError, LocalStat, RemoteRow, SentRow};
use cairn_model::{ContentHash, Manifest, TransferDirection};
use cairn_platform::Disk;
use cairn_transfer::{SmallUpload, Uploaded};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use tokio::time::Instant;

/// The content of a small file, and its hash.
struct Content {
    bytes: Vec<u8>,
    hash: ContentHash,
}

/// Sends small files together. The outcomes are in the order of the tasks.
pub(crate) async fn many(ctx: &Ctx, tasks: &[Task]) -> Vec<StepResult> {
    let (mut outcomes, prepared) = Outcomes::of(tasks, |task| ready(ctx, task));
    let making = prepared.iter().map(|(_, r)| r.target.node()).collect();
    let _arriving = ctx.engine.arriving.add(making);
    let parts = outcomes.keep(read(ctx, prepared).await);
    if let Err(error) = record_sent(ctx, tasks, &parts) {
        tracing::warn!(%error, "uploads can't be journalled; they wait");
        return tasks
            .iter()
            .map(|_| Err(EngineError::NotRecorded))
            .collect();
    }
    let committed = outcomes.keep(send(ctx, tasks, parts).await);
    let recorded = record_many(ctx, tasks, &committed);
    for (part, outcome) in committed.iter().zip(recorded) {
        outcomes.set(part.at, outcome);
    }
    outcomes.into_vec()
}

async fn read(
    ctx: &Ctx,
    prepared: Vec<(usize, Ready)>,
) -> Vec<(usize, Ready, Result<Content, EngineError>)> {
    let disk = Arc::clone(&ctx.engine.ports.disk);
    let read = move || -> Vec<(usize, Ready, Result<Content, EngineError>)> {
        prepared
            .into_iter()
            .map(|(at, ready)| {
                let content = read_whole(&*disk, &ready.absolute, &ready.row.stat);
                (at, ready, content.map_err(EngineError::Disk))
            })
            .collect()
    };
    ctx.engine.ports.blocking(read).await
}

async fn send(
    ctx: &Ctx,
    tasks: &[Task],
    parts: Vec<Part<Ready, Content>>,
) -> Vec<(usize, Ready, Result<Uploaded, EngineError>)> {
    let began = Instant::now();
    let total = parts.iter().map(|part| part.ready.row.stat.size).sum();
    let label = match tasks {
        [one] => ctx.path_of(one.local),
        _ => format!("{} small files", tasks.len()),
    };
    let guard = ctx
        .engine
        .running
        .start(label, TransferDirection::Up, total);
    let mut files = Vec::new();
    let mut sent = Vec::new();
    for Part { at, ready, what } in parts {
        files.push(SmallUpload {
            target: ready.target.clone(),
            revision: ready.revision,
            bytes: what.bytes,
            modified_ms: ready.row.stat.mtime.div_euclid(1_000_000),
            executable: ready.row.executable,
            unless: ready.unless,
        });
        sent.push((at, ready));
    }
    let results = ctx
        .engine
        .transfer
        .upload_batch(files, &ByteCounter(Arc::clone(&guard.running)))
        .await;
    tracing::debug!(
        files = sent.len(),
        ms = began.elapsed().as_millis(),
        "batch sent"
    );
    sent.into_iter()
        .zip(results)
        .map(|((at, ready), result)| (at, ready, result.map_err(EngineError::from)))
        .collect()
}

/// Records what is about to be sent: if the reply is lost, the feed's news of it are known as our own.
fn record_sent(
    ctx: &Ctx,
    tasks: &[Task],
    parts: &[Part<Ready, Content>],
) -> Result<(), IndexError> {
    ctx.engine.index.write(|db| {
        for part in parts {
            db.put_sent(&SentRow {
                revision: part.ready.revision,
                node: part.ready.target.node(),
                folder: ctx.folder.id,
                local: tasks[part.at].local,
                hash: part.what.hash,
                size: part.what.bytes.len() as u64,
            })?;
        }
        Ok(())
    })
}

/// A file that was committed: its row on the service and its manifest; `None` if nothing was new.
type Committed = Option<(RemoteRow, Manifest)>;

fn record_many(ctx: &Ctx, tasks: &[Task], done: &[Part<Ready, Uploaded>]) -> Vec<StepResult> {
    let rows: Vec<Result<Committed, EngineError>> = done
        .iter()
        .map(|part| match &part.what {
            Uploaded::Committed { node, manifest } => {
                let row = committed_row(ctx, (**node).clone(), manifest)?;
                Ok(Some((row, (**manifest).clone())))
            }
            Uploaded::Unchanged => Ok(None),
        })
        .collect();
    match write_many(ctx, tasks, done, &rows) {
        Ok(announced) => {
            for activity in announced {
                ctx.engine.count(|c| {
                    c.uploads += 1;
                    c.uploaded_bytes += activity.bytes;
                });
                ctx.engine.announce(activity);
            }
            rows.into_iter().map(|row| row.map(|_| ())).collect()
        }
        Err(error) => {
            tracing::error!(%error, "uploads are on the service but can't be recorded; the next scan finds them");
            done.iter().map(|_| Err(EngineError::NotRecorded)).collect()
        }
    }
}

fn write_many(
    ctx: &Ctx,
    tasks: &[Task],
    done: &[Part<Ready, Uploaded>],
    rows: &[Result<Committed, EngineError>],
) -> Result<Vec<ActivityRow>, IndexError> {
    let at_ms = ctx.engine.ports.clock.now_ms();
    ctx.engine.index.write(|db| {
        let mut announced = Vec::new();
        let folders = db.folders()?;
        for (part, row) in done.iter().zip(rows) {
            let (task, stat) = (&tasks[part.at], &part.ready.row.stat);
            match row {
                Ok(Some((row, manifest))) => {
                    db.put_remote(&folders, row)?;
                    commit(db, ctx, task, stat, row, manifest)?;
                    let activity = activity_row(ctx, at_ms, &part.ready.path, manifest.size);
                    db.add_activity(&activity)?;
                    announced.push(activity);
                }
                Ok(None) => unchanged(db, ctx, task, stat)?,
                Err(_) => {}
            }
        }
        Ok(announced)
    })
}

/// Reads a file and its hash if its stat is `stat` before and after.
fn read_whole(disk: &dyn Disk, path: &Path, stat: &LocalStat) -> io::Result<Content> {
    let mut file = disk.open(path)?;
    if local_stat(&file.stat()?) != *stat {
        return Err(io::Error::other(Changing));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or(0));
    // One more than expected shows that it grows; a file of /proc would never end.
    (&mut file).take(stat.size + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != stat.size || local_stat(&file.stat()?) != *stat {
        return Err(io::Error::other(Changing));
    }
    let hash = ContentHash(*blake3::hash(&bytes).as_bytes());
    Ok(Content { bytes, hash })
}
