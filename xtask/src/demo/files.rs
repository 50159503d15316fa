//! The files that the demo works with: copies of real ones, never the originals.

use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Keeps the tour at a minute, whatever folder it is given.
const MAX_FILES: u64 = 5_000;
const MAX_BYTES: u64 = 300_000_000;
const MAX_FILE_BYTES: u64 = 30_000_000;

/// Directories with thousands of ordinary files, on one system or another.
const USUAL: [&str; 4] = [
    "/usr/share/doc",
    "/usr/share/man",
    "/Library/Documentation",
    "/usr/share",
];

/// Number and size of the copied files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sample {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

pub(super) fn on_this_machine() -> Result<PathBuf> {
    let found = USUAL.iter().map(Path::new).find(|dir| dir.is_dir());
    match found {
        Some(dir) => Ok(dir.to_path_buf()),
        None => bail!("name a folder whose files the demo may copy: `cargo xtask demo FOLDER`"),
    }
}

/// Copies regular files with their directories, up to a few thousand; links and unreadable files stay
/// behind.
pub(super) fn copy_sample(from: &Path, to: &Path) -> Result<Sample> {
    let mut sample = Sample::default();
    for path in walk(from)? {
        let source = from.join(&path);
        let length = fs::metadata(&source).map_or(u64::MAX, |found| found.len());
        if length > MAX_FILE_BYTES || sample.bytes + length > MAX_BYTES {
            continue;
        }
        let target = to.join(&path);
        if let Some(dir) = target.parent() {
            fs::create_dir_all(dir)?;
        }
        if fs::copy(&source, &target).is_ok() {
            sample.files += 1;
            sample.bytes += length;
        }
        if sample.files == MAX_FILES {
            break;
        }
    }
    if sample.files == 0 {
        bail!("{} holds no files that can be copied", from.display());
    }
    Ok(sample)
}

/// The paths of the regular files below `root`, relative to it and sorted, without Cairn's own
/// directories.
pub(super) fn walk(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(dir) = open.pop() {
        let full = root.join(&dir);
        let listing = match fs::read_dir(&full) {
            Ok(listing) => listing,
            Err(error) if dir.as_os_str().is_empty() => {
                return Err(error).with_context(|| format!("can't list {}", full.display()));
            }
            Err(_) => continue,
        };
        for found in listing.flatten() {
            let name = found.file_name();
            let is_own = name.to_string_lossy().starts_with(".cairn-");
            match found.file_type() {
                Ok(kind) if kind.is_dir() && !is_own => open.push(dir.join(name)),
                Ok(kind) if kind.is_file() => files.push(dir.join(name)),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

pub(super) fn count(root: &Path) -> u64 {
    walk(root).map_or(0, |files| files.len() as u64)
}

/// The directory at the top with the most files below it, and their number.
pub(super) fn largest_directory(root: &Path) -> Result<Option<(String, u64)>> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for path in walk(root)? {
        let mut parts = path.iter();
        if let (Some(first), Some(_)) = (parts.next(), parts.next()) {
            *counts
                .entry(first.to_string_lossy().into_owned())
                .or_default() += 1;
        }
    }
    Ok(counts.into_iter().max_by_key(|(_, count)| *count))
}

/// Returns the names of the conflict copies of a file at the top of a folder; those of other files may be the
/// user's own.
pub(super) fn conflict_copies(root: &Path, stem: &str) -> Result<Vec<String>> {
    let beginning = format!("{stem} (conflicted copy ");
    let paths = walk(root)?.into_iter();
    let names = paths.map(|path| path.to_string_lossy().into_owned());
    let is_copy = |name: &String| name.starts_with(&beginning) && !name.contains('/');
    Ok(names.filter(is_copy).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_files_and_no_links() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(from.path().join("a/b")).unwrap();
        fs::write(from.path().join("a/b/one"), "1").unwrap();
        fs::write(from.path().join("a/two"), "22").unwrap();
        fs::write(from.path().join("three"), "333").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("three", from.path().join("link")).unwrap();
        let sample = copy_sample(from.path(), to.path()).unwrap();
        assert_eq!(sample, Sample { files: 3, bytes: 6 });
        assert_eq!(walk(to.path()).unwrap().len(), 3);
        let largest = largest_directory(to.path()).unwrap();
        assert_eq!(largest, Some(("a".to_owned(), 2)));
    }

    #[test]
    fn conflict_copies_among_the_samples_are_not_the_demos() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        let own = "note (conflicted copy desktop 2026-01-01 101500).txt";
        for name in [
            own,
            "plan (conflicted copy x).md",
            "a/note (conflicted copy y).txt",
        ] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(conflict_copies(dir.path(), "note").unwrap(), [own]);
    }

    #[test]
    fn an_empty_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(copy_sample(dir.path(), dir.path()).is_err());
    }
}
