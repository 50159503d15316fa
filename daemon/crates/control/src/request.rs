//! What can be asked of the daemon, and what it answers.

use crate::folder::{Folder, IgnoreRules, IgnoreVerdict, NewFolder};
use crate::history::{ActivityList, ConflictList, Trashed, TrashedList};
use crate::status::{DoctorInfo, Status};
use cairn_model::{DeletionDecision, Keep};
use serde::{Deserialize, Serialize};

/// Bandwidth limits in bytes per second; `None`: no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    pub up: Option<u64>,
    pub down: Option<u64>,
}

/// A request. `folder` is the absolute path of a local folder that is paired.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    /// [`Status`].
    Status,
    /// [`Status`] once everything is in sync and nothing changed on either side meanwhile.
    /// Fails with `timed_out` after the time, in milliseconds.
    Settle {
        timeout_ms: Option<u64>,
    },
    /// Events from now on, beginning with the status.
    Subscribe,
    /// Reads the folder, or all, from the disk again. The answer comes when the scan has begun.
    Rescan {
        folder: Option<String>,
    },
    /// Stops transfers. `until`: milliseconds since 1970-01-01 UTC.
    Pause {
        folder: Option<String>,
        until: Option<i64>,
    },
    Resume {
        folder: Option<String>,
    },
    /// [`ActivityList`].
    Activity {
        limit: u32,
    },
    /// [`ConflictList`].
    Conflicts,
    /// `path` names either version, absolute.
    Resolve {
        path: String,
        keep: Keep,
    },
    /// Takes the changes that were held because no device vouches for them: [`Accepted`].
    Accept,
    Confirm {
        folder: String,
        answer: DeletionDecision,
    },
    /// A list of [`Folder`].
    Folders,
    /// [`Folder`], as it was added.
    AddFolder {
        folder: NewFolder,
    },
    /// [`Folder`], as it was changed. The local folder says which; it stays paired with the same place.
    ChangeFolder {
        folder: NewFolder,
    },
    /// Files stay on both sides.
    RemoveFolder {
        folder: String,
    },
    /// [`IgnoreRules`].
    Ignore {
        folder: String,
    },
    /// Adds a line to the folder's `.cairnignore`.
    AddIgnore {
        folder: String,
        pattern: String,
    },
    /// Replaces the folder's `.cairnignore`.
    SetIgnore {
        folder: String,
        lines: Vec<String>,
    },
    /// [`IgnoreVerdict`]; `path` is absolute. With `lines`: as if the folder's `.cairnignore` had these.
    CheckIgnore {
        folder: String,
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<Vec<String>>,
    },
    /// [`Limits`].
    Limits,
    SetLimits {
        limits: Limits,
    },
    /// Reads the configuration file again.
    Reload,
    /// [`TrashedList`].
    Trash {
        folder: Option<String>,
    },
    /// [`Trashed`], with the path where it stands now.
    RestoreTrashed {
        folder: String,
        id: String,
    },
    /// [`DoctorInfo`].
    Doctor,
    /// Finishes or journals the current steps and ends the daemon.
    Shutdown,
}

/// An answer; which one belongs to which request stands there.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Status(Status),
    Activity(ActivityList),
    Conflicts(ConflictList),
    Folders(Vec<Folder>),
    Folder(Folder),
    IgnoreRules(IgnoreRules),
    IgnoreVerdict(IgnoreVerdict),
    Limits(Limits),
    Trash(TrashedList),
    Trashed(Trashed),
    Doctor(DoctorInfo),
    Accepted(Accepted),
    Done(Done),
}

/// How many changes were taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Accepted {
    pub accepted: u64,
}

/// It was done; there is nothing else to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Done {}

impl Reply {
    /// It was done.
    pub const DONE: Self = Self::Done(Done {});
}
