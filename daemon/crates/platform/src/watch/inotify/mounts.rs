//! The system's table of mounts: which mount points have come or gone.
//!
//! inotify tells nothing of a file system that is mounted on a watched directory, and of one that goes only if
//! nobody else has it mounted. The table can be waited for: it becomes urgent (`POLLPRI`) with each change.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

const TABLE: &str = "/proc/self/mountinfo";

/// A mount: its id and its device, and the directory that it is mounted on.
type Mount = (String, String, PathBuf);

#[derive(Debug)]
pub(super) struct Mounts {
    /// Open only to be waited for.
    table: File,
    known: BTreeSet<Mount>,
}

impl Mounts {
    pub(super) fn open() -> io::Result<Self> {
        // Opened before it is read: what changes in between makes it urgent.
        let table = File::open(TABLE)?;
        let known = parse(&std::fs::read(TABLE)?);
        Ok(Self { table, known })
    }

    /// Returns the mount points that have come or gone since the last call.
    pub(super) fn changed_points(&mut self) -> io::Result<BTreeSet<PathBuf>> {
        let present = parse(&std::fs::read(TABLE)?);
        let changed = present.symmetric_difference(&self.known);
        let points = changed.map(|(_, _, point)| point.clone()).collect();
        self.known = present;
        Ok(points)
    }
}

impl AsFd for Mounts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.table.as_fd()
    }
}

/// Reads the table (proc_pid_mountinfo(5)): the first field of a line is the id of the mount, the third one the
/// device, and the fifth one the mount point.
fn parse(table: &[u8]) -> BTreeSet<Mount> {
    let lines = table.split(|byte| *byte == b'\n');
    let mounts = lines.filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ');
        let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
        let id = text(fields.next()?);
        let device = text(fields.nth(1)?);
        let point = unescape(fields.nth(1)?);
        Some((id, device, PathBuf::from(OsString::from_vec(point))))
    });
    mounts.collect()
}

/// Returns the bytes of a field, in which blanks and backslashes are written as three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\');
        let value = octal.and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        match value {
            Some(byte) => {
                out.push(byte);
                rest = &after[3..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_with_their_blanks() {
        let table = b"22 27 0:21 / /proc rw,relatime - proc proc rw\n\
            36 35 98:0 /mnt1 /home/u/my\\040disk\\134x rw,noatime master:1 - ext3 /dev/root rw\n\
            broken\n";
        let points: Vec<PathBuf> = parse(table).into_iter().map(|mount| mount.2).collect();
        assert_eq!(
            points,
            [PathBuf::from("/proc"), PathBuf::from("/home/u/my disk\\x")]
        );
    }

    #[test]
    fn an_unchanged_table_names_nothing_of_this_process() {
        let mut mounts = Mounts::open().unwrap();
        assert!(!mounts.known.is_empty());
        let dir = tempfile::tempdir().unwrap();
        let changed = mounts.changed_points().unwrap();
        // Others may mount something meanwhile, but not here.
        assert!(changed.iter().all(|point| !point.starts_with(dir.path())));
    }
}
