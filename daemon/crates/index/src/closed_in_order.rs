//! Tells an index that was closed in order, and was left alone since, from one that a crash or somebody else has left.
//! Only the latter is checked page by page when it is opened: for a million files that takes seconds.

use crate::open::with_suffix;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Notes beside an index that it was closed in order. Dropped after the connection.
pub(crate) struct ClosingNote(PathBuf);

impl ClosingNote {
    /// Notes the closing of the index at `path`, once it comes.
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl Drop for ClosingNote {
    fn drop(&mut self) {
        // Where that fails, the next start checks the index, as after a crash.
        state(&self.0)
            .and_then(|state| fs::write(note_path(&self.0), state))
            .unwrap_or_default();
    }
}

/// Returns whether the index at `path` is as it was when it was last closed. A later change leaves another time or
/// size, and a program that is not done with it a log.
pub(crate) fn is_as_it_was_closed(path: &Path) -> bool {
    let has_log = fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0);
    let noted = fs::read_to_string(note_path(path));
    !has_log && noted.is_ok_and(|noted| state(path).is_ok_and(|now| now == noted))
}

fn note_path(index: &Path) -> PathBuf {
    with_suffix(index, "-closed")
}

/// Returns the size and time of a file, as text.
fn state(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    Ok(format!("{} {}\n", found.len(), change_time(&found)?))
}

/// Returns the time of the last change, in nanoseconds since 1970.
fn change_time(found: &Metadata) -> io::Result<u128> {
    let since = found.modified()?.duration_since(UNIX_EPOCH);
    since
        .map(|since| since.as_nanos())
        .map_err(io::Error::other)
}
