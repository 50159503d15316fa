//! The local files that a download may replace: none, all, or those that are still what somebody agreed to replace.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The local files that a download may replace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Replace {
    #[default]
    Nothing,
    /// These, as long as nobody has changed them since.
    Unchanged(Arc<BTreeMap<PathBuf, FileStamp>>),
    Anything,
}

/// The state of a local file by which a change of it is noticed without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileStamp {
    size: u64,
    /// In nanoseconds since 1970, as far as the disk keeps it.
    modified: Option<i64>,
    /// Another one where the file was replaced by one with the same time of modification.
    created: Option<i64>,
}

/// The reason why a file may not be replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kept {
    /// There is no confirmation for it.
    Unnamed,
    /// The confirmation was for what it was before.
    Changed,
}

impl FileStamp {
    /// Returns the state of a file with this metadata.
    pub fn of(file: &Metadata) -> Self {
        Self {
            size: file.len(),
            modified: file.modified().ok().map(nanoseconds),
            created: file.created().ok().map(nanoseconds),
        }
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    let number = |span: Duration| i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => number(since),
        Err(before) => -number(before.duration()),
    }
}

impl Replace {
    /// Returns [`Self::Anything`] or [`Self::Nothing`].
    pub fn all(may_replace: bool) -> Self {
        if may_replace {
            Self::Anything
        } else {
            Self::Nothing
        }
    }

    /// Checks that what is at a place now may be replaced.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn check(&self, to: &Path, there: &Metadata) -> Result<(), Kept> {
        match self {
            Self::Anything => Ok(()),
            Self::Nothing => Err(Kept::Unnamed),
            Self::Unchanged(files) => match files.get(to) {
                None => Err(Kept::Unnamed),
                Some(seen) if *seen == FileStamp::of(there) => Ok(()),
                Some(_) => Err(Kept::Changed),
            },
        }
    }

    /// Returns true if a file at this place may be replaced, once it was checked.
    pub(crate) fn has(&self, to: &Path) -> bool {
        match self {
            Self::Nothing => false,
            Self::Unchanged(files) => files.contains_key(to),
            Self::Anything => true,
        }
    }
}
