//! Cairn's own files on this disk, which commands don't send to the service: secrets and the index of an installation,
//! and what sync has deleted in a folder or is still writing there.
//!
//! Sync leaves out the same.

use crate::failure::{CommandResult, Failure};
use cairn_platform::watch::{TEMP_DIR, TRASH_DIR};
use cairn_platform::{Home, dirs};
use std::path::{Path, PathBuf};

/// The places that an upload leaves out.
pub(crate) struct OwnFiles {
    /// The places of this installation; other ones mark their directories.
    places: Vec<PathBuf>,
}

impl OwnFiles {
    pub(crate) fn of(home: &Home) -> Self {
        Self {
            places: home.own_places(),
        }
    }

    /// Refuses a named path that is an installation's. A file in the trash of a synced folder is the person's own, and
    /// may be meant.
    ///
    /// # Errors
    /// A failure that names the directory. The path has no symbolic links.
    pub(crate) fn check_named(&self, path: &Path) -> CommandResult {
        let mut places = self.places.iter();
        let own = places.find(|place| path.starts_with(place));
        match own
            .map(PathBuf::as_path)
            .or_else(|| dirs::home_around(path))
        {
            None => Ok(()),
            Some(place) => Err(Failure::usage(format!(
                "can't upload {}: Cairn keeps files of its own in {}, such as secrets, and they stay on this machine",
                path.display(),
                place.display()
            ))),
        }
    }

    /// Returns why an entry of a directory that may be sent is left out, if it is.
    pub(crate) fn reason(&self, path: &Path, is_dir: bool) -> Option<&'static str> {
        let is_named = |name: &str| is_dir && path.file_name().is_some_and(|own| own == name);
        if self.places.iter().any(|place| path == place) || is_dir && dirs::is_marked(path) {
            Some("left out: Cairn keeps files of its own there, and they stay on this machine")
        } else if is_named(TRASH_DIR) {
            Some("left out: it is the trash of a synced folder; name a file in it to upload that")
        } else if is_named(TEMP_DIR) {
            Some("left out: sync keeps unfinished files there")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_platform::dirs::HOME_MARK;

    #[test]
    fn only_what_is_cairns_own_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = Home::at(&root.join("home"));
        home.create().unwrap();
        std::fs::create_dir(root.join("other")).unwrap();
        std::fs::write(root.join("other").join(HOME_MARK), "").unwrap();
        let own = OwnFiles::of(&home);
        let is_out = |name: &str, is_dir| own.reason(&root.join(name), is_dir).is_some();
        for name in ["home", "other", "a/.cairn-trash", "a/.cairn-tmp"] {
            assert!(is_out(name, true), "{name}");
        }
        assert!(!is_out("a", true));
        // A file of the name is none of ours.
        assert!(!is_out("a/.cairn-trash", false));
        for name in ["home/secrets.json", "home", "other/index.db"] {
            let refused = own.check_named(&root.join(name)).unwrap_err();
            assert!(refused.message.contains("stay on this machine"), "{name}");
        }
        own.check_named(&root.join("a/.cairn-trash/f")).unwrap();
        own.check_named(&root).unwrap();
    }
}
