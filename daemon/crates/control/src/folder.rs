//! Folder pairs (a local folder and the one on the service that it is synced with), and the settings that a
//! person chooses for each.

use cairn_model::{DeletionGate, SpaceId, SyncMode, TeamId};
use serde::{Deserialize, Serialize};

/// The space of a team, where a folder pair is in one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TeamSpace {
    pub id: SpaceId,
    pub team: TeamId,
    /// The team's name.
    pub name: String,
}

/// A folder pair to add.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NewFolder {
    /// Absolute path of the local folder.
    pub local: String,
    /// Path on the service, `/` or `/a/b`; made where it is missing.
    pub remote: String,
    #[serde(default)]
    pub mode: SyncMode,
    /// Patterns in gitignore syntax.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Unless empty: only these subfolders come to this device.
    #[serde(default)]
    pub only: Vec<String>,
    /// The deletion gate: the number of deletions from which a person is asked first; `None`: never.
    #[serde(default)]
    pub gate: Option<DeletionGate>,
}

/// A folder pair that exists.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Folder {
    pub local: String,
    pub remote: String,
    pub mode: SyncMode,
    pub exclude: Vec<String>,
    pub only: Vec<String>,
    pub gate: Option<DeletionGate>,
    /// `None`: the account's own space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<TeamSpace>,
}

/// The ignore rules of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IgnoreRules {
    /// The lines of `.cairnignore` at the folder's root; they sync with the folder.
    pub shared: Vec<String>,
    /// Patterns that only this device leaves out.
    pub own: Vec<String>,
}

/// The decision whether a path is ignored, with the rule that made it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IgnoreDecision {
    pub path: String,
    pub ignored: bool,
    /// The rule that decided, if one matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}
