//! Recording what was uploaded.

use super::Task;
use crate::error::EngineError;
use crate::record::{self, Content};
use crate::step::Ctx;
use crate::step::remote::row_of;
use cairn_index::{ActivityRow, Db, IndexError, LocalStat, RemoteRow};
use cairn_model::{ActivityKind, Manifest};
use cairn_transfer::Uploaded;
use cairn_wire::nodes::Node;

pub(super) fn activity_row(ctx: &Ctx, at_ms: i64, path: &str, bytes: u64) -> ActivityRow {
    ActivityRow {
        at_ms,
        folder: Some(ctx.folder.id),
        kind: ActivityKind::Uploaded,
        path: path.to_owned(),
        device: Some(ctx.engine.device_name.clone()),
        bytes,
    }
}

pub(super) fn committed_row(
    ctx: &Ctx,
    node: Node,
    manifest: &Manifest,
) -> Result<RemoteRow, EngineError> {
    let mut row = row_of(ctx, Some(node))?;
    // The response may already show a later revision than ours.
    if row.revision == Some(manifest.revision) {
        row.hash = Some(manifest.hash);
        row.number = Some(manifest.number);
    }
    Ok(row)
}

pub(super) fn finish(
    ctx: &Ctx,
    task: &Task,
    path: &str,
    stat: &LocalStat,
    uploaded: Uploaded,
) -> Result<(), EngineError> {
    match uploaded {
        Uploaded::Committed { node, manifest } => {
            let row = committed_row(ctx, *node, &manifest)?;
            ctx.engine.index.write(|db| {
                db.put_remote(&db.folders()?, &row)?;
                commit(db, ctx, task, stat, &row, &manifest)
            })?;
            ctx.engine.count(|c| {
                c.uploads += 1;
                c.uploaded_bytes += manifest.size;
            });
            let device = Some(ctx.engine.device_name.clone());
            ctx.engine.activity(
                ctx.folder.id,
                ActivityKind::Uploaded,
                path,
                device,
                manifest.size,
            );
        }
        Uploaded::Unchanged => ctx
            .engine
            .index
            .write(|db| record_unchanged(db, ctx, task, stat))?,
    }
    Ok(())
}

pub(super) fn commit(
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
        Some(node) => record::agree_content(db, &ctx.folder, node, content, manifest.executable),
        None if is_known => record::adopt(db, &ctx.folder, task.local, row, content),
        None => Ok(()),
    }
}

/// Records that the bytes are those that the service has: only the stat was new.
pub(super) fn record_unchanged(
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
