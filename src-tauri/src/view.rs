//! What the window shows, as it crosses the bridge.
//!
//! These types are apart from the control messages, so that neither follows the other by accident.
//! Their TypeScript is generated (see `tests/bindings.rs`).

mod convert;

pub use convert::{Known, activity, build, conflict, folder};

use crate::progress::Share;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Whether the daemon can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// Looking for it, or starting it.
    #[default]
    Starting,
    Up,
    /// It doesn't start: `trouble` says why.
    Down,
    /// It doesn't start, because this device is not logged in.
    LoggedOut,
}

/// The state that the icon shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum StateView {
    #[default]
    Idle,
    Syncing,
    Paused,
    Offline,
    Attention,
    Error,
}

/// Which way changes travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum ModeView {
    #[default]
    TwoWay,
    Upload,
    Download,
}

/// Something that doesn't sync, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct ProblemView {
    pub path: String,
    pub code: String,
    pub message: String,
    pub hint: String,
}

/// Deletions that wait for a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
pub struct QuestionView {
    /// True: the files would be deleted on this disk. False: on the service.
    pub here: bool,
    pub files: u64,
}

/// One folder pair with its state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct FolderView {
    pub local: String,
    /// The last part of the local path.
    pub name: String,
    pub remote: String,
    pub state: StateView,
    pub mode: ModeView,
    pub pending: u64,
    pub files: u64,
    pub bytes: u64,
    /// The first ones; `problem_count` tells how many there are.
    pub problems: Vec<ProblemView>,
    pub problem_count: u64,
    pub questions: Vec<QuestionView>,
}

/// One file on its way.
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

/// Two versions that both were kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct ConflictView {
    pub folder: String,
    /// What kept the name, below the folder.
    pub path: String,
    /// The copy beside it, below the folder.
    pub copy: String,
    pub kind: String,
    pub device: String,
    pub at: String,
}

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct ActivityView {
    pub at: String,
    pub kind: String,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub device: Option<String>,
    pub bytes: u64,
}

/// Everything that the window shows without asking.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, TS)]
pub struct View {
    pub link: Link,
    pub state: StateView,
    /// One line, in the person's language.
    pub headline: String,
    /// Why the daemon doesn't run, or why it is offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub trouble: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub paused_until: Option<String>,
    pub pending: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub share: Option<Share>,
    /// Bytes per second, both ways together.
    pub speed: u64,
    pub folders: Vec<FolderView>,
    pub transfers: Vec<TransferView>,
    pub conflicts: Vec<ConflictView>,
    /// What needs a person: conflicts, questions and problems.
    pub attention: u64,
}
