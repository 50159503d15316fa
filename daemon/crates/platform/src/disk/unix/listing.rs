//! Lists of the names in a directory, each with its stat.

use super::resolved_path::{ResolvedPath, loop_is_no_directory};
use super::stat;
use crate::disk::Entry;
use rustix::fs::{Dir, Mode, OFlags};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The number of times that a directory is listed at most in which a name vanishes before its stat.
const MOST_LISTINGS: usize = 4;

pub(in crate::disk) fn list(place: &ResolvedPath<'_>) -> io::Result<Vec<Entry>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(place.dir(), place.name(), flags, Mode::empty())
        .map_err(loop_is_no_directory)?;
    let mut dir = Dir::new(fd)?;
    let mut entries = without_vanished(|| list_once(&mut dir))?;
    entries.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    Ok(entries)
}

/// Lists until no name vanishes between the list and its stat: what was renamed in between would be missing under both
/// names, as if it were deleted. The names that still vanish after some tries are left out.
fn without_vanished(mut list: impl FnMut() -> io::Result<Vec<Entry>>) -> io::Result<Vec<Entry>> {
    let mut entries = list()?;
    for _ in 1..MOST_LISTINGS {
        if !entries.iter().any(has_vanished) {
            break;
        }
        entries = list()?;
    }
    entries.retain(|entry| !has_vanished(entry));
    Ok(entries)
}

fn has_vanished(entry: &Entry) -> bool {
    matches!(&entry.stat, Err(error) if error.kind() == io::ErrorKind::NotFound)
}

fn list_once(dir: &mut Dir) -> io::Result<Vec<Entry>> {
    dir.rewind();
    let mut names = Vec::new();
    while let Some(found) = dir.read() {
        let found = found?;
        let name = found.file_name();
        if name.to_bytes() != b"." && name.to_bytes() != b".." {
            names.push((
                found.ino(),
                OsStr::from_bytes(name.to_bytes()).to_os_string(),
            ));
        }
    }
    // The order of inodes is about the order on the medium: a cold cache is filled without seeking.
    names.sort_unstable_by_key(|(inode, _)| *inode);
    let dir = stat::Directory::new(dir.fd()?);
    let entry = |(_, name): (_, OsString)| Entry {
        stat: dir.stat(Path::new(&name)),
        name,
    };
    Ok(names.into_iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, error: Option<io::ErrorKind>) -> Entry {
        let there = super::super::stat_at(rustix::fs::CWD, Path::new("/"));
        Entry {
            name: name.into(),
            stat: error.map_or(there, |kind| Err(kind.into())),
        }
    }

    /// Lists a directory that has these names, some of which have gone, each time it is listed. Returns the names of the
    /// result, and how often it was listed.
    fn listed(times: &[&[(&str, Option<io::ErrorKind>)]]) -> (Vec<String>, usize) {
        let mut count = 0;
        let entries = without_vanished(|| {
            let now = times[count.min(times.len() - 1)];
            count += 1;
            Ok(now
                .iter()
                .map(|(name, error)| entry(name, *error))
                .collect())
        });
        let names = entries.unwrap().into_iter();
        let names = names.map(|entry| entry.name.into_string().unwrap());
        (names.collect(), count)
    }

    #[test]
    fn a_name_that_vanishes_is_looked_for_under_another() {
        let gone = Some(io::ErrorKind::NotFound);
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let renamed: &[&[_]] = &[&[("a", gone), ("z", None)], &[("b", None), ("z", None)]];
        assert_eq!(listed(renamed), (names(&["b", "z"]), 2));
        assert_eq!(listed(&[&[("a", None)]]), (names(&["a"]), 1));
        let always: &[&[_]] = &[&[("a", gone), ("z", None)]];
        assert_eq!(listed(always), (names(&["z"]), MOST_LISTINGS));
        let refused: &[&[_]] = &[&[("a", Some(io::ErrorKind::PermissionDenied))]];
        assert_eq!(listed(refused), (names(&["a"]), 1));
    }
}
