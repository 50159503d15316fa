//! The engine's status for people and programs: state, figures, problems, events.

use cairn_model::{
    ActivityKind, Counters, FolderId, ProblemCode, SyncMode, SyncState, TransferDirection,
};
use serde::{Deserialize, Serialize};

/// Something that is not as it should be, for one path, with the way out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Relative to the folder; empty for the folder itself.
    pub path: String,
    pub code: ProblemCode,
    pub message: String,
    /// The remedy.
    pub hint: String,
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
    pub errors: Vec<Problem>,
    /// Deletions that wait for `confirm`: files to be deleted here, and on the service.
    pub waiting_local_deletions: u64,
    pub waiting_remote_deletions: u64,
}

/// The whole picture.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Status {
    pub state: SyncState,
    pub pending: u64,
    pub folders: Vec<FolderStatus>,
    pub transfers: Vec<TransferStatus>,
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
