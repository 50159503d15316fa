//! The engine's status: state, figures, problems, events.
//!
//! The figures are as the engine measures them: ids and enums, times in milliseconds, seconds and fractions as
//! floating point, each problem with its message. `cairn-control` has types of the same names for what the daemon
//! shows of them: no ids, RFC 3339, whole numbers, and problems of one cause in one sentence. The daemon converts
//! the types here to those in `serve/convert`.

use cairn_model::{
    ActivityKind, Counters, FolderId, Problem, ProblemCause, ProblemCode, RunningSteps, SyncMode,
    SyncState, TransferDirection,
};
use serde::{Deserialize, Serialize};

/// The problems of one cause in a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProblemGroup {
    pub code: ProblemCode,
    pub cause: ProblemCause,
    /// The advice to the person, which they have in common.
    pub hint: String,
    pub count: u64,
    /// Bytes of the files that wait because of it; 0 where they are not counted.
    pub bytes: u64,
    /// The first ones, at most [`ProblemGroup::EXAMPLES`].
    pub examples: Vec<Problem>,
}

impl ProblemGroup {
    /// The most problems of one cause that a status lists.
    pub const EXAMPLES: usize = 20;
}

/// The transfers since the folders were last equal: done, and known.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct OverallProgress {
    pub files_done: u64,
    pub files_total: u64,
    pub bytes_done: u64,
    pub bytes_total: u64,
    /// The part of the work that is done, from 0 to 1. It never falls, also where more work is found.
    pub fraction: f64,
    /// Bytes a second, over the last seconds.
    pub speed: f64,
    /// Seconds, if the pace of the last seconds lasts.
    pub time_left: Option<f64>,
}

/// A transfer that is running.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TransferStatus {
    pub path: String,
    pub direction: TransferDirection,
    pub bytes: u64,
    pub total: u64,
    /// Bytes a second, over the last seconds.
    pub speed: f64,
    /// Seconds, if the speed lasts.
    pub time_left: Option<f64>,
}

/// One folder.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FolderStatus {
    pub id: i64,
    pub local: String,
    pub remote: String,
    pub mode: SyncMode,
    pub state: SyncState,
    /// Steps still to do.
    pub pending: u64,
    pub files: u64,
    pub bytes: u64,
    /// Examples of all causes, in order.
    pub errors: Vec<Problem>,
    /// All problems, by cause.
    pub problems: Vec<ProblemGroup>,
    /// Bytes that the folder's disk had free when something didn't fit last.
    pub free: Option<u64>,
    /// Conflicts that are open.
    pub conflicts: u64,
    /// Deletions that wait for `confirm`: files to be deleted here, and on the service.
    pub waiting_local_deletions: u64,
    pub waiting_remote_deletions: u64,
    /// Files whose contents would overwrite the service's, and wait for it.
    pub waiting_overwrites: u64,
    pub steps: RunningSteps,
}

impl FolderStatus {
    /// Returns the number of files whose deletion or overwriting waits for a person.
    pub(crate) fn waiting_files(&self) -> u64 {
        self.waiting_local_deletions + self.waiting_remote_deletions + self.waiting_overwrites
    }
}

/// The status of the engine and of all folders.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Status {
    pub state: SyncState,
    pub pending: u64,
    pub folders: Vec<FolderStatus>,
    pub transfers: Vec<TransferStatus>,
    /// Absent where nothing is to be transferred.
    pub progress: Option<OverallProgress>,
    pub counters: Counters,
    /// The reason why the state is `offline` or `error`, if it is.
    pub message: Option<String>,
    /// Milliseconds since 1970-01-01 UTC; with `paused`, until when.
    pub paused_until: Option<i64>,
}

/// Something that happened.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The status changed; ask for it.
    Status,
    /// A row was added to the activity.
    Activity {
        at_ms: i64,
        folder: Option<FolderId>,
        kind: ActivityKind,
        path: String,
        device: Option<String>,
        bytes: u64,
    },
}
