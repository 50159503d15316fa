//! Lists, restores and empties the local trash of a folder pair, for the messages of the control protocol.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::text::rfc3339;
use cairn_control::Trashed;
use cairn_index::FolderRow;
use cairn_platform::Disk;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Returns the content of the local trash, newest first.
pub(crate) fn list(disk: &dyn Disk, row: &FolderRow) -> CommandResult<Vec<Trashed>> {
    let found = cairn_engine::trash::list(disk, Path::new(&row.root))
        .context(format_args!("list the trash of {}", row.root))?;
    Ok(found
        .into_iter()
        .map(|trashed| Trashed {
            id: trashed.id,
            folder: row.root.clone(),
            path: trashed.path.to_string(),
            at: rfc3339(trashed.at_ms),
            bytes: trashed.size,
        })
        .collect())
}

/// Restores one item to where it was, or to another path, absolute; never overwrites anything. The result has the
/// path where it is now.
pub(crate) fn restore(
    disk: &dyn Disk,
    row: &FolderRow,
    id: &str,
    to: Option<&Path>,
) -> CommandResult<Trashed> {
    let all = list(disk, row)?;
    let found = all
        .into_iter()
        .find(|trashed| trashed.id == id)
        .ok_or_else(|| {
            Failure::failed(format!(
                "`{id}` is not in the trash of {}: see `cairn trash list`",
                row.root
            ))
        })?;
    let root = Path::new(&row.root);
    let (restored, path) = match to {
        Some(to) => (
            cairn_engine::trash::restore_to(disk, root, id, to),
            to.display().to_string(),
        ),
        None => (
            cairn_engine::trash::restore(disk, root, id).map(drop),
            found.path.clone(),
        ),
    };
    match restored {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Failure::new(
                Exit::Decision,
                format!(
                    "there is another {path} in {}: rename or move that first, or restore to another path with --to",
                    row.root
                ),
            ));
        }
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            return Err(Failure::failed(format!(
                "{path} is on another file system than {}: restore to a path on that one, then move it",
                row.root
            )));
        }
        other => other.context(format_args!("restore {}", found.path))?,
    }
    Ok(Trashed { path, ..found })
}

/// Deletes things for good, by their ids.
pub(crate) fn delete(disk: &dyn Disk, row: &FolderRow, ids: &BTreeSet<String>) -> CommandResult {
    cairn_engine::trash::delete(disk, Path::new(&row.root), ids).map_err(not_deleted)
}

pub(crate) fn not_deleted(error: io::Error) -> Failure {
    Failure::from(error)
        .during("delete all that is in the local trash (what could be deleted is gone)")
}
