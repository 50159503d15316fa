//! The part of a folder pair that belongs on this device: the subfolders that were selected, at their present
//! paths, and the decision whether a node is among them.

use crate::observe::rules::Rules;
use cairn_index::{Chosen, Db, FolderRow, IndexError, RemoteRow, Snapshot, SyncedRow};
use cairn_model::{Kind, RelPath};
use cairn_plan::Blocked;
use std::borrow::Cow;

/// Returns the rules for this disk. Those given may be older than a choice that has followed its folder since.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn local_rules<'a>(
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &'a Rules,
) -> Result<Cow<'a, Rules>, IndexError> {
    // Both where it is and where it will be, so that nothing is ignored before or after it moves.
    apply_choice(db, folder, rules, |c| c.local.into_iter().chain([c.remote]))
}

/// Returns the rules for the service's tree.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn remote_rules<'a>(
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &'a Rules,
) -> Result<Cow<'a, Rules>, IndexError> {
    let mut rules = apply_choice(db, folder, rules, |c| [c.remote])?;
    // A directory that is elsewhere on the service, until it has moved here too, takes its rules along.
    for dir in rules.nested_dirs() {
        let Some(local) = db.local_at(folder.id, &dir)? else {
            continue;
        };
        let Some(synced) = db.synced_by_local(local.id)? else {
            continue;
        };
        if let Some(there) = db.remote_path_in(folder, synced.node)?
            && there != dir
            && rules.file(&there).is_none()
        {
            let file = rules.file(&dir).cloned();
            rules.to_mut().set_file(&there, file);
        }
    }
    Ok(rules)
}

/// Returns the rules with what was chosen for this device, at the paths that `paths` gives of each choice.
fn apply_choice<'a, P: IntoIterator<Item = RelPath>>(
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &'a Rules,
    paths: impl FnMut(Chosen) -> P,
) -> Result<Cow<'a, Rules>, IndexError> {
    let chosen = db.follow_choice(folder.id)?;
    if chosen.is_empty() {
        return Ok(Cow::Borrowed(rules));
    }
    Ok(Cow::Owned(
        rules.with_choice(chosen.into_iter().flat_map(paths).collect()),
    ))
}

/// Returns whether a node stays on the service only, or leaves this device because it was moved to where
/// nothing is selected.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn blocked_by_selection(
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &Rules,
    row: &RemoteRow,
    synced: Option<&SyncedRow>,
) -> Result<Blocked, IndexError> {
    // A new rule removes nothing: what was here stays until it moves.
    if synced.is_some_and(|base| !has_moved(row, base)) {
        return Ok(Blocked::No);
    }
    // A pattern decides once, by the path, and again when the node itself moves: a rename above it
    // does not bring it here. What lies below a folder that is left out goes with that.
    let has_records = rules.has_excludes();
    if has_records && db.is_excluded(folder.id, row)? {
        return Ok(Blocked::Unselected);
    }
    let Some(path) = db.remote_path_in(folder, row.node)? else {
        return Ok(Blocked::No);
    };
    let is_dir = row.kind == Kind::Folder;
    if !rules.ignores(&path, is_dir) {
        if has_records {
            db.include(folder.id, row.node)?;
        }
        return Ok(Blocked::No);
    }
    if rules.excludes(&path, is_dir) {
        db.exclude(folder.id, row)?;
    }
    Ok(Blocked::Unselected)
}

/// Returns whether a node has moved since both sides agreed. A temporary name is no move yet.
fn has_moved(row: &RemoteRow, base: &SyncedRow) -> bool {
    (row.parent, &row.name) != (base.parent, &base.name)
        && !cairn_model::is_temporary_name(&row.name)
}

/// Unlinks what is ignored on this disk, by a rule that came after it, from what has moved on the service
/// to where it is wanted: the one stays as it is, and the other arrives. Returns whether there was any.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn unlink_ignored(
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &Rules,
    snapshot: &Snapshot,
) -> Result<bool, IndexError> {
    let on_disk = local_rules(db, folder, rules)?;
    let on_service = remote_rules(db, folder, rules)?;
    let mut any = false;
    for (id, base) in &snapshot.synced {
        let (Some(row), Some(local)) = (snapshot.remote.get(id), snapshot.local.get(&base.local))
        else {
            continue;
        };
        if !has_moved(row, base) || local.name != base.name {
            continue;
        }
        let is_dir = row.kind == Kind::Folder;
        let (Some(from), Some(to)) = (db.local_path(local.id)?, db.remote_path_in(folder, *id)?)
        else {
            continue;
        };
        if on_disk.ignores(&from, is_dir) && !on_service.ignores(&to, is_dir) {
            db.unlink_below(folder.id, *id)?;
            any = true;
        }
    }
    Ok(any)
}
