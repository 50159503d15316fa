//! Activity, conflicts, and the content of the local trash.

use cairn_model::{ActivityKind, ConflictKind};
use serde::{Deserialize, Serialize};

/// Something that happened to a file or folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Activity {
    /// RFC 3339 in UTC.
    pub at: String,
    pub kind: ActivityKind,
    /// Below the folder's root, with `/`.
    pub path: String,
    /// The local folder; null for what concerns none.
    pub folder: Option<String>,
    /// The device that made the change, where it is known.
    pub device: Option<String>,
    pub bytes: u64,
}

/// The newest activities, newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ActivityList {
    pub events: Vec<Activity>,
}

/// Two versions that both were kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Conflict {
    /// The file that kept the name, below the folder's root.
    pub path: String,
    /// True if nothing has that path any more: it was deleted, or the copy alone was moved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub original_gone: bool,
    /// The conflict copy beside it.
    pub copy: String,
    /// The local folder.
    pub folder: String,
    pub kind: ConflictKind,
    /// The device whose version kept the name; empty where it is unknown.
    pub device: String,
    /// The device in the copy's name; empty from an older daemon.
    #[serde(default)]
    pub copy_device: String,
    /// True if the copy is this device's version; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_made_here: Option<bool>,
    /// RFC 3339 in UTC; empty where it is not known.
    pub at: String,
}

/// All open conflicts, oldest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ConflictList {
    pub conflicts: Vec<Conflict>,
}

/// The reply of a conflict's resolution.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Resolved {
    /// The new path of the copy, absolute, if both versions stay and the copy got a plain name; absent from
    /// an older daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
}

/// The outcome that a conflict's resolution would have.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ResolvePreview {
    /// Below the folder's root, as in [`Conflict`].
    pub path: String,
    /// The conflict copy, below the folder's root.
    pub copy: String,
    /// The path, absolute, with the plain name that the copy would get where both versions stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_copy: Option<String>,
    /// The merged text, where both versions are to be merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
}

/// Something in a folder's local trash.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trashed {
    /// Names it for a restore.
    pub id: String,
    /// The local folder.
    pub folder: String,
    /// The path that it had, below the folder's root.
    pub path: String,
    /// RFC 3339 in UTC.
    pub at: String,
    pub bytes: u64,
}

/// The content of the local trash, newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TrashedList {
    pub trashed: Vec<Trashed>,
}
