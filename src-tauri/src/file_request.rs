//! A dialog about one file or folder, which a file manager asks for on the command line.

use cairn_model::percent_encode;
use serde::Serialize;
use std::path::{Path, PathBuf};
use ts_rs::TS;

/// A dialog of the window about one file or folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileDialog {
    /// The sync state and the reason for it.
    Why,
    Versions,
    /// A new share link.
    Share,
}

impl FileDialog {
    /// All dialogs.
    pub const ALL: &'static [Self] = &[Self::Why, Self::Versions, Self::Share];

    /// Returns the name in the page's address; with `--` before it, the option of the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Why => "why",
            Self::Versions => "versions",
            Self::Share => "share",
        }
    }

    /// Returns the dialog of an option such as `--why`.
    pub(crate) fn of_option(option: &str) -> Option<Self> {
        let name = option.strip_prefix("--")?;
        Self::ALL.iter().copied().find(|one| one.name() == name)
    }
}

/// A dialog to show, and the file or folder that it is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct FileRequest {
    pub dialog: FileDialog,
    /// Absolute; a name that is not valid UTF-8 has replacement characters, and so is in no synced folder.
    pub path: String,
}

impl FileRequest {
    /// Returns the request for a path that is relative to `dir`, unless it is absolute.
    #[must_use]
    pub fn new(dialog: FileDialog, path: &Path, dir: &Path) -> Self {
        // Without `.` and `/` at the end, but with `..`: what it leads to depends on symbolic links.
        let path: PathBuf = dir.join(path).components().collect();
        Self {
            dialog,
            path: path.to_string_lossy().into_owned(),
        }
    }

    /// Returns the fragment of the page's address: the name of the dialog, `:`, and the path, percent-encoded.
    #[must_use]
    pub fn fragment(&self) -> String {
        format!("{}:{}", self.dialog.name(), percent_encode(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute() {
        let path = |path: &str| {
            let dir = Path::new("/home/ada");
            FileRequest::new(FileDialog::Why, Path::new(path), dir).path
        };
        assert_eq!(path("a.txt"), "/home/ada/a.txt");
        assert_eq!(path("./a/"), "/home/ada/a");
        assert_eq!(path("/srv/b"), "/srv/b");
    }

    #[test]
    fn fragments_have_no_character_with_a_meaning() {
        let request = FileRequest {
            dialog: FileDialog::Share,
            path: "/f/50% #1?é".into(),
        };
        assert_eq!(request.fragment(), "share:%2Ff%2F50%25%20%231%3F%C3%A9");
    }
}
