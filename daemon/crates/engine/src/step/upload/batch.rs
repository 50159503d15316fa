//! Many small files in one request.

use super::prepare::{PreparedUpload, prepare_uploads};
use super::record::{Committed, record};
use super::{ByteCounter, Task, forget_refused, modified_ms};
use crate::error::{Changing, EngineError};
use crate::observe::hash::local_stat;
use crate::step::Ctx;
use crate::step::batch::{BatchResults, Stage, StepResult};
use cairn_index::{IndexError, LocalStat, SentRow};
use cairn_model::{ContentHash, RevisionId, TransferDirection};
use cairn_platform::Disk;
use cairn_transfer::{SmallUpload, TransferError, Uploaded};
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
    let prepared = results.proceed(prepare_uploads(ctx, tasks));
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
        let committed = Committed::new(ctx, (ready.path, &ready.target), ready.row.stat, uploaded);
        (task, committed)
    }));
    results.extend(record_all(ctx, committed));
    results.into_vec()
}

async fn read(
    ctx: &Ctx,
    prepared: Vec<(Task, PreparedUpload)>,
) -> Stage<Task, (PreparedUpload, Content)> {
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

async fn send(
    ctx: &Ctx,
    files: Vec<(Task, (PreparedUpload, Content))>,
) -> Stage<Task, (PreparedUpload, Uploaded)> {
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
            modified_ms: modified_ms(ctx, &ready.absolute, &ready.row.stat),
            executable: ready.row.executable,
            skip_if: ready.unless,
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
    let refused = sent.iter().filter_map(|((_, ready), result)| {
        let error = result.as_ref().err()?;
        Some((ready.revision, error))
    });
    if let Err(error) = forget_all_refused(ctx, refused) {
        tracing::warn!(%error, "refused uploads stay recorded as sent");
    }
    sent.into_iter()
        .map(|((task, ready), result)| {
            let sent = result.map(|uploaded| (ready, uploaded));
            (task, sent.map_err(EngineError::from))
        })
        .collect()
}

fn forget_all_refused<'a>(
    ctx: &Ctx,
    refused: impl Iterator<Item = (RevisionId, &'a TransferError)>,
) -> Result<(), IndexError> {
    let mut refused = refused.peekable();
    if refused.peek().is_none() {
        return Ok(());
    }
    ctx.engine.index.write(|db| {
        for (revision, error) in refused.by_ref() {
            forget_refused(db, revision, error)?;
        }
        Ok(())
    })
}

/// Records what is about to be sent: if the response is lost, the feed's changes are recognised as this device's
/// own.
fn record_sent(ctx: &Ctx, files: &[(Task, (PreparedUpload, Content))]) -> Result<(), IndexError> {
    ctx.engine.index.write(|db| {
        for (task, (ready, content)) in files {
            db.put_sent(&SentRow {
                revision: ready.revision,
                node: ready.target.node(),
                folder: ctx.folder.id,
                local: task.local,
                creates: task.over.is_none(),
                hash: content.hash,
                size: content.bytes.len() as u64,
                executable: ready.row.executable,
            })?;
        }
        Ok(())
    })
}

fn record_all(ctx: &Ctx, committed: Vec<(Task, Committed)>) -> Vec<(Task, StepResult)> {
    let recorded_all = ctx.engine.index.write(|db| {
        let folders = db.folders()?;
        let mut all = Vec::with_capacity(committed.len());
        for (task, file) in &committed {
            all.push((task.clone(), record(db, ctx, &folders, task, file)?));
        }
        Ok(all)
    });
    match recorded_all {
        Ok(recorded) => recorded
            .into_iter()
            .map(|(task, recorded)| (task, recorded.announce(ctx)))
            .collect(),
        Err(error) => {
            tracing::error!(%error, "uploads are on the service but can't be recorded; the next scan finds them");
            let unrecorded = committed.into_iter();
            unrecorded
                .map(|(task, _)| (task, Err(EngineError::NotRecorded)))
                .collect()
        }
    }
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
