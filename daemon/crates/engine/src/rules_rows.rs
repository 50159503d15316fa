//! The rows of rules files in the index.

use crate::observe::rules::IGNORE_FILE;
use cairn_index::{Db, FolderRow, IndexError, RemoteRow};
use cairn_model::{Kind, Name, NodeId, RelPath};

/// Returns the rules file in a folder of the service.
///
/// # Errors
/// Returns the error of the index.
fn remote_file(db: &Db<'_>, parent: Option<NodeId>) -> Result<Option<RemoteRow>, IndexError> {
    let Ok(name) = Name::new(IGNORE_FILE.to_owned()) else {
        return Ok(None);
    };
    let is_file =
        |row: &RemoteRow| row.name == name && row.kind == Kind::File && row.revision.is_some();
    let found = db.remote_children_by_key(parent, &name)?;
    Ok(found.into_iter().find(is_file))
}

/// Returns whether the service has the rules file of a directory, and this device has had it.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn is_file_synced(
    db: &Db<'_>,
    folder: &FolderRow,
    dir: &RelPath,
) -> Result<bool, IndexError> {
    let Some(mut at) = folder.remote_node else {
        return Ok(false);
    };
    for name in dir.names() {
        let is_folder = |row: &RemoteRow| row.name == *name && row.kind == Kind::Folder;
        let found = db.remote_children_by_key(at, name)?;
        match found.into_iter().find(is_folder) {
            Some(row) => at = Some(row.node),
            None => return Ok(false),
        }
    }
    match remote_file(db, at)? {
        Some(file) => Ok(db.synced_row(folder.id, file.node)?.is_some()),
        None => Ok(false),
    }
}

/// Returns the rules files of the service that are not synced here as they are there, with their paths. In a
/// directory of which `is_left_out` says so, they are of no interest.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn unsynced_rules(
    db: &Db<'_>,
    folder: &FolderRow,
    is_left_out: impl Fn(&RelPath) -> bool,
) -> Result<Vec<(RemoteRow, RelPath)>, IndexError> {
    let mut found = Vec::new();
    for row in db.unsynced_rules(folder.id)? {
        let path = db.remote_path_in(folder, row.node)?;
        let Some((path, dir)) = path.and_then(|path| path.parent().map(|dir| (path, dir))) else {
            continue;
        };
        if dir.is_root() || !is_left_out(&dir) {
            found.push((row, path));
        }
    }
    Ok(found)
}
