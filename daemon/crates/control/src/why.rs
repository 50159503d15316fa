//! The sync state of one path, for `cairn why`, the tray and the tools for assistants.

use cairn_model::{PathReason, PathState, ProblemCause, ProblemValues, RuleSource};
use serde::{Deserialize, Serialize};

/// The rule that excludes a path from syncing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DecidingRule {
    pub source: RuleSource,
    /// The text of the rule; empty if the path is not among the selected subfolders.
    pub pattern: String,
    /// The rules file, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// In the rules file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The path that it matches, below the folder's root: the one asked for, or a folder above it.
    pub matched: String,
}

/// The sync state of one path, and the reason for it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PathReport {
    /// Absolute, on this machine.
    pub path: String,
    /// The local folder of the folder pair that the path is in; absent for a path in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The path on the service, if this device knows that something is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    pub state: PathState,
    /// The reason as a word, for programs that say it in a language of their own; `other` from an older daemon.
    #[serde(default)]
    pub reason: PathReason,
    /// The cause of a failure, of it or of its whole folder, as a word; absent without one.
    #[serde(default, skip_serializing_if = "ProblemCause::is_other")]
    pub cause: ProblemCause,
    /// The values in what is said of that cause.
    #[serde(default, skip_serializing_if = "ProblemValues::is_empty")]
    pub values: ProblemValues,
    /// The folder above it that the reason is about, below the folder's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<String>,
    /// The reason, as a sentence that begins with "it".
    pub message: String,
    /// The advice to the person; empty where nothing is to be done.
    #[serde(default)]
    pub hint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<DecidingRule>,
    /// The other version of a conflict, below the folder's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_with: Option<String>,
    /// Failed tries in a row.
    #[serde(default)]
    pub tries: u32,
    /// RFC 3339 in UTC: the next try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try_at: Option<String>,
    /// RFC 3339 in UTC: the latest transfer, as far as the activity goes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced_at: Option<String>,
    /// True if its state on the service has a valid seal: a MAC made with the account's keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// Other changes of the pair that are to be done.
    #[serde(default)]
    pub behind: u64,
    /// Problems of what lies below it.
    #[serde(default)]
    pub problems_below: u64,
}

/// Paths that wait, each with its reason.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WaitingList {
    pub waiting: Vec<PathReport>,
}
