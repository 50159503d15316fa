//! Conflict copies after the service was restored from a backup: the versions that are newer than the backup
//! find their names in use by older ones.
//!
//! Every device has those versions. If each named its copy by device and time, as other conflict copies are,
//! there would be one copy of the same bytes for each device. So until a folder is equal again the copies are
//! named by the id of the new history, which all devices see; the first device that commits one makes it for
//! the others.

use crate::engine::Engine;
use cairn_index::{Db, IndexError};
use cairn_model::FolderId;

fn key(folder: FolderId) -> String {
    format!("restored {}", folder.0)
}

/// Notes for every folder that its history was replaced by that of the given id.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn begin(db: &Db<'_>, history: &str) -> Result<(), IndexError> {
    // It becomes part of a name, and the service chose it.
    let history: String = history
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(16)
        .collect();
    for folder in db.folders()? {
        db.set_meta(&key(folder.id), history.as_bytes())?;
    }
    Ok(())
}

/// Returns the history that a folder is being compared with, if it was replaced.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn history_id(db: &Db<'_>, folder: FolderId) -> Result<Option<String>, IndexError> {
    let bytes = db.meta(&key(folder))?.filter(|bytes| !bytes.is_empty());
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Ends it for a folder in which nothing is left to do: what comes now are conflicts like any other.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn end(engine: &Engine, folder: FolderId) -> Result<(), IndexError> {
    if engine.index.read(|db| history_id(db, folder))?.is_some() {
        engine.index.write(|db| db.set_meta(&key(folder), b""))?;
    }
    Ok(())
}
