//! The directories that belong to an installation alone, and the marker file by which others recognise them.
//!
//! An index that is synced changes with each change that it records, and takes the place of another
//! device's. So these directories are never synced, whichever installation they belong to.

use super::Home;
use super::own_files::{PROCESSES, STATE, is_state_file};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The file that marks a directory of an installation.
pub const HOME_MARK: &str = ".cairn-home";

/// The text of the mark, for a person who finds it.
const TEXT: &str =
    "Cairn keeps files of its own here. A directory with this file is never synced.\n";

/// Returns whether a directory is marked as one of an installation.
#[must_use]
pub fn is_marked(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir.join(HOME_MARK)).is_ok()
}

/// Returns the directory of an installation, of any one, that is at a path or above it.
#[must_use]
pub fn home_around(path: &Path) -> Option<&Path> {
    path.ancestors().find(|dir| is_marked(dir))
}

/// Marks the directories that have no other purpose. One that can't be marked, such as on a full disk,
/// is no reason to fail: this installation knows its own places without it.
pub(super) fn write_marks(home: &Home) {
    for dir in directories(home) {
        if !dir.is_dir() || has_other_purpose(dir) {
            continue;
        }
        let path = dir.join(HOME_MARK);
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        match made.and_then(|mut file| file.write_all(TEXT.as_bytes())) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                tracing::warn!(path = %path.display(), %error, "the directory can't be marked as Cairn's own");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

/// Returns the places of an installation's files.
pub(super) fn own_places(home: &Home) -> Vec<PathBuf> {
    let mut places = vec![
        home.logs_dir(),
        home.sessions_dir(),
        home.tasks_dir(),
        home.spaces_dir(),
        home.socket_path(),
    ];
    for dir in directories(home) {
        if has_other_purpose(dir) {
            places.extend(files(home));
        } else {
            places.push(dir.to_owned());
        }
    }
    if let Some(dir) = home
        .runtime
        .as_deref()
        .filter(|dir| !has_other_purpose(dir))
    {
        places.push(dir.to_owned());
    }
    let resolved: Vec<PathBuf> = places
        .iter()
        .filter_map(|place| place.canonicalize().ok())
        .collect();
    places.extend(resolved);
    places.sort_unstable();
    places.dedup();
    places
}

fn directories(home: &Home) -> [&Path; 3] {
    [&home.config, &home.data, &home.state]
}

/// Returns the files by name, for a directory that holds others too: those with fixed names, there or not, and the
/// others that are there.
fn files(home: &Home) -> Vec<PathBuf> {
    let fixed = STATE.iter().chain(&PROCESSES);
    let mut files: Vec<PathBuf> = fixed.map(|name| home.data.join(name)).collect();
    files.push(home.config_file());
    // One that can't be listed can't be worked in either.
    let there = std::fs::read_dir(&home.data)
        .into_iter()
        .flatten()
        .flatten();
    files.extend(
        there
            .filter(|entry| entry.file_name().to_str().is_some_and(is_state_file))
            .map(|entry| entry.path()),
    );
    files
}

#[cfg(unix)]
fn has_other_purpose(dir: &Path) -> bool {
    std::fs::metadata(dir).is_ok_and(|found| super::private::has_other_purpose(dir, &found))
}

#[cfg(not(unix))]
fn has_other_purpose(dir: &Path) -> bool {
    dir.parent().is_none() || super::user_home().is_some_and(|home| home == dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_directory_of_an_installation_is_known_by_its_mark() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("second"));
        let inner = dir.path().join("second/files/deep");
        assert_eq!(home_around(&inner), None);
        home.create().unwrap();
        home.create().unwrap();
        assert_eq!(home_around(&inner), Some(home.data_dir()));
        assert_eq!(home_around(home.data_dir()), Some(home.data_dir()));
        assert_eq!(home_around(dir.path()), None);
        let places = home.own_places();
        assert!(places.contains(&home.data_dir().to_owned()), "{places:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_home_that_is_reached_through_a_link_is_known_at_both_paths() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (real, link) = (root.join("real"), root.join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let home = Home::at(&link);
        home.create().unwrap();
        let places = home.own_places();
        assert!(
            places.contains(&real) && places.contains(&link),
            "{places:?}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_with_another_purpose_keeps_its_other_files() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let shared = std::fs::Permissions::from_mode(0o1777);
        std::fs::set_permissions(dir.path(), shared).unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        assert!(!is_marked(dir.path()));
        let places = home.own_places();
        assert!(!places.contains(&dir.path().to_owned()), "{places:?}");
        for own in [
            home.index_file(),
            home.account_file(),
            home.logs_dir(),
            home.spaces_dir(),
        ] {
            assert!(places.contains(&own), "{}", own.display());
        }
    }
}
