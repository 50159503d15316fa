//! Many small files in one request.

use super::prepare::{Ready, look_up};
use super::record::{activity_row, commit, committed_row, record_unchanged};
use super::{ByteCounter, Task};
use crate::error::{Changing, EngineError};
use crate::observe::hash::local_stat;
use crate::step::Ctx;
use crate::step::batch::{BatchResults, Stage, StepResult};
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

/// Sends small files together. Each comes back with its own result.
pub(crate) async fn many(ctx: &Ctx, tasks: Vec<Task>) -> Vec<(Task, StepResult)> {
    let mut results = BatchResults::new();
    let prepared = results.proceed(tasks.into_iter().map(|task| {
        let ready = look_up(ctx, &task);
        (task, ready)
    }));
    let creating = prepared.iter().map(|(_, r)| r.target.node()).collect();
    let _arriving = ctx.engine.arriving.add(creating);
    let files = results.proceed(read(ctx, prepared).await);
    if let Err(error) = record_sent(ctx, &files) {
        tracing::warn!(%error, "uploads can't be journalled; they wait");
        let unsent = files.into_iter().map(|(task, _)| task);
        results.extend(unsent.map(|task| (task, Err(EngineError::NotRecorded))));
        return results.into_vec();
    }
    let sent = results.proceed(send(ctx, files).await);
    let committed = results.proceed(sent.into_iter().map(|(task, (ready, uploaded))| {
        let committed = Committed::new(ctx, ready, uploaded);
        (task, committed)
    }));
    results.extend(record_all(ctx, committed));
    results.into_vec()
}

async fn read(ctx: &Ctx, prepared: Vec<(Task, Ready)>) -> Stage<Task, (Ready, Content)> {
    let disk = Arc::clone(&ctx.engine.ports.disk);
    let read = move || -> Vec<_> {
        prepared
            .into_iter()
            .map(|(task, ready)| {
                let content = read_whole(&*disk, &ready.absolute, &ready.row.stat);
                let file = content.map(|content| (ready, content));
                (task, file.map_err(EngineError::Disk))
            })
            .collect()
    };
    ctx.engine.ports.run_blocking(read).await
}

async fn send(ctx: &Ctx, files: Vec<(Task, (Ready, Content))>) -> Stage<Task, (Ready, Uploaded)> {
    let began = Instant::now();
    let (count, total) = (
        files.len(),
        files
            .iter()
            .map(|(_, (ready, _))| ready.row.stat.size)
            .sum(),
    );
    let label = match &files[..] {
        [(one, _)] => ctx.path_of(one.local),
        _ => format!("{count} small files"),
    };
    let guard = ctx
        .engine
        .running
        .start(label, TransferDirection::Up, total);
    let uploads = files.into_iter().map(|(task, (ready, content))| {
        let upload = SmallUpload {
            target: ready.target.clone(),
            revision: ready.revision,
            bytes: content.bytes,
            modified_ms: ready.row.stat.mtime.div_euclid(1_000_000),
            executable: ready.row.executable,
            unless: ready.unless,
        };
        ((task, ready), upload)
    });
    let sent = ctx
        .engine
        .transfer
        .upload_batch(uploads.collect(), &ByteCounter(Arc::clone(&guard.running)))
        .await;
    let ms = began.elapsed().as_millis();
    tracing::debug!(files = count, ms, "batch sent");
    sent.into_iter()
        .map(|((task, ready), result)| {
            let sent = result.map(|uploaded| (ready, uploaded));
            (task, sent.map_err(EngineError::from))
        })
        .collect()
}

/// Records what is about to be sent: if the response is lost, the feed's news of it are known as our own.
fn record_sent(ctx: &Ctx, files: &[(Task, (Ready, Content))]) -> Result<(), IndexError> {
    ctx.engine.index.write(|db| {
        for (task, (ready, content)) in files {
            db.put_sent(&SentRow {
                revision: ready.revision,
                node: ready.target.node(),
                folder: ctx.folder.id,
                local: task.local,
                hash: content.hash,
                size: content.bytes.len() as u64,
            })?;
        }
        Ok(())
    })
}

/// A file that was sent.
struct Committed {
    path: String,
    stat: LocalStat,
    /// Its row on the service and its manifest; `None` if nothing was new.
    new: Option<(RemoteRow, Manifest)>,
}

impl Committed {
    fn new(ctx: &Ctx, ready: Ready, uploaded: Uploaded) -> Result<Self, EngineError> {
        let new = match uploaded {
            Uploaded::Committed { node, manifest } => {
                let row = committed_row(ctx, *node, &manifest)?;
                Some((row, *manifest))
            }
            Uploaded::Unchanged => None,
        };
        Ok(Self {
            path: ready.path,
            stat: ready.row.stat,
            new,
        })
    }
}

fn record_all(ctx: &Ctx, committed: Vec<(Task, Committed)>) -> Vec<(Task, StepResult)> {
    let recorded = write_all(ctx, &committed);
    let is_recorded = recorded.is_ok();
    match recorded {
        Ok(announced) => {
            for activity in announced {
                ctx.engine.count(|c| {
                    c.uploads += 1;
                    c.uploaded_bytes += activity.bytes;
                });
                ctx.engine.announce(activity);
            }
        }
        Err(error) => {
            tracing::error!(%error, "uploads are on the service but can't be recorded; the next scan finds them");
        }
    }
    let result = || match is_recorded {
        true => Ok(()),
        false => Err(EngineError::NotRecorded),
    };
    let tasks = committed.into_iter().map(|(task, _)| task);
    tasks.map(|task| (task, result())).collect()
}

fn write_all(ctx: &Ctx, committed: &[(Task, Committed)]) -> Result<Vec<ActivityRow>, IndexError> {
    let at_ms = ctx.engine.ports.clock.now_ms();
    ctx.engine.index.write(|db| {
        let mut announced = Vec::new();
        let folders = db.folders()?;
        for (task, Committed { path, stat, new }) in committed {
            let Some((row, manifest)) = new else {
                record_unchanged(db, ctx, task, stat)?;
                continue;
            };
            db.put_remote(&folders, row)?;
            commit(db, ctx, task, stat, row, manifest)?;
            let activity = activity_row(ctx, at_ms, path, manifest.size);
            db.add_activity(&activity)?;
            announced.push(activity);
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
