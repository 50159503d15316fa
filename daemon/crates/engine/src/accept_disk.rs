//! Continues syncing on another disk in place of the one that a folder, or a directory in it, was on.
//!
//! Nobody can tell what is missing on a new disk from what was deleted. So the merge bases (records of what
//! both sides last agreed on) of what was on the old one are dropped: both sides are compared afresh, and
//! nothing is deleted on either.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::mounts::FileSystem;
use cairn_index::{Db, FolderRow, IndexError, LocalRow, Skipped};
use cairn_model::{LocalId, RelPath};
use cairn_platform::{FileKind, Stat};
use std::path::Path;

/// Accepts the directory that is at a path now in place of the one that was there before. Callers hold the disk
/// lock, and for the root they have checked that its folder doesn't sync because of it.
///
/// # Errors
/// [`EngineError::NoHeldDisk`] if nothing is held there, [`EngineError::RootGone`] without a directory to
/// go on with, or the index's.
pub(crate) fn accept(
    engine: &Engine,
    folder: &FolderRow,
    path: &RelPath,
) -> Result<(), EngineError> {
    let absolute = path.to_path(Path::new(&folder.root));
    let stat = |path: &Path| engine.ports.disk.stat(path).ok();
    let found = stat(&absolute).filter(|stat| stat.kind == FileKind::Dir);
    let accepted = if path.is_root() {
        let found = found.ok_or_else(|| EngineError::RootGone(absolute.clone()))?;
        engine.index.write(|db| accept_root(db, folder, &found))?;
        true
    } else {
        let above = absolute.parent().and_then(stat);
        let is_mount = |found: &Stat| FileSystem::of(above.as_ref()).is_left_by(found);
        let found = found.map(|stat| (stat, is_mount(&stat)));
        engine
            .index
            .write(|db| accept_mount(db, folder, path, found))?
    };
    match accepted {
        true => Ok(()),
        false => Err(EngineError::NoHeldDisk(absolute)),
    }
}

fn accept_root(db: &Db<'_>, folder: &FolderRow, found: &Stat) -> Result<(), IndexError> {
    forget_children(db, folder, None)?;
    db.forget_sent(folder.id)?;
    if let Some(remote) = folder.remote_node {
        db.attach_folder(folder.id, remote, local_stat(found).identity())?;
    }
    db.mark_differing(folder)
}

/// Returns false if the index has no unmounted directory at the path.
fn accept_mount(
    db: &Db<'_>,
    folder: &FolderRow,
    path: &RelPath,
    found: Option<(Stat, bool)>,
) -> Result<bool, IndexError> {
    let row = db.local_at(folder.id, path)?;
    let Some(row) = row.filter(|row| row.skipped == Skipped::Unmounted) else {
        return Ok(false);
    };
    forget_children(db, folder, Some(row.id))?;
    match found {
        Some((stat, is_mount)) => {
            db.set_mount(row.id, is_mount)?;
            db.update_local(&LocalRow {
                stat: local_stat(&stat),
                skipped: Skipped::No,
                ..row
            })?;
        }
        // The directory went with its disk: the service's comes back.
        None => db.forget_local(folder.id, row.id)?,
    }
    db.mark_differing(folder)?;
    Ok(true)
}

/// Drops everything that is known below a directory, the merge bases before the rows: without them no
/// deletion follows.
fn forget_children(
    db: &Db<'_>,
    folder: &FolderRow,
    dir: Option<LocalId>,
) -> Result<(), IndexError> {
    for row in db.children(folder.id, dir)? {
        db.forget_local(folder.id, row.id)?;
    }
    Ok(())
}
