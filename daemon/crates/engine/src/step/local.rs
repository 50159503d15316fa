//! Steps that change this disk, downloads aside. All run under the disk lock.

use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::unsettled::{check_unchanged, moved_stat};
use crate::record;
use crate::step::{Ctx, spelling};
use cairn_index::{ConflictRow, IndexError, LocalRow, SyncedRow};
use cairn_model::{ActivityKind, LocalId, Name, NodeId, original_name};
use cairn_plan::plan::Conflict;
use cairn_plan::{MoveReason, ParentAndName};
use std::path::{Path, PathBuf};

/// The plain names that are tried instead of a temporary one.
const PLAIN_NAMES: u32 = 20;

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
    ctx.check_disk_of(parent)?;
    let size = row.stat.size;
    let moved = ctx
        .check_free(parent, &to.name, Some(local))
        .and_then(|()| rename(ctx, &row, (&source, &target), (parent, &to.name)));
    let moved = match moved {
        Err(
            error @ (EngineError::Stale | EngineError::NameClash { .. } | EngineError::Name(_)),
        ) => {
            leave_temporary_name(ctx, &row, &source)?;
            return Err(error);
        }
        moved => moved?,
    };
    record_move(ctx, &moved, reason, conflict)?;
    report_move(ctx, &path.to_string(), reason, size);
    Ok(())
}

/// Gives something another place on this disk. Returns its row as it is to be recorded.
fn rename(
    ctx: &Ctx,
    row: &LocalRow,
    (source, target): (&Path, &Path),
    (parent, name): (Option<LocalId>, &Name),
) -> Result<LocalRow, EngineError> {
    let disk = &ctx.engine.ports.disk;
    disk.rename(source, target)
        .map_err(|error| spelling::explain(&**disk, (ctx.root(), target), name, error))?;
    flush_names(ctx, &[source, target])?;
    let stat = moved_stat(&row.stat, &disk.stat(target)?);
    // A rename changes the change time and nothing else; any other difference is an edit.
    let same_bytes =
        (stat.size, stat.mtime, stat.inode) == (row.stat.size, row.stat.mtime, row.stat.inode);
    Ok(LocalRow {
        parent,
        name: name.clone(),
        stat,
        hash: row.hash.filter(|_| same_bytes),
        ..row.clone()
    })
}

/// Gives what has a temporary name a plain one beside it, for the time in which this disk can't have the name under
/// which it belongs: a temporary name is hidden, and made for a moment. The plain one becomes the merge base, since it
/// is no move of the user.
fn leave_temporary_name(ctx: &Ctx, row: &LocalRow, source: &Path) -> Result<(), EngineError> {
    let Some(plain) = original_name(&row.name) else {
        return Ok(());
    };
    // The original name itself may be one that another one waits for, which would give a temporary name to this one.
    for name in (2..=PLAIN_NAMES).map(|number| plain.with_number(number)) {
        let target = source.with_file_name(name.as_str());
        match ctx
            .check_free(row.parent, &name, None)
            .and_then(|()| rename(ctx, row, (source, &target), (row.parent, &name)))
        {
            Ok(moved) => return Ok(record_plain_name(ctx, &moved)?),
            Err(EngineError::Stale | EngineError::NameClash { .. } | EngineError::Name(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Records a name that nobody has chosen for the row and its merge base.
fn record_plain_name(ctx: &Ctx, moved: &LocalRow) -> Result<(), IndexError> {
    ctx.engine.index.write(|db| {
        db.update_local(moved)?;
        let parent = match moved.parent {
            None => ctx.folder.remote_node.flatten(),
            Some(parent) => match db.synced_by_local(parent)? {
                Some(synced) => Some(synced.node),
                None => return Ok(()),
            },
        };
        let Some(synced) = db.synced_by_local(moved.id)? else {
            return Ok(());
        };
        db.put_synced(&SyncedRow {
            parent,
            name: moved.name.clone(),
            ..synced
        })
    })
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
    let found = local_stat(&ctx.engine.ports.disk.stat(&absolute)?);
    check_unchanged(&row.stat, &found)?;
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
