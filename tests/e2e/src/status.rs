//! The JSON of `cairn status`, as docs/command-line.md documents it. A missing field is an error.

use serde::Deserialize;
use std::ops::Sub;

/// `status --json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Status {
    pub state: String,
    pub pending: u64,
    pub folders: Vec<Folder>,
    pub counters: Counters,
}

/// One folder pair.
#[derive(Clone, Debug, Deserialize)]
pub struct Folder {
    pub local: String,
    pub remote: String,
    pub state: String,
    pub pending: u64,
    pub files: u64,
    pub bytes: u64,
    pub errors: Vec<Problem>,
}

/// Something that needs attention: what, where, and what to do.
#[derive(Clone, Debug, Deserialize)]
pub struct Problem {
    pub path: String,
    pub code: String,
    pub message: String,
    pub hint: String,
}

/// Counters of the daemon's work since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Counters {
    pub uploads: u64,
    pub downloads: u64,
    pub uploaded_bytes: u64,
    pub downloaded_bytes: u64,
    pub remote_calls: u64,
    pub renames: u64,
    pub deletes: u64,
    pub conflicts: u64,
}

impl Status {
    /// The problems of all folders.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.folders.iter().flat_map(|folder| &folder.errors)
    }

    /// The first problem at a path.
    #[must_use]
    pub fn problem_at(&self, path: &str) -> Option<&Problem> {
        self.problems()
            .find(|problem| problem.path.trim_start_matches('/') == path)
    }
}

impl Counters {
    /// The same without the calls, which a poll makes too.
    #[must_use]
    pub fn effects(self) -> Self {
        Self {
            remote_calls: 0,
            ..self
        }
    }
}

impl Sub for Counters {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            uploads: self.uploads.saturating_sub(before.uploads),
            downloads: self.downloads.saturating_sub(before.downloads),
            uploaded_bytes: self.uploaded_bytes.saturating_sub(before.uploaded_bytes),
            downloaded_bytes: self
                .downloaded_bytes
                .saturating_sub(before.downloaded_bytes),
            remote_calls: self.remote_calls.saturating_sub(before.remote_calls),
            renames: self.renames.saturating_sub(before.renames),
            deletes: self.deletes.saturating_sub(before.deletes),
            conflicts: self.conflicts.saturating_sub(before.conflicts),
        }
    }
}
