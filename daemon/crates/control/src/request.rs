//! Requests to the daemon, and its replies.

use crate::folder::{Folder, IgnoreDecision, IgnoreRules, NewFolder, TeamSpace};
use crate::history::{ActivityList, ConflictList, ResolvePreview, Resolved, Trashed, TrashedList};
use crate::status::{DoctorInfo, Status};
use crate::why::{PathReport, WaitingList};
use cairn_model::{DeletionDecision, Keep};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Bandwidth limits in bytes per second; `None`: no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    pub up: Option<u64>,
    pub down: Option<u64>,
}

/// A request whose reply has a known type.
pub trait TypedRequest: Into<Request> {
    type Reply: DeserializeOwned;
}

/// Declares the requests: a type for each, with the type of its reply, and the enum of all of them,
/// which is what is sent.
macro_rules! requests {
    ($(
        $(#[$meta:meta])*
        $name:ident $({ $($(#[$field_meta:meta])* $field:ident: $type:ty,)+ })? -> $reply:ty;
    )+) => {
        /// A request. `folder` is the absolute path of a local folder that is paired.
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(tag = "op", rename_all = "snake_case")]
        pub enum Request {
            $(
                $(#[$meta])*
                $name $({ $($(#[$field_meta])* $field: $type,)+ })?,
            )+
        }

        /// One type for each request, so that a client knows the type of the reply.
        pub mod typed {
            use super::*;

            $(
                $(#[$meta])*
                #[derive(Clone, PartialEq, Eq, Debug)]
                pub struct $name { $($(pub $field: $type,)+)? }

                impl From<$name> for Request {
                    fn from(request: $name) -> Self {
                        let $name { $($($field,)+)? } = request;
                        Self::$name $({ $($field,)+ })?
                    }
                }

                impl TypedRequest for $name {
                    type Reply = $reply;
                }
            )+
        }
    };
}

requests! {
    /// The status with some problems of each cause.
    Status -> crate::status::Status;
    /// The status with every problem.
    FullStatus -> crate::status::Status;
    /// The status once everything is in sync and nothing changed on either side meanwhile.
    /// Fails with `timed_out` after `timeout_ms` milliseconds; `None` waits without end. Fails with `decision` once
    /// all that is left needs a person.
    WaitUntilSynced {
        timeout_ms: Option<u64>,
    } -> crate::status::Status;
    /// Events from now on, beginning with the status.
    Subscribe -> Done;
    /// A reply and no work: shows that the daemon responds.
    Ping -> Done;
    /// Makes a scan of the folder, or of all, and a poll of the service due. The reply doesn't wait for them.
    Rescan {
        folder: Option<String>,
    } -> Done;
    /// Makes a scan of the folder, or of all, due, and asks the service for changes. The reply waits for the service's
    /// answer, and fails with `offline` or `not_logged_in` where there is none.
    SyncNow {
        folder: Option<String>,
    } -> Done;
    /// Stops transfers. `until`: milliseconds since 1970-01-01 UTC.
    Pause {
        folder: Option<String>,
        until: Option<i64>,
    } -> Done;
    /// Lets transfers of the folder, or of all, go on after a pause.
    Resume {
        folder: Option<String>,
    } -> Done;
    /// The newest `limit` entries of the activity.
    Activity {
        limit: u32,
    } -> ActivityList;
    /// The open conflicts.
    Conflicts -> ConflictList;
    /// Resolves a conflict. `path`, absolute, names either version.
    Resolve {
        path: String,
        keep: Keep,
    } -> Resolved;
    /// Tells what `Resolve` would do, and changes nothing: a request of its own, so that no older daemon resolves
    /// the conflict.
    PreviewResolve {
        path: String,
        keep: Keep,
    } -> ResolvePreview;
    /// Accepts the changes of the service that are blocked because no device with the keys has sealed them.
    Accept -> Accepted;
    /// Accepts the disk that is at `path`, absolute, in place of the one before.
    AcceptDisk {
        path: String,
    } -> Done;
    /// Decides the deletions, or the overwriting, that wait in a folder.
    Confirm {
        folder: String,
        decision: DeletionDecision,
    } -> Done;
    /// The folder pairs.
    Folders -> Vec<Folder>;
    /// Adds a folder pair. The reply is the pair as it was added.
    AddFolder {
        folder: NewFolder,
    } -> Folder;
    /// Adds a folder pair in the space of a team: a request of its own, so that no older daemon adds it to the
    /// account's own space. The reply is the pair as it was added.
    AddTeamFolder {
        folder: NewFolder,
        space: TeamSpace,
    } -> Folder;
    /// Changes the settings of the pair that has this local folder; it stays paired with the same folder on the
    /// service. The reply is the pair as it is now.
    ChangeFolder {
        folder: NewFolder,
    } -> Folder;
    /// Ends a folder pair. Files stay on both sides.
    RemoveFolder {
        folder: String,
    } -> Done;
    /// The ignore rules of a folder.
    Ignore {
        folder: String,
    } -> IgnoreRules;
    /// Adds a line to the folder's `.cairnignore`.
    AddIgnore {
        folder: String,
        pattern: String,
    } -> Done;
    /// Replaces the folder's `.cairnignore`.
    SetIgnore {
        folder: String,
        lines: Vec<String>,
    } -> Done;
    /// Tests whether a path, absolute, is ignored. With `lines`: as if the folder's `.cairnignore` had these.
    CheckIgnore {
        folder: String,
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<Vec<String>>,
    } -> IgnoreDecision;
    /// The bandwidth limits.
    Limits -> crate::request::Limits;
    /// Replaces the bandwidth limits.
    SetLimits {
        limits: crate::request::Limits,
    } -> Done;
    /// Reads the configuration file again.
    Reload -> Done;
    /// The items in the local trash of the folder, or of all.
    Trash {
        folder: Option<String>,
    } -> TrashedList;
    /// Restores an item of the local trash. The reply has its path.
    RestoreTrashed {
        folder: String,
        id: String,
    } -> Trashed;
    /// Deletes things in the local trash of the folder for good, by their ids; a folder only once it is empty.
    DeleteTrashed {
        folder: String,
        ids: BTreeSet<String>,
    } -> Done;
    /// The sync state of one path, absolute, and the reason for it.
    Why {
        path: String,
    } -> PathReport;
    /// Paths with a change that is to be done, with the reason why it is not done yet; at most `limit` of
    /// each folder pair.
    Waiting {
        limit: u32,
    } -> WaitingList;
    /// The daemon's report about itself, for `cairn doctor`.
    Doctor -> DoctorInfo;
    /// Finishes the current steps, or records them for the next start, and ends the daemon.
    Shutdown -> Done;
}

/// A reply; the declaration of a request names its own.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Status(Status),
    Activity(ActivityList),
    Conflicts(ConflictList),
    Resolved(Resolved),
    ResolvePreview(ResolvePreview),
    Folders(Vec<Folder>),
    Folder(Folder),
    IgnoreRules(IgnoreRules),
    IgnoreDecision(IgnoreDecision),
    Limits(Limits),
    Trash(TrashedList),
    Trashed(Trashed),
    Doctor(DoctorInfo),
    Accepted(Accepted),
    Why(Box<PathReport>),
    Waiting(WaitingList),
    Done(Done),
}

/// The number of changes that were accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Accepted {
    pub accepted: u64,
}

/// The reply of a request that has nothing to report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Done {}

impl Reply {
    /// The reply of a request that has nothing to report.
    pub const DONE: Self = Self::Done(Done {});
}
