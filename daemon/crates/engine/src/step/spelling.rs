//! Names that this disk can't have: those that it takes for the name of something else, such as `a` beside `A` on a
//! memory stick with FAT, and those that Windows reserves. A file or folder with such a name waits on the service.

use crate::error::EngineError;
use crate::observe::rules::TEMP_DIR;
use cairn_model::{Name, name::search_key};
use cairn_platform::{Disk, Entry, NameProblem, NameRules};
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// Checks that nothing lies at a place under another spelling of its name. Only the disk knows which names are one to
/// it, so it is asked.
///
/// # Errors
/// [`EngineError::NameClash`] with what lies there; the disk's.
pub(crate) fn check(disk: &dyn Disk, target: &Path) -> Result<(), EngineError> {
    let (Ok(there), Some(dir), Some(name)) =
        (disk.stat(target), target.parent(), target.file_name())
    else {
        return Ok(());
    };
    let entries = disk.list(dir)?;
    // What has the very name is new: the next scan finds it.
    if entries.iter().any(|entry| entry.name == name) {
        return Ok(());
    }
    let is_there = |entry: &&Entry| matches!(&entry.stat, Ok(s) if s.file_id == there.file_id);
    // Some file systems (exFAT through FUSE) number a file anew for each spelling.
    let key = |name: &OsStr| search_key(&name.to_string_lossy());
    let is_named_alike = |entry: &&Entry| key(&entry.name) == key(name);
    let found = entries.iter().find(is_there);
    match found.or_else(|| entries.iter().find(is_named_alike)) {
        Some(entry) => Err(EngineError::NameClash {
            there: dir.join(&entry.name),
            wanted: target.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Checks after a failure that the disk of a folder can have a name: one that Windows reserves is tried with a
/// temporary file, since this system may have it on some disks and not on others.
///
/// # Errors
/// [`EngineError::Name`] with the reason.
pub(crate) fn check_possible(disk: &dyn Disk, root: &Path, name: &Name) -> Result<(), EngineError> {
    let Err(problem) = names_of_windows(name) else {
        return Ok(());
    };
    let tried = disk.create_temp(&root.join(TEMP_DIR), name.as_str());
    match tried {
        Ok(file) => Ok(disk.remove_file(file.path())?),
        Err(error) if is_about_name(&error) => Err(EngineError::Name(problem)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the failure to put something with a name at a place; it says so if the name is the reason.
pub(crate) fn explain(
    disk: &dyn Disk,
    (root, target): (&Path, &Path),
    name: &Name,
    error: io::Error,
) -> EngineError {
    let checked = if error.kind() == io::ErrorKind::AlreadyExists {
        check(disk, target)
    } else if is_about_name(&error) {
        check_possible(disk, root, name)
    } else {
        Ok(())
    };
    checked.err().unwrap_or_else(|| error.into())
}

fn names_of_windows(name: &Name) -> Result<(), NameProblem> {
    let rules = NameRules {
        windows: true,
        ..NameRules::default()
    };
    rules.check_name(name)
}

/// Returns whether a failure may be about a name: some file systems say that there is no such file.
fn is_about_name(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename | io::ErrorKind::NotFound
    )
}
