//! The view models of the window.
//!
//! These types are apart from the control messages, so that neither follows the other by accident.
//! Their TypeScript is generated (see `tests/bindings.rs`).

mod convert;

pub use convert::{Model, activity, build, conflict, folder};

use cairn_model::{
    ActivityKind, ConfirmationKind, ConflictKind, ProblemCause, ProblemCode, ProblemValues, Side,
    SyncMode, SyncState,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The state of the connection to the daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    /// The daemon is being looked for, or started.
    #[default]
    Starting,
    Up,
    /// The daemon doesn't start: `last_error` has the reason.
    Down,
    /// The daemon doesn't start, because this device is not logged in.
    LoggedOut,
}

/// Files and folders that can't be synced for one reason, with a hint what to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct ProblemView {
    pub code: ProblemCode,
    /// The number of files and folders.
    pub count: u64,
    /// The cause as a word, which the window says in its own language; `other` from an older daemon.
    pub cause: ProblemCause,
    pub values: ProblemValues,
    /// Bytes of the files that wait because of it; 0 where they are not counted.
    pub bytes: u64,
    /// All of them in one sentence of the daemon, which is English.
    pub message: String,
    pub hint: String,
    /// Paths below the folder of the first ones; none for a problem of the folder itself.
    pub examples: Vec<String>,
}

/// Deletions, or overwriting, that need a confirmation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
pub struct ConfirmationView {
    pub kind: ConfirmationKind,
    /// The side on which the files would be deleted or overwritten.
    pub side: Side,
    pub files: u64,
}

/// A team in whose space folders can be synced.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct TeamView {
    pub id: String,
    pub name: String,
}

/// One folder pair with its state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct FolderView {
    pub local: String,
    /// The last part of the local path.
    pub name: String,
    pub remote: String,
    /// The team in whose space `remote` is; absent for the account's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub team: Option<TeamView>,
    pub state: SyncState,
    pub mode: SyncMode,
    pub pending: u64,
    pub files: u64,
    pub bytes: u64,
    /// One for each reason.
    pub problems: Vec<ProblemView>,
    pub confirmations: Vec<ConfirmationView>,
}

/// All transfers together, as the daemon reckons them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, TS)]
pub struct SyncProgress {
    /// Files.
    pub done: u64,
    /// Files known so far.
    pub total: u64,
    pub bytes_done: u64,
    pub bytes_total: u64,
    /// From 0 to 100.
    pub percent: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seconds_left: Option<u64>,
}

/// A file that is being uploaded or downloaded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct TransferView {
    pub path: String,
    pub up: bool,
    pub done: u64,
    pub size: u64,
    /// Bytes per second.
    pub speed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seconds_left: Option<u64>,
}

/// A conflict of which both versions were kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct ConflictView {
    pub folder: String,
    /// The path below the folder of the version that kept the name.
    pub path: String,
    /// The path below the folder of the other version, beside it.
    pub copy: String,
    pub kind: ConflictKind,
    /// The device whose version kept the name; empty if unknown.
    pub device: String,
    /// The device in the copy's name.
    pub copy_device: String,
    /// True if the copy is this device's version; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub copy_made_here: Option<bool>,
    pub at: String,
}

/// An entry of the activity list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct ActivityView {
    pub at: String,
    pub kind: ActivityKind,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub device: Option<String>,
    pub bytes: u64,
}

/// Everything that the window shows without a call.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, TS)]
pub struct View {
    pub connection: ConnectionState,
    pub state: SyncState,
    /// One line, in the person's language.
    pub headline: String,
    /// The reason that the daemon doesn't run, or is offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub paused_until: Option<String>,
    pub pending: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub progress: Option<SyncProgress>,
    /// Bytes per second, all transfers together.
    pub speed: u64,
    pub folders: Vec<FolderView>,
    pub transfers: Vec<TransferView>,
    pub conflicts: Vec<ConflictView>,
    /// Number of things that need a person: conflicts, confirmations, and reasons why files are not synced.
    pub attention: u64,
}
