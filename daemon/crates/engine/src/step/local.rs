//! Steps that change this disk, downloads aside. All run under the disk lock.

use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::record;
use crate::step::{Ctx, spelling};
use cairn_index::{ConflictRow, IndexError, LocalRow};
use cairn_model::{ActivityKind, LocalId, NodeId};
use cairn_plan::plan::Conflict;
use cairn_plan::{MoveReason, ParentAndName};
use std::path::{Path, PathBuf};

/// Moves or renames on this disk.
pub(crate) async fn move_local(
    ctx: &Ctx,
    local: LocalId,
    to: &ParentAndName,
    reason: MoveReason,
    conflict: Option<&Conflict>,
) -> Result<(), EngineError> {
    let _lock = ctx.engine.disk_lock.lock().await;
    let index = &ctx.engine.index;
    let disk = &ctx.engine.ports.disk;
    let (row, from, place) = index.read(|db| {
        Ok((
            db.local_row(local)?,
            db.local_path(local)?,
            ctx.local_place(db, to)?,
        ))
    })?;
    let (row, from, (parent, path)) = (
        row.ok_or(EngineError::Stale)?,
        from.ok_or(EngineError::Stale)?,
        place.ok_or(EngineError::Stale)?,
    );
    let (source, target) = (ctx.absolute_path(&from), ctx.absolute_path(&path));
    if !local_stat(&disk.stat(&source)?).same_file(&row.stat) {
        return Err(EngineError::Stale);
    }
    ctx.check_free(parent, &to.name, Some(local))?;
    ctx.check_disk_of(parent)?;
    disk.rename(&source, &target)
        .map_err(|error| spelling::explain(&**disk, (ctx.root(), &target), &to.name, error))?;
    flush_names(ctx, &[&source, &target])?;
    let stat = local_stat(&disk.stat(&target)?);
    // A rename changes the change time and nothing else; any other difference is an edit.
    let same_bytes =
        (stat.size, stat.mtime, stat.inode) == (row.stat.size, row.stat.mtime, row.stat.inode);
    let moved = LocalRow {
        parent,
        name: to.name.clone(),
        stat,
        hash: row.hash.filter(|_| same_bytes),
        ..row
    };
    record_move(ctx, &moved, reason, conflict)?;
    report_move(ctx, &path.to_string(), reason, row.stat.size);
    Ok(())
}

fn record_move(
    ctx: &Ctx,
    moved: &LocalRow,
    reason: MoveReason,
    conflict: Option<&Conflict>,
) -> Result<(), IndexError> {
    let at_ms = ctx.engine.ports.clock.now_ms();
    ctx.engine.index.write(|db| {
        db.update_local(moved)?;
        match reason {
            MoveReason::Follow | MoveReason::PutBack => {
                if let Some(synced) = db.synced_by_local(moved.id)? {
                    record::update_synced_place(db, &ctx.folder, synced.node)?;
                }
            }
            MoveReason::Conflict | MoveReason::Temporary => {}
        }
        let Some(conflict) = conflict else {
            return Ok(());
        };
        let device = match conflict.node {
            Some(node) => db
                .remote_row(node)?
                .and_then(|r| ctx.engine.devices.name(r.device)),
            None => None,
        };
        db.open_conflict(&ConflictRow {
            folder: ctx.folder.id,
            copy: moved.id,
            node: conflict.node,
            kind: conflict.kind,
            device: device.unwrap_or_default(),
            at_ms,
            made_here: true,
            base: conflict.base,
        })
    })
}

fn report_move(ctx: &Ctx, path: &str, reason: MoveReason, size: u64) {
    let (kind, bytes) = match reason {
        MoveReason::Conflict => {
            ctx.engine.count(|c| c.conflicts += 1);
            (ActivityKind::Conflict, size)
        }
        MoveReason::Follow | MoveReason::PutBack => {
            ctx.engine.count(|c| c.renames += 1);
            (ActivityKind::Renamed, 0)
        }
        MoveReason::Temporary => return,
    };
    let id = ctx.folder.id;
    ctx.engine.activity(id, kind, path, None, bytes);
}

/// Makes names durable before the index says that they are there: a name that a crash takes back
/// would look like something that the user did.
pub(super) fn flush_names(ctx: &Ctx, paths: &[&Path]) -> Result<(), EngineError> {
    let mut dirs: Vec<PathBuf> = paths
        .iter()
        .filter_map(|p| p.parent().map(Path::to_owned))
        .collect();
    dirs.dedup();
    Ok(ctx.engine.ports.disk.sync_dirs(&dirs)?)
}

/// Sets or clears the executable bit on this disk.
pub(crate) async fn set_executable(
    ctx: &Ctx,
    node: NodeId,
    local: LocalId,
    executable: bool,
) -> Result<(), EngineError> {
    let _lock = ctx.engine.disk_lock.lock().await;
    let index = &ctx.engine.index;
    let (row, path) = ctx.local_row(local)?;
    let absolute = ctx.absolute_path(&path);
    if local_stat(&ctx.engine.ports.disk.stat(&absolute)?) != row.stat {
        return Err(EngineError::Stale);
    }
    let stat = local_stat(
        &ctx.engine
            .ports
            .disk
            .set_executable(&absolute, executable)?,
    );
    let same_bytes =
        (stat.size, stat.mtime, stat.inode) == (row.stat.size, row.stat.mtime, row.stat.inode);
    Ok(index.write(|db| {
        let hash = row.hash.filter(|_| same_bytes);
        db.update_local(&LocalRow {
            stat,
            executable,
            hash,
            ..row.clone()
        })?;
        record::update_synced_executable(db, &ctx.folder, node, executable)
    })?)
}
