//! Removing here what was deleted on the service: into the local trash, if everything in it is as the
//! index says, and around what only this disk has.

use super::local::flush_names;
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::scan::{Scope, scan};
use crate::step::{Ctx, there};
use crate::trash;
use cairn_index::{Held, LocalRow};
use cairn_model::{Kind, LocalId, NodeId, RelPath};
use std::collections::BTreeSet;
use std::path::Path;

/// Moves a file or folder to the local trash. Of a folder in which something lies that was never
/// synced (ignored, a symbolic link, a name that can't be), only what was synced goes; the folder stays
/// and is new to the service.
///
/// # Errors
/// [`EngineError::Moved`] if anything is not as the index says; then nothing was moved that was edited.
pub(crate) async fn trash_local(
    ctx: &Ctx,
    node: NodeId,
    local: LocalId,
) -> Result<(), EngineError> {
    let _gate = ctx.shared.disk_gate.lock().await;
    let index = &ctx.shared.index;
    let (row, path) = index.read(|db| Ok((db.local(local)?, db.local_path(local)?)))?;
    let (row, path) = (there(row)?, there(path)?);
    let unseen = match row.kind {
        Kind::File => local_stat(&ctx.shared.ports.disk.stat(&ctx.absolute(&path))?) != row.stat,
        Kind::Folder => has_unseen(ctx, &path)?,
    };
    if unseen {
        return Err(EngineError::Moved);
    }
    put_away(ctx, &row, &path)?;
    Ok(index.write(|db| db.clean_node(ctx.folder.id, node))?)
}

/// Anything that the index has not seen yet would vanish with the folder.
fn has_unseen(ctx: &Ctx, path: &RelPath) -> Result<bool, EngineError> {
    let scope = Scope::Below(path.clone());
    let found = ctx.shared.index.write(|db| {
        let disk = &*ctx.shared.ports.disk;
        scan(db, disk, &ctx.folder, &ctx.rules, &scope, &BTreeSet::new())
    })?;
    Ok(found.changed || !found.missing.is_empty())
}

fn put_away(ctx: &Ctx, row: &LocalRow, path: &RelPath) -> Result<(), EngineError> {
    if row.kind == Kind::File || !has_strangers(ctx, row, path)? {
        return whole(ctx, row, path);
    }
    for child in children(ctx, row)? {
        if child.held == Held::No {
            put_away(ctx, &child, &path.join(child.name.clone()))?;
        }
    }
    Ok(ctx.shared.index.write(|db| {
        if let Some(synced) = db.synced_by_local(row.id)? {
            db.remove_synced(ctx.folder.id, synced.node)?;
            db.clean_node(ctx.folder.id, synced.node)?;
        }
        db.mark_local(ctx.folder.id, row.id)
    })?)
}

fn children(ctx: &Ctx, row: &LocalRow) -> Result<Vec<LocalRow>, EngineError> {
    let index = &ctx.shared.index;
    Ok(index.read(|db| db.children(ctx.folder.id, Some(row.id)))?)
}

/// Whether something lies in a folder that takes no part in syncing, other than leftovers of programs.
fn has_strangers(ctx: &Ctx, row: &LocalRow, path: &RelPath) -> Result<bool, EngineError> {
    let known = children(ctx, row)?;
    for entry in ctx.shared.ports.disk.list(&ctx.absolute(path))? {
        let Some(name) = entry.name.to_str() else {
            return Ok(true);
        };
        let child = known.iter().find(|child| child.name.as_str() == name);
        let stranger = match child {
            Some(child) if child.held != Held::No => true,
            Some(child) if child.kind == Kind::Folder => {
                has_strangers(ctx, child, &path.join(child.name.clone()))?
            }
            Some(_) => false,
            None => !ctx.rules.is_leftover(path, name),
        };
        if stranger {
            return Ok(true);
        }
    }
    Ok(false)
}

fn whole(ctx: &Ctx, row: &LocalRow, path: &RelPath) -> Result<(), EngineError> {
    let disk = &ctx.shared.ports.disk;
    let absolute = ctx.absolute(path);
    let now_ms = ctx.shared.ports.clock.now_ms();
    let kept = trash::put(&**disk, ctx.root(), &absolute, path, now_ms)?;
    flush_names(ctx, &[&absolute, &kept])?;
    if was_written(ctx, row, &kept)? {
        // Someone had it open and wrote until the last moment: their edit beats the deletion.
        disk.rename(&kept, &absolute)?;
        return Err(EngineError::Moved);
    }
    ctx.shared.index.write(|db| {
        db.forget_local_below(ctx.folder.id, row.id)?;
        db.remove_local(ctx.folder.id, row.id)
    })?;
    ctx.shared.count(|c| c.deletes += 1);
    ctx.shared
        .activity(ctx.folder.id, "deleted", &path.to_string(), None, 0);
    Ok(())
}

/// Tells whether a file, or any known file in a folder, has other content than the index says.
fn was_written(ctx: &Ctx, row: &LocalRow, at: &Path) -> Result<bool, EngineError> {
    if row.kind == Kind::File {
        let now = local_stat(&ctx.shared.ports.disk.stat(at)?);
        return Ok((now.size, now.mtime) != (row.stat.size, row.stat.mtime));
    }
    let children = ctx
        .shared
        .index
        .read(|db| db.children(ctx.folder.id, Some(row.id)))?;
    for child in children.iter().filter(|c| c.held == Held::No) {
        if was_written(ctx, child, &at.join(child.name.as_str()))? {
            return Ok(true);
        }
    }
    Ok(false)
}
