//! The sync status: the reply behind `cairn status`, the tray icon and its window.
//!
//! The figures are as programs show them. `cairn-engine` has types of the same names for its own figures, and their
//! fields may change at any time; the types here are a protocol.

use crate::folder::TeamSpace;
use crate::request::Limits;
use cairn_model::{
    ConfirmationKind, Counters, Problem, ProblemCause, ProblemCode, ProblemValues, RunningSteps,
    Side, SyncMode, SyncState, TransferDirection,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
    /// All transfers together; absent where there is nothing to transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<OverallProgress>,
    /// Conflicts that a person has not resolved on this device.
    #[serde(default)]
    pub open_conflicts: u64,
    /// The steps besides transfers that are carried out just now.
    #[serde(default)]
    pub steps: RunningSteps,
    pub counters: Counters,
    /// The reason for the state `offline` or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// RFC 3339 in UTC; absent: not paused, or until resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<String>,
    /// The bandwidth limits in force now; absent in the status of an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
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
    /// Some of each cause; all of them in the reply to `full_status`.
    pub errors: Vec<Problem>,
    /// All problems by their cause.
    #[serde(default)]
    pub problems: Vec<ProblemGroup>,
    /// Conflicts that are open.
    #[serde(default)]
    pub conflicts: u64,
    #[serde(default)]
    pub mode: SyncMode,
    /// Deletions, and overwriting, that wait for a person.
    #[serde(default, rename = "questions")]
    pub confirmations: Vec<Confirmation>,
    /// The team's space that the folder is in; absent for the account's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<TeamSpace>,
}

/// Problems of one cause in a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProblemGroup {
    pub code: ProblemCode,
    pub count: u64,
    /// Bytes of the files that wait because of it; 0 where they are not counted.
    #[serde(default)]
    pub bytes: u64,
    /// All of them in one sentence.
    pub message: String,
    pub hint: String,
    /// Paths of the first ones, at most [`ProblemGroup::EXAMPLES`].
    pub examples: Vec<String>,
    /// The cause as a word, for programs that say it in a language of their own; `other` from an older daemon.
    #[serde(default, skip_serializing_if = "ProblemCause::is_other")]
    pub cause: ProblemCause,
    /// The values in what is said of the first one.
    #[serde(default, skip_serializing_if = "ProblemValues::is_empty")]
    pub values: ProblemValues,
}

impl ProblemGroup {
    pub const EXAMPLES: usize = 5;
}

/// The transfers since the folders were last equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct OverallProgress {
    pub files_done: u64,
    /// The number of files known so far; it grows while more are found.
    pub files_total: u64,
    pub bytes_done: u64,
    pub bytes_total: u64,
    /// The part of the work that is done, from 0 to 100. It falls only where another space begins to transfer.
    pub percent: u8,
    /// Bytes per second, lately.
    pub speed: u64,
    /// Absent while the speed is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}

/// One running transfer of a file.
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

/// Deletions, or overwriting, that nobody has confirmed yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Confirmation {
    /// The side on which the files would be deleted or overwritten.
    pub side: Side,
    pub files: u64,
    #[serde(default)]
    pub kind: ConfirmationKind,
}

/// The number of things of each kind that wait for a person's decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Decisions {
    /// Files whose deletion is held.
    pub deletions: u64,
    /// Files here whose contents suddenly look encrypted, and which are held.
    pub overwrites: u64,
    /// Changes that were made without the account's keys, and are held.
    pub unverified: u64,
    /// Keys that are to be compared, one for each space, or taken over: those of the account, once.
    pub keys: u64,
}

impl Status {
    /// Counts what waits for a person's decision, in all folders.
    #[must_use]
    pub fn decisions(&self) -> Decisions {
        let mut all = Decisions::default();
        let (mut spaces, mut is_replaced) = (BTreeSet::new(), false);
        for folder in &self.folders {
            for confirmation in &folder.confirmations {
                match confirmation.kind {
                    ConfirmationKind::Deletion => all.deletions += confirmation.files,
                    ConfirmationKind::Overwriting => all.overwrites += confirmation.files,
                }
            }
            for problem in &folder.problems {
                if problem.code == ProblemCode::Unverified {
                    all.unverified += problem.count;
                } else if problem.code == ProblemCode::KeysReplaced {
                    is_replaced = true;
                } else if problem.code == ProblemCode::KeyToAccept {
                    spaces.insert(folder.space.as_ref().map(|space| space.id));
                }
            }
        }
        all.keys = spaces.len() as u64 + u64::from(is_replaced);
        all
    }
}

/// The daemon's report about itself, for `cairn doctor`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{SpaceId, TeamId};

    #[test]
    fn keys_that_were_replaced_are_one_thing_to_do_in_however_many_spaces() {
        let folder = |code, space: Option<u8>| FolderStatus {
            problems: vec![ProblemGroup {
                code,
                ..ProblemGroup::default()
            }],
            space: space.map(|id| TeamSpace {
                id: SpaceId::from_random_bytes([id; 16]),
                team: TeamId::from_random_bytes([id; 16]),
                name: "Crew".into(),
            }),
            ..FolderStatus::default()
        };
        let keys = |folders: Vec<FolderStatus>| {
            let status = Status {
                folders,
                ..Status::default()
            };
            status.decisions().keys
        };
        let replaced = |space| folder(ProblemCode::KeysReplaced, space);
        assert_eq!(keys(vec![replaced(None), replaced(Some(1))]), 1);
        // Each of these is compared with somebody else.
        let new = |space| folder(ProblemCode::KeyToAccept, Some(space));
        assert_eq!(keys(vec![new(1), new(1), new(2), replaced(None)]), 3);
    }
}
