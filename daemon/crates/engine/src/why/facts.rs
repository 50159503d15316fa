//! The facts about one path, from the index, the disk, the rules and what runs just now.

use super::{ConflictFact, Facts, OnDisk};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder_rules;
use crate::health::PathProblem;
use crate::node_rows::seal_info;
use crate::observe::hash::local_stat;
use crate::record;
use crate::resolve;
use cairn_index::{Db, FolderRow, IndexError, LocalRow, RemoteRow, Skipped};
use cairn_model::{Kind, ProblemCode, RelPath, SyncState};
use cairn_platform::FileKind;
use std::path::Path;

/// The rows of a path in the index.
struct Rows {
    local: Option<LocalRow>,
    remote: Option<RemoteRow>,
    synced: bool,
    equal: bool,
    excluded: bool,
    skipped_above: Option<(RelPath, Skipped)>,
    deletion_waits: bool,
    synced_at_ms: Option<i64>,
}

/// Collects the facts about a path of a pair.
///
/// # Errors
/// The index's.
pub(super) fn collect(
    engine: &Engine,
    folder: &FolderRow,
    path: &RelPath,
) -> Result<Facts, EngineError> {
    let rows = engine.index.read(|db| rows(db, folder, path))?;
    let status = engine.status();
    let own = status.folders.iter().find(|f| f.id == folder.id.0);
    let root = Path::new(&folder.root);
    let stat = engine.ports.disk.stat(&path.to_path(root)).ok();
    let is_dir = match (&stat, &rows.local, &rows.remote) {
        (Some(stat), _, _) => stat.kind == FileKind::Dir,
        (None, Some(row), _) => row.kind == Kind::Folder,
        (None, None, Some(row)) => row.kind == Kind::Folder,
        (None, None, None) => path.is_root(),
    };
    let rules = folder_rules::present_rules(engine, folder)?;
    let text = path.to_string();
    let verified = rows
        .remote
        .as_ref()
        .map(|row| seal_info(&engine.keys, row).flatten().is_some());
    let on_disk = match (&stat, &rows.local) {
        (None, _) => OnDisk::Absent,
        (Some(_), _) if path.is_root() => OnDisk::AsKnown,
        (Some(stat), Some(row)) if is_dir || local_stat(stat) == row.stat => OnDisk::AsKnown,
        (Some(_), _) => OnDisk::Changed,
    };
    // Reads the index: the feed takes the two locks in the other order.
    let conflict = conflict(engine, folder, path)?;
    let health = engine.health();
    Ok(Facts {
        is_root: path.is_root(),
        mode: folder.settings.mode,
        folder_problem: health.of_folder(folder.id).cloned(),
        rule: rules.origin(path, is_dir),
        excluded: rows.excluded,
        skipped: rows.local.as_ref().map_or(Skipped::No, |row| row.skipped),
        skipped_above: rows.skipped_above,
        conflict,
        problem: problem(&health, folder, path),
        problems_below: health.count_below(folder.id, &text),
        transfer: status.transfers.iter().find(|t| t.path == text).cloned(),
        paused: status.state == SyncState::Paused
            || own.is_some_and(|f| f.state == SyncState::Paused),
        offline: match status.state {
            SyncState::Offline | SyncState::Error => status.message.clone(),
            SyncState::Idle | SyncState::Syncing | SyncState::Paused | SyncState::Attention => None,
        },
        deletion_waits: rows.deletion_waits,
        behind: own.map_or(0, |f| f.pending),
        on_disk,
        is_local: rows.local.is_some() || path.is_root(),
        is_remote: rows.remote.is_some() || path.is_root(),
        synced: rows.synced || path.is_root(),
        equal: rows.equal || (path.is_root() && own.is_none_or(|f| f.pending == 0)),
        verified,
        synced_at_ms: rows.synced_at_ms,
    })
}

fn rows(db: &Db<'_>, folder: &FolderRow, path: &RelPath) -> Result<Rows, IndexError> {
    let local = match path.is_root() {
        true => None,
        false => db.local_at(folder.id, path)?,
    };
    let by_local = match &local {
        Some(row) => db.synced_by_local(row.id)?,
        None => None,
    };
    let node = match &by_local {
        Some(synced) => Some(synced.node),
        None => db.remote_at(folder, path)?,
    };
    let remote = node.map(|node| db.remote_row(node)).transpose()?.flatten();
    let synced = match (&by_local, node) {
        (Some(synced), _) => Some(synced.clone()),
        (None, Some(node)) => db.synced_row(folder.id, node)?,
        (None, None) => None,
    };
    let equal = match (&local, &remote) {
        (Some(local), Some(remote)) => record::is_equal(db, folder, local.id, remote.node)?,
        (Some(_), None) | (None, Some(_)) | (None, None) => false,
    };
    let excluded = match &remote {
        Some(row) if synced.is_none() => is_excluded(db, folder, row)?,
        Some(_) | None => false,
    };
    let waiting = db.confirmations(folder.id)?;
    let one_sided = synced.is_some() && (local.is_none() || remote.is_none());
    Ok(Rows {
        synced: synced.is_some(),
        equal,
        excluded,
        skipped_above: nearest_skipped_above(db, folder, path)?,
        deletion_waits: one_sided && !waiting.is_empty(),
        synced_at_ms: db.last_transferred(folder.id, &path.to_string())?,
        local,
        remote,
    })
}

/// Returns whether a node, or a folder above it, was left out on this device.
fn is_excluded(db: &Db<'_>, folder: &FolderRow, row: &RemoteRow) -> Result<bool, IndexError> {
    let mut at = row.clone();
    // The bound is for a damaged index.
    for _ in 0..10_000 {
        if db.is_excluded(folder.id, &at)? {
            return Ok(true);
        }
        if folder.remote_node == Some(at.parent) {
            return Ok(false);
        }
        let above = at
            .parent
            .map(|node| db.remote_row(node))
            .transpose()?
            .flatten();
        match above {
            Some(above) => at = above,
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Returns the nearest folder above that takes no part, with the reason.
fn nearest_skipped_above(
    db: &Db<'_>,
    folder: &FolderRow,
    path: &RelPath,
) -> Result<Option<(RelPath, Skipped)>, IndexError> {
    let mut at = path.parent();
    while let Some(above) = at.filter(|above| !above.is_root()) {
        if let Some(row) = db.local_at(folder.id, &above)?
            && row.skipped != Skipped::No
        {
            return Ok(Some((above, row.skipped)));
        }
        at = above.parent();
    }
    Ok(None)
}

fn conflict(
    engine: &Engine,
    folder: &FolderRow,
    path: &RelPath,
) -> Result<Option<ConflictFact>, EngineError> {
    let open = resolve::open_conflicts(engine)?;
    Ok(open
        .into_iter()
        .filter(|open| open.folder == folder.id)
        .find_map(|open| {
            if open.copy == *path {
                Some(ConflictFact {
                    with: open.path,
                    is_copy: true,
                })
            } else if open.path == *path {
                Some(ConflictFact {
                    with: open.copy,
                    is_copy: false,
                })
            } else {
                None
            }
        }))
}

/// Returns the problem of a path, or of the nearest folder above that has one.
fn problem(
    health: &crate::health::Health,
    folder: &FolderRow,
    path: &RelPath,
) -> Option<PathProblem> {
    if let Some(own) = health.of_path(folder.id, &path.to_string()) {
        return Some(own);
    }
    let mut at = path.parent();
    while let Some(above) = at.filter(|above| !above.is_root()) {
        let found = health.of_path(folder.id, &above.to_string());
        // Links in a folder are none of the business of what else is in it.
        let blocks = |p: &PathProblem| {
            !matches!(p.problem.code, ProblemCode::Symlink | ProblemCode::Special)
        };
        if let Some(found) = found.filter(blocks) {
            return Some(found);
        }
        at = above.parent();
    }
    None
}
