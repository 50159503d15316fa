//! The facts about one path: from the index, the disk, the rules and the running transfers.

use super::{ConflictFact, Facts, OnDisk};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder_rules;
use crate::health::PathProblem;
use crate::node_rows::seal_info;
use crate::observe::hash::local_stat;
use crate::observe::rules::{IGNORE_FILE, OWN_FILES, RuleOrigin};
use crate::record;
use crate::resolve;
use cairn_index::{Db, FolderRow, IndexError, LocalRow, RemoteRow, Skipped, SyncedRow};
use cairn_model::{Kind, ProblemCode, RelPath, RuleSource, SyncState};
use cairn_platform::dirs::HOME_MARK;
use cairn_platform::{FileKind, Stat};
use std::path::Path;

/// The rows of a path in the index.
struct Rows {
    local: Option<LocalRow>,
    remote: Option<RemoteRow>,
    synced: bool,
    equal: bool,
    changed_here: bool,
    changed_there: bool,
    excluded: bool,
    skipped_above: Option<(RelPath, Skipped)>,
    deletion_waits: bool,
    overwrite_waits: bool,
    synced_at_ms: Option<i64>,
}

/// Collects the facts about a path of a pair.
///
/// # Errors
/// Returns the error of the index.
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
    let rule = deciding_rule(engine, folder, path, is_dir)?;
    let (skipped, skipped_above) = skip_reasons(&rows, first_special(engine, root, path), path);
    let text = path.to_string();
    let on_disk = match &stat {
        None => OnDisk::Absent,
        Some(stat) if path.is_root() || is_known(stat, &rows, is_dir) => OnDisk::AsKnown,
        Some(_) => OnDisk::Changed,
    };
    // Reads the index: the feed takes the two locks in the other order.
    let conflict = conflict(engine, folder, path)?;
    let health = engine.health();
    Ok(Facts {
        is_root: path.is_root(),
        mode: folder.settings.mode,
        folder_problem: health.of_folder(folder.id).cloned(),
        rule,
        excluded: rows.excluded,
        skipped,
        skipped_above,
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
        left_behind: is_left_behind(&rows) && on_disk == OnDisk::AsKnown,
        overwrite_waits: rows.overwrite_waits,
        behind: own.map_or(0, |f| f.pending),
        on_disk,
        is_local: rows.local.is_some() || path.is_root(),
        is_remote: rows.remote.is_some() || path.is_root(),
        synced: rows.synced || path.is_root(),
        equal: rows.equal || (path.is_root() && own.is_none_or(|f| f.pending == 0)),
        changed_here: rows.changed_here,
        changed_there: rows.changed_there,
        verified: is_verified(engine, &rows),
        synced_at_ms: rows.synced_at_ms,
    })
}

/// Returns whether something may stay on this disk alone for what is in its folder and was never synced.
fn is_left_behind(rows: &Rows) -> bool {
    let stays = |row: &LocalRow| row.kind == Kind::Folder || row.name.as_str() == IGNORE_FILE;
    rows.synced
        && rows.remote.is_none()
        && !rows.changed_here
        && !rows.deletion_waits
        && rows.local.as_ref().is_some_and(stays)
}

/// Returns the first symbolic link, device or the like on the way to a path: scans neither sync nor follow them.
fn first_special(engine: &Engine, root: &Path, path: &RelPath) -> Option<RelPath> {
    let names = path.names();
    let mut on_the_way = (1..=names.len()).map(|n| names[..n].iter().cloned().collect::<RelPath>());
    on_the_way.find(|place| {
        let stat = engine.ports.disk.stat(&place.to_path(root));
        stat.is_ok_and(|stat| matches!(stat.kind, FileKind::Symlink | FileKind::Other))
    })
}

/// Returns whether what the disk has is what the last scan has seen there.
fn is_known(stat: &Stat, rows: &Rows, is_dir: bool) -> bool {
    let row = rows.local.as_ref();
    row.is_some_and(|row| is_dir || local_stat(stat) == row.stat)
}

/// Returns why a path takes no part, and the nearest folder above that doesn't. The disk counts before what a scan
/// has seen: `special` is the first link or the like on the way.
fn skip_reasons(
    rows: &Rows,
    special: Option<RelPath>,
    path: &RelPath,
) -> (Skipped, Option<(RelPath, Skipped)>) {
    let seen = rows.local.as_ref().map_or(Skipped::No, |row| row.skipped);
    match special {
        Some(special) if special == *path => (Skipped::Special, rows.skipped_above.clone()),
        Some(above) => (seen, Some((above, Skipped::Special))),
        None => (seen, rows.skipped_above.clone()),
    }
}

/// Returns whether a seal of the account's devices covers what the service has; `None` if it has nothing.
fn is_verified(engine: &Engine, rows: &Rows) -> Option<bool> {
    let row = rows.remote.as_ref()?;
    Some(seal_info(&engine.keys, row).flatten().is_some())
}

/// Returns the rule that leaves out a path.
fn deciding_rule(
    engine: &Engine,
    folder: &FolderRow,
    path: &RelPath,
    is_dir: bool,
) -> Result<Option<RuleOrigin>, EngineError> {
    let rules = folder_rules::present_rules(engine, folder, path)?;
    let own = || rule_of_home(engine, Path::new(&folder.root), path);
    Ok(rules.origin(path, is_dir).or_else(own))
}

/// Returns the rule that leaves out a directory of another installation, and what is in it.
fn rule_of_home(engine: &Engine, root: &Path, path: &RelPath) -> Option<RuleOrigin> {
    let names = path.names();
    let mut above = (1..=names.len()).map(|n| names[..n].iter().cloned().collect::<RelPath>());
    let is_marked = |dir: &RelPath| {
        let mark = dir.to_path(root).join(HOME_MARK);
        engine.ports.disk.stat(&mark).is_ok()
    };
    Some(RuleOrigin {
        source: RuleSource::BuiltIn,
        pattern: OWN_FILES.to_owned(),
        file: None,
        line: None,
        matched: above.find(is_marked)?,
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
    let overwrite_waits = match node {
        Some(node) => db.waiting_overwrites(folder.id)?.contains(&node),
        None => false,
    };
    let one_sided = synced.is_some() && (local.is_none() || remote.is_none());
    let changed_here = match (&local, &synced) {
        (Some(local), Some(base)) => has_changed_here(db, folder, local, base)?,
        (Some(_), None) | (None, Some(_)) | (None, None) => false,
    };
    let changed_there = match (&remote, &synced) {
        (Some(remote), Some(base)) => has_changed_there(remote, base),
        (Some(_), None) | (None, Some(_)) | (None, None) => false,
    };
    Ok(Rows {
        synced: synced.is_some(),
        equal,
        changed_here,
        changed_there,
        excluded,
        skipped_above: nearest_skipped_above(db, folder, path)?,
        deletion_waits: one_sided && !waiting.is_empty(),
        overwrite_waits,
        synced_at_ms: db.last_transferred(folder.id, &path.to_string())?,
        local,
        remote,
    })
}

/// Returns whether what is on this disk is another than when both sides agreed.
fn has_changed_here(
    db: &Db<'_>,
    folder: &FolderRow,
    local: &LocalRow,
    base: &SyncedRow,
) -> Result<bool, IndexError> {
    let parent = match local.parent {
        None => folder.remote_node,
        Some(parent) => db.synced_by_local(parent)?.map(|synced| Some(synced.node)),
    };
    Ok(local.hash != base.hash
        || local.executable != base.executable
        || local.name.as_str() != base.name.as_str()
        || parent != Some(base.parent))
}

/// Returns whether what the service has is another than when both sides agreed.
fn has_changed_there(remote: &RemoteRow, base: &SyncedRow) -> bool {
    remote.revision != base.revision
        || remote.executable != base.executable
        || remote.name.as_str() != base.name.as_str()
        || remote.parent != base.parent
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

/// Returns the nearest folder above that is not synced, with the reason.
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
                    made_here: open.copy_made_here,
                    copy_device: open.copy_device,
                })
            } else if open.path == *path {
                Some(ConflictFact {
                    with: open.copy,
                    is_copy: false,
                    made_here: open.copy_made_here,
                    copy_device: open.copy_device,
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
