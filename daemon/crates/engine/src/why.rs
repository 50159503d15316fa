//! The sync state of one path, and the reason for it: why it is synced, or why not.
//!
//! `facts` collects; `decision` is pure, so that every reason has its line in a table of tests.

mod decision;
mod facts;
#[cfg(test)]
mod tests;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::health::PathProblem;
use crate::observe::rules::RuleOrigin;
use crate::status::TransferStatus;
use cairn_index::{FolderRow, Skipped};
use cairn_model::{PathReason, PathState, Problem, ProblemCause, ProblemValues, RelPath, SyncMode};

/// The sync state of a path of a folder pair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathReport {
    pub state: PathState,
    /// The reason as a word: the same as `message`.
    pub reason: PathReason,
    /// The cause of a failure, of it or of its whole folder, as a word.
    pub cause: ProblemCause,
    pub values: ProblemValues,
    /// The folder above it that the reason is about.
    pub above: Option<RelPath>,
    /// One sentence, beginning with "it".
    pub message: String,
    /// The advice to the person; empty where nothing is to be done.
    pub hint: String,
    /// The rule that leaves it out.
    pub rule: Option<RuleOrigin>,
    /// The other version of a conflict.
    pub conflict_with: Option<RelPath>,
    /// Failed tries in a row.
    pub tries: u32,
    /// Milliseconds until it is tried again.
    pub next_try_ms: Option<i64>,
    /// Milliseconds since 1970-01-01 UTC: the latest transfer, as far as the activity remembers.
    pub synced_at_ms: Option<i64>,
    /// True if its state on the service has a valid seal: a MAC made with the account's keys.
    pub verified: Option<bool>,
    /// Other changes of the pair that are to be done.
    pub behind: u64,
    /// Problems of what lies below it.
    pub problems_below: u64,
}

/// The other version of a conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ConflictFact {
    with: RelPath,
    is_copy: bool,
    /// True if the copy is this device's version; `None` if that is not known.
    made_here: Option<bool>,
    /// The device in the copy's name.
    copy_device: String,
}

/// A look at the disk, against the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum OnDisk {
    Absent,
    #[default]
    AsKnown,
    /// Another one than the last scan saw.
    Changed,
}

/// The facts about one path.
#[derive(Clone, PartialEq, Debug, Default)]
struct Facts {
    is_root: bool,
    mode: SyncMode,
    folder_problem: Option<Problem>,
    rule: Option<RuleOrigin>,
    /// Left out on this device by a pattern that once matched it.
    excluded: bool,
    skipped: Skipped,
    skipped_above: Option<(RelPath, Skipped)>,
    conflict: Option<ConflictFact>,
    problem: Option<PathProblem>,
    problems_below: u64,
    transfer: Option<TransferStatus>,
    paused: bool,
    offline: Option<String>,
    deletion_waits: bool,
    /// A folder, or its rules file, that the service has no more.
    left_behind: bool,
    overwrite_waits: bool,
    behind: u64,
    on_disk: OnDisk,
    is_local: bool,
    is_remote: bool,
    synced: bool,
    equal: bool,
    /// The local state differs from the merge base; a deletion does not count.
    changed_here: bool,
    /// The state on the service differs from the merge base; a deletion does not count.
    changed_there: bool,
    verified: Option<bool>,
    synced_at_ms: Option<i64>,
}

/// Reports the sync state of a path of a pair.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn report(
    engine: &Engine,
    folder: &FolderRow,
    path: &RelPath,
) -> Result<PathReport, EngineError> {
    Ok(decision::decide(&facts::collect(engine, folder, path)?))
}
