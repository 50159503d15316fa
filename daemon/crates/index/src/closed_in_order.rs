//! Tells an index that was closed in order, and was left alone since, from one that a crash or somebody else has left.
//! Only the latter is checked page by page when it is opened: for a million files that takes seconds.

use crate::open::with_suffix;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

/// Notes beside an index that it was closed in order. Dropped after the connection.
pub(crate) struct ClosingNote {
    index: PathBuf,
    /// Something in the index was refused: it may be damaged.
    is_suspect: AtomicBool,
}

impl ClosingNote {
    /// Notes the closing of the index at `path`, once it comes.
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            index: path.to_owned(),
            is_suspect: AtomicBool::new(false),
        }
    }

    /// Has the index checked when it is opened again, however it is closed.
    pub(crate) fn distrust(&self) {
        self.is_suspect.store(true, Ordering::Relaxed);
        // A note of before would fit as long as nothing is written.
        // Where it can't be removed, an empty one fits nothing.
        if fs::remove_file(note_path(&self.index)).is_err() {
            fs::write(note_path(&self.index), "").unwrap_or_default();
        }
    }
}

impl Drop for ClosingNote {
    fn drop(&mut self) {
        if *self.is_suspect.get_mut() {
            return;
        }
        // Where that fails, the next start checks the index, as after a crash.
        state(&self.index)
            .and_then(|state| fs::write(note_path(&self.index), state))
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
