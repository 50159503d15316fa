//! The kind of a node: file or folder.

use serde::{Deserialize, Serialize};

/// The kind of a node; nothing but files and folders is synced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    File,
    Folder,
}

impl Kind {
    /// Returns `file` or `folder`, as on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
        }
    }
}
