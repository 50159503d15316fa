//! Sending file content: one big file, or many small ones in one request.
//!
//! A file is read only while its stat is what the scan saw; if it changes, the upload is dropped
//! and the file is scanned again.

mod batch;
mod copy;
mod prepare;
mod record;
mod server_copy;

pub(crate) use batch::many;

use crate::error::EngineError;
use crate::key::Key;
use crate::observe::hash::local_stat;
use crate::running::Running;
use crate::step::Ctx;
use crate::step::stable_file::StableFile;
use cairn_api::ErrorClass;
use cairn_index::{Db, Index, IndexError, JournalRow, LocalStat, SentRow};
use cairn_model::{FolderId, LocalId, NodeId, RevisionId, TransferDirection};
use cairn_plan::ParentAndName;
use cairn_transfer::{Progress, ResumableUpload, TransferError, Upload, Uploaded};
use prepare::PreparedUpload;
use record::{Committed, record};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// One file to send.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) local: LocalId,
    /// The node that gets a new revision; `None`: a new node.
    pub(crate) over: Option<NodeId>,
    pub(crate) to: ParentAndName,
    /// Bytes.
    pub(crate) size: u64,
}

/// Returns the local row and the node that no other step touches while a task runs.
pub(crate) fn keys(task: &Task) -> Vec<Key> {
    std::iter::once(Key::Local(task.local))
        .chain(task.over.map(Key::Node))
        .collect()
}

/// Returns whether a file has changed under several tries, so that a copy of it is sent.
pub(crate) fn needs_copy(ctx: &Ctx, local: LocalId) -> bool {
    let tries = ctx.engine.health().tries(ctx.folder.id, Key::Local(local));
    tries >= copy::COPY_AFTER
}

/// Copies a file that has changed under several tries.
async fn copy_if_changing(
    ctx: &Ctx,
    local: LocalId,
    file: &Path,
) -> Result<Option<copy::Copied>, EngineError> {
    if !needs_copy(ctx, local) {
        return Ok(None);
    }
    match copy::copy(ctx, local, file).await {
        // Without space for a copy the file itself is tried again.
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(None),
        copied => Ok(Some(copied?)),
    }
}

/// Sends one file of any size.
pub(crate) async fn one(ctx: &Ctx, task: &Task) -> Result<(), EngineError> {
    let ready = prepare::prepare_upload(ctx, task)?;
    let _arriving = ctx.engine.arriving.add(vec![ready.target.node()]);
    let copied = copy_if_changing(ctx, task.local, &ready.absolute).await?;
    let stat = copied.as_ref().map_or(ready.row.stat, |copied| copied.of);
    let guard = ctx
        .engine
        .running
        .start(ready.path.clone(), TransferDirection::Up, stat.size);
    let uploading = async {
        if let Some(made) = server_copy::make(ctx, task, &ready, copied.as_ref()).await? {
            return Ok(made);
        }
        send(ctx, task, &ready, copied.as_ref(), &guard.running).await
    };
    let outcome = tokio::select! {
        biased;
        outcome = uploading => outcome?,
        () = ctx.wait_paused() => return Err(EngineError::Paused),
    };
    let committed = Committed::new(ctx, (ready.path, &ready.target), stat, outcome)?;
    let index = &ctx.engine.index;
    index
        .write(|db| record(db, ctx, &db.folders()?, task, &committed))?
        .announce(ctx)?;
    if copied.is_some() {
        let mut health = ctx.engine.health();
        health.back_off_after_copy(ctx.folder.id, Key::Local(task.local), stat.size);
    }
    Ok(())
}

/// Sends a file, or the copy that was made of it.
async fn send(
    ctx: &Ctx,
    task: &Task,
    ready: &PreparedUpload,
    copied: Option<&copy::Copied>,
    running: &Arc<Running>,
) -> Result<Uploaded, EngineError> {
    let stat = copied.map_or(ready.row.stat, |copied| copied.of);
    let disk = Arc::clone(&ctx.engine.ports.disk);
    let source = Arc::new(match copied {
        Some(copied) => StableFile::new(disk, copied.path.clone(), copied.stat),
        None => StableFile::new(disk, ready.absolute.clone(), stat),
    });
    let upload = Upload {
        target: ready.target.clone(),
        revision: ready.revision,
        source,
        size: stat.size,
        modified_ms: modified_ms(ctx, &ready.absolute, &stat),
        executable: ready.row.executable,
        skip_if: ready.unless,
        resume: ready.resume.clone(),
    };
    let listener = Listener {
        index: Arc::clone(&ctx.engine.index),
        running: Arc::clone(running),
        folder: ctx.folder.id,
        local: task.local,
        node: ready.target.node(),
        creates: task.over.is_none(),
        executable: ready.row.executable,
        stat,
    };
    let outcome = ctx.engine.transfer.upload(upload, &listener).await;
    if let Err(error) = &outcome
        && is_lost(error)
    {
        // What was begun goes nowhere: its place or its base is another one by now.
        ctx.engine.index.write(|db| {
            db.end_journal(task.local)?;
            forget_refused(db, ready.revision, error)
        })?;
    }
    Ok(outcome?)
}

/// Returns the modification time of a file. The disk has it where it is of a year that the index can't keep.
fn modified_ms(ctx: &Ctx, path: &Path, stat: &LocalStat) -> i64 {
    let found = match stat.mtime {
        i64::MIN | i64::MAX => ctx.engine.ports.disk.stat(path).ok(),
        _ => None,
    };
    let found = found.filter(|found| local_stat(found) == *stat);
    found.map_or_else(
        || stat.mtime.div_euclid(1_000_000),
        |found| found.modified_ms,
    )
}

/// Forgets that a revision was sent if the service has refused it for good: it says so only of one that it
/// doesn't have. Otherwise its node would be taken for one whose reply was lost.
fn forget_refused(
    db: &Db<'_>,
    revision: RevisionId,
    error: &TransferError,
) -> Result<(), IndexError> {
    match error {
        TransferError::Api(error) if error.class() == ErrorClass::Stale => {
            db.end_sent_revision(revision)
        }
        TransferError::Api(_)
        | TransferError::UploadLost
        | TransferError::SourceChanged
        | TransferError::Refused { .. }
        | TransferError::Sealing(_)
        | TransferError::Source(_)
        | TransferError::Target(_) => Ok(()),
    }
}

fn is_lost(error: &TransferError) -> bool {
    match error {
        TransferError::UploadLost => true,
        TransferError::Api(error) => {
            matches!(error.class(), ErrorClass::Stale | ErrorClass::Missing)
        }
        TransferError::SourceChanged
        | TransferError::Refused { .. }
        | TransferError::Sealing(_)
        | TransferError::Source(_)
        | TransferError::Target(_) => false,
    }
}

/// Keeps the journal and the figures of a running upload.
struct Listener {
    index: Arc<Index>,
    running: Arc<Running>,
    folder: FolderId,
    local: LocalId,
    node: NodeId,
    creates: bool,
    executable: bool,
    stat: LocalStat,
}

impl Progress for Listener {
    fn on_start(&self, started: &ResumableUpload) {
        let Ok(state) = serde_json::to_vec(started) else {
            return;
        };
        let row = JournalRow {
            local: self.local,
            node: self.node,
            state,
        };
        let sent = SentRow {
            revision: started.revision,
            node: self.node,
            folder: self.folder,
            local: self.local,
            creates: self.creates,
            hash: started.hash,
            size: self.stat.size,
            executable: self.executable,
        };
        let journalled = self.index.write(|db| {
            db.put_journal(&row, &self.stat)?;
            db.put_sent(&sent)
        });
        if let Err(error) = journalled {
            tracing::warn!(%error, "an upload can't be journalled; after a crash it begins again");
        }
    }

    fn on_progress(&self, done: u64, _total: u64) {
        self.running.set_done(done);
    }
}

/// Keeps the figures only.
pub(crate) struct ByteCounter(pub(crate) Arc<Running>);

impl Progress for ByteCounter {
    fn on_progress(&self, done: u64, _total: u64) {
        self.0.set_done(done);
    }
}
