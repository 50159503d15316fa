//! The state of everything: the reply behind `cairn status`, the tray icon and its window.

use cairn_model::{Counters, ProblemCode, Side, SyncMode, SyncState, TransferDirection};
use serde::{Deserialize, Serialize};

/// The daemon's whole state.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Status {
    pub state: SyncState,
    /// Changes that are known and not yet carried out.
    pub pending: u64,
    pub folders: Vec<FolderStatus>,
    /// The running transfers.
    #[serde(default)]
    pub transfers: Vec<Transfer>,
    pub counters: Counters,
    /// The reason for the state `offline` or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// RFC 3339 in UTC; absent: not paused, or until resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<String>,
}

/// The state of one folder pair.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FolderStatus {
    /// Absolute path of the local folder.
    pub local: String,
    /// Path on the service, `/` or `/a/b`.
    pub remote: String,
    pub state: SyncState,
    pub pending: u64,
    /// Synced files, and the bytes in them.
    pub files: u64,
    pub bytes: u64,
    pub errors: Vec<Problem>,
    #[serde(default)]
    pub mode: SyncMode,
    /// Deletions that wait for a person.
    #[serde(default)]
    pub questions: Vec<Question>,
}

/// Something that doesn't sync, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Below the folder's root, with `/`; empty for the folder itself.
    pub path: String,
    pub code: ProblemCode,
    /// The problem, as a sentence.
    pub message: String,
    /// The advice to the person.
    pub hint: String,
}

/// One file on its way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Transfer {
    pub path: String,
    pub direction: TransferDirection,
    /// Bytes done, of `size`.
    pub done: u64,
    pub size: u64,
    /// Bytes per second, lately.
    pub speed: u64,
    /// Absent while the speed is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}

/// Deletions that nobody has agreed to yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Question {
    /// The side on which the files would be deleted.
    pub side: Side,
    pub files: u64,
}

/// The daemon's account of itself, for `cairn doctor`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DoctorInfo {
    pub version: String,
    pub pid: u32,
    /// RFC 3339 in UTC.
    pub started_at: String,
    /// The server's address.
    pub server: String,
    /// The e-mail address of the account.
    #[serde(default)]
    pub account: String,
    /// The name of this device, and its id.
    #[serde(default)]
    pub device: String,
    #[serde(default)]
    pub device_id: String,
    /// The last call reached the server.
    pub online: bool,
    /// The watcher's problems, with the exact setting to change; empty if there is none.
    pub watch_problems: Vec<Problem>,
}
