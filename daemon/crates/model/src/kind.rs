//! The kind of a node: file or folder; the category of a file, the format of a name, and the modes of the search.

use crate::words::word_enum;
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

word_enum! {
    /// The category that a person would file a node under, as its name suggests.
    Category("category") {
        Image = "image",
        Video = "video",
        Audio = "audio",
        Document = "document",
        Archive = "archive",
        /// Every folder, in a search.
        Folder = "folder",
        /// Neither of these, or a category of another version.
        #[serde(other)]
        Other = "other",
    }
}

word_enum! {
    /// The format of a node's name.
    NameFormat("format of names") {
        Plain = "plain",
        /// Reserved for spaces with private names.
        Sealed = "sealed",
        /// A format of another version.
        #[serde(other)]
        Other = "other",
    }
}

word_enum! {
    /// The place that a search looks in.
    #[derive(Default)]
    SearchMode("mode of the search") {
        /// Names and metadata.
        #[default]
        Quick = "quick",
        /// Names and metadata, by filters.
        Filtered = "filtered",
        /// Words in everything that is written about a node.
        Content = "content",
    }
}
