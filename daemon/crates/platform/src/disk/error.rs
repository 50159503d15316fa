//! Errors of the disk: they name the operation and the path.
//!
//! They stay `io::Error`, so that callers match on the kind; the path is inside.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The target of an operation is not in the state that the caller expected; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} changed in the meantime and was left as it is; scan it again", path.display())]
pub struct TargetChanged {
    pub path: PathBuf,
}

impl TargetChanged {
    /// Makes the `io::Error` for `path` that [`is_target_changed`] recognises.
    #[must_use]
    pub fn into_io(path: &Path) -> io::Error {
        io::Error::new(
            io::ErrorKind::AlreadyExists,
            Self {
                path: path.to_path_buf(),
            },
        )
    }
}

/// Returns whether an error of [`crate::disk::Disk::replace`] means that the target was not as expected.
#[must_use]
pub fn is_target_changed(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<TargetChanged>())
}

#[derive(Debug)]
struct InContext {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl fmt::Display for InContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "can't {} {}: {}",
            self.action,
            self.path.display(),
            self.source
        )
    }
}

impl std::error::Error for InContext {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Adds the operation and the path to an error; its kind stays.
pub fn in_context(action: &'static str, path: &Path, source: impl Into<io::Error>) -> io::Error {
    let source = source.into();
    if is_target_changed(&source) {
        return source;
    }
    io::Error::new(
        source.kind(),
        InContext {
            action,
            path: path.to_path_buf(),
            source,
        },
    )
}
