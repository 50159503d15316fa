//! Recording what was uploaded.

use super::Task;
use crate::error::EngineError;
use crate::feed;
use crate::record::{self, Content};
use crate::step::Ctx;
use crate::step::remote::{Sent, row_of};
use cairn_index::{ActivityRow, Db, FolderRow, IndexError, LocalStat, RemoteRow};
use cairn_model::{ActivityKind, Manifest, Name};
use cairn_transfer::{UploadTarget, Uploaded};

/// A file that the service has taken.
pub(super) struct Committed {
    path: String,
    stat: LocalStat,
    new: Option<NewRevision>,
}

/// The reply to a new revision; none if nothing was new.
struct NewRevision {
    row: RemoteRow,
    /// Position in the feed of the change that the reply shows.
    seq: u64,
    manifest: Manifest,
}

/// The effect of an upload on the index.
pub(super) enum Recorded {
    Uploaded(ActivityRow),
    Unchanged,
    /// Somebody has moved the node to the trash before the reply came.
    Gone,
}

impl Committed {
    pub(super) fn new(
        ctx: &Ctx,
        (path, target): (String, &UploadTarget),
        stat: LocalStat,
        uploaded: Uploaded,
    ) -> Result<Self, EngineError> {
        let new = match uploaded {
            Uploaded::Committed { node, manifest } => {
                let seq = node.seq;
                let sent = Sent {
                    parent: target.parent(),
                    name: Name::new(target.name().to_owned()).map_err(|_| EngineError::Stale)?,
                    executable: manifest.executable,
                    has_content: true,
                };
                let mut row = row_of(ctx, Some(*node), &sent)?;
                // The response may already show a later revision than ours.
                if row.revision == Some(manifest.revision) {
                    row.hash = Some(manifest.hash);
                    row.number = Some(manifest.number);
                }
                let manifest = *manifest;
                Some(NewRevision { row, seq, manifest })
            }
            Uploaded::Unchanged => None,
        };
        Ok(Self { path, stat, new })
    }
}

impl Recorded {
    /// Counts and announces an upload. Returns the result of its task.
    pub(super) fn announce(self, ctx: &Ctx) -> Result<(), EngineError> {
        match self {
            Self::Uploaded(activity) => {
                ctx.engine.count(|c| {
                    c.uploads += 1;
                    c.uploaded_bytes += activity.bytes;
                });
                ctx.engine.announce(activity);
                Ok(())
            }
            Self::Unchanged => Ok(()),
            Self::Gone => Err(EngineError::Stale),
        }
    }
}

/// Records a file that the service has taken.
pub(super) fn record(
    db: &Db<'_>,
    ctx: &Ctx,
    folders: &[FolderRow],
    task: &Task,
    file: &Committed,
) -> Result<Recorded, IndexError> {
    let Some(NewRevision { row, seq, manifest }) = &file.new else {
        record_unchanged(db, ctx, task, &file.stat)?;
        return Ok(Recorded::Unchanged);
    };
    if feed::has_removed(db, row.node, *seq)? {
        db.end_journal(task.local)?;
        db.end_sent(task.local)?;
        return Ok(Recorded::Gone);
    }
    db.put_remote(folders, row)?;
    commit(db, ctx, task, &file.stat, row, manifest)?;
    let activity = ActivityRow {
        at_ms: ctx.engine.ports.clock.now_ms(),
        folder: Some(ctx.folder.id),
        kind: ActivityKind::Uploaded,
        path: file.path.clone(),
        device: Some(ctx.engine.device_name.clone()),
        bytes: manifest.size,
    };
    db.add_activity(&activity)?;
    Ok(Recorded::Uploaded(activity))
}

fn commit(
    db: &Db<'_>,
    ctx: &Ctx,
    task: &Task,
    stat: &LocalStat,
    row: &RemoteRow,
    manifest: &Manifest,
) -> Result<(), IndexError> {
    // What was sent of a file is forgotten only where it was recorded as arrived, or where the file is
    // nobody's any more: the disk that it was on was given up.
    let is_known = db.sent_row(manifest.revision)?.is_some()
        || db
            .synced_by_local(task.local)?
            .is_some_and(|synced| synced.node == row.node);
    db.set_local_hash(task.local, stat, manifest.hash)?;
    db.end_journal(task.local)?;
    db.end_sent(task.local)?;
    let content = Content {
        revision: Some(manifest.revision),
        hash: Some(manifest.hash),
        size: manifest.size,
    };
    match task.over {
        Some(node) => {
            record::update_synced_content(db, &ctx.folder, node, content, manifest.executable)
        }
        None if is_known => record::adopt(db, &ctx.folder, task.local, row, content),
        None => Ok(()),
    }
}

/// Records that the bytes are those that the service has: only the stat was new.
fn record_unchanged(
    db: &Db<'_>,
    ctx: &Ctx,
    task: &Task,
    stat: &LocalStat,
) -> Result<(), IndexError> {
    if let Some(node) = task.over
        && let Some(synced) = db.synced_row(ctx.folder.id, node)?
        && let Some(hash) = synced.hash
    {
        db.set_local_hash(task.local, stat, hash)?;
    }
    db.end_journal(task.local)?;
    db.end_sent(task.local)
}
