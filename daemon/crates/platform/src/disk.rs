//! The file system interface that the engine uses.
//!
//! [`RealDisk`] implements it on this machine; the simulator implements it in memory, with crashes.
//! It knows nothing of nodes, trees or ignore rules, and it never follows a symbolic link in the last
//! component of a path. Every call blocks.

#[cfg(unix)]
mod attributes;
mod error;
mod real;
#[cfg(unix)]
mod replace;
#[cfg(test)]
mod tests;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
mod writeback;

pub use error::{TargetChanged, in_context, is_target_changed};
pub use real::RealDisk;

use crate::names::{self, NameProblem};
use cairn_model::Name;
use std::ffi::OsString;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The kind of a directory entry, as far as sync needs it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileKind {
    File,
    Dir,
    Symlink,
    /// A socket, a pipe, a device, or a reparse point that is no symbolic link.
    Other,
}

/// The file system's own identity of a file; stays across renames, but may be given out again after
/// the file is gone (therefore compare [`Stat::birth_ns`] too).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileId {
    pub device: u64,
    pub inode: u64,
}

/// The attributes of one path. Times are nanoseconds since 1970-01-01 UTC but where they say something else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stat {
    pub kind: FileKind,
    /// Length in bytes; without meaning for anything but files.
    pub size: u64,
    /// The first or the last time that fits, where the file's is beyond it (before 1677, after 2262).
    pub mtime_ns: i64,
    /// The modification time in whole milliseconds, which has the years that nanoseconds can't.
    pub modified_ms: i64,
    /// Time of the last change of content or attributes; equals `mtime_ns` where there is none.
    pub ctime_ns: i64,
    pub file_id: FileId,
    /// Time of creation, where the file system keeps it.
    pub birth_ns: Option<i64>,
    /// The owner-executable bit; `None` where the disk keeps none, whatever it shows: FAT and network drives of
    /// Windows give all files the same.
    pub executable: Option<bool>,
    /// The number of hard links.
    pub links: u64,
    /// The mount that the entry lies in; for a mount point, the one that is mounted there. A directory
    /// whose mount or device differs from its parent's is another file system, or the same one bound
    /// to a second path. `None` where the system has no such id (Linux before 5.8, other systems).
    pub mount: Option<u64>,
}

impl Stat {
    /// Returns the part that has to be equal for the file to count as untouched.
    #[must_use]
    pub fn key(&self) -> StatKey {
        StatKey {
            kind: self.kind,
            size: self.size,
            mtime_ns: self.mtime_ns,
            ctime_ns: self.ctime_ns,
            file_id: self.file_id,
            executable: self.executable,
        }
    }
}

/// The part of a [`Stat`] that changes with every edit, but for one within a tick of the file system's clock that
/// keeps size and modification time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StatKey {
    pub kind: FileKind,
    pub size: u64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
    pub file_id: FileId,
    pub executable: Option<bool>,
}

impl StatKey {
    /// Returns whether both describe the same content of the same file.
    ///
    /// Leaves out the change time and the mode, which a rename or a swap may touch by itself.
    #[must_use]
    pub fn same_content(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.size == other.size
            && self.mtime_ns == other.mtime_ns
            && self.file_id == other.file_id
    }
}

/// The expected state of the target of [`Disk::replace`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// No file at all.
    Absent,
    /// The file that has this key, untouched since.
    Same(StatKey),
}

/// One name in a directory, with what is known about it.
#[derive(Debug)]
pub struct Entry {
    pub name: OsString,
    /// An error here concerns this one name, not the listing. A name that vanished meanwhile is left out of the listing,
    /// once what has come in its place was looked for.
    pub stat: io::Result<Stat>,
}

/// A file opened for reading.
pub trait ReadSeek: Read + Seek + Send {
    /// Stats the opened file itself, whatever its path names by now.
    ///
    /// # Errors
    /// Returns the error of the file system.
    fn stat(&self) -> io::Result<Stat>;
}

/// A file that grows beside its final place until [`Disk::replace`] puts it there.
pub trait TempFile: Read + Write + Seek + Send {
    /// Returns the path of the file.
    fn path(&self) -> &Path;

    /// Stats the opened file.
    ///
    /// # Errors
    /// Returns the error of the file system.
    fn stat(&self) -> io::Result<Stat>;

    /// Cuts or extends the file to `len` bytes; the position stays.
    ///
    /// # Errors
    /// Returns the error of the file system; a full disk is [`io::ErrorKind::StorageFull`].
    fn set_len(&mut self, len: u64) -> io::Result<()>;

    /// Sets the modification time, in milliseconds since 1970-01-01 UTC. Call it after the last write.
    ///
    /// # Errors
    /// Returns the error of the file system.
    fn set_modified(&mut self, ms: i64) -> io::Result<()>;

    /// Sets or clears the executable bits (for whoever may read); does nothing where there are none.
    ///
    /// # Errors
    /// Returns the error of the file system.
    fn set_executable(&mut self, executable: bool) -> io::Result<()>;

    /// Waits until content and attributes are on the medium.
    ///
    /// # Errors
    /// Returns the error of the file system; the content must then be taken as lost.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file system, reduced to what sync needs. Errors carry the operation and the path.
pub trait Disk: Send + Sync {
    /// Checks that a name can exist on this disk; by the usual rules of this system, if the disk has no
    /// others.
    ///
    /// # Errors
    /// [`NameProblem`] with the reason.
    fn check_name(&self, name: &Name) -> Result<(), NameProblem> {
        names::check_name(name)
    }

    /// Lists a directory, sorted by the bytes of the names, each with its stat.
    ///
    /// # Errors
    /// `NotFound`, `NotADirectory` (a symbolic link counts as none), `PermissionDenied`. A listing that
    /// breaks off is an error as a whole: a partial one would look like deletions.
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>>;

    /// Stats what lies at `path`, not what a symbolic link there points to.
    ///
    /// # Errors
    /// `NotFound`, or the file system's.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Opens a regular file for reading, without following a symbolic link.
    ///
    /// # Errors
    /// `InvalidInput` for anything but a regular file, or the file system's.
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>>;

    /// Opens `dir/name` for writing, positioned at its start; makes `dir` (private to the user) and the
    /// file where they are missing, and keeps what an earlier run left in the file.
    ///
    /// # Errors
    /// `InvalidInput` where something other than a regular file lies there, or the file system's.
    fn create_temp(&self, dir: &Path, name: &str) -> io::Result<Box<dyn TempFile>>;

    /// Puts the file `temp` at `target` in one atomic step, if `target` is as expected, and returns the
    /// stat of what lies at `target` then.
    ///
    /// With [`Expect::Same`] the file that was displaced lies at `temp` afterwards, so that the caller
    /// can keep it in the trash; the new file takes over its permissions (except for the executable bits,
    /// which are those of `temp`, and set-user-ID), and on Unix, as far as this user may set them, its
    /// owner, group, extended attributes and access lists. Other hard links keep the old content. With
    /// [`Expect::Absent`] nothing is left at `temp`; on Unix the new file gets the group and the access list that its
    /// directory hands down.
    /// Both paths must be on the same file system.
    ///
    /// # Errors
    /// [`TargetChanged`] (see [`is_target_changed`]) where `target` is not as expected: it is untouched
    /// then, even if the edit came in the last moment, and `temp` is still there. `CrossesDevices`
    /// where the two lie on different file systems, or the file system's.
    fn replace(&self, temp: &Path, target: &Path, expect: Expect) -> io::Result<Stat>;

    /// Renames a file or directory; never replaces anything. A change of case alone works, also where
    /// the file system ignores case. A directory whose owner has no right to write in it keeps its mode, and moves.
    ///
    /// # Errors
    /// `AlreadyExists` where something lies at `to`, `NotFound`, `CrossesDevices`, or the file system's.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes one directory, whose parent exists.
    ///
    /// # Errors
    /// `AlreadyExists`, `NotFound` (no parent), or the file system's.
    fn mkdir(&self, path: &Path) -> io::Result<Stat>;

    /// Gives this user, who owns a directory, the right to write in it: what is in it can be removed then. Does
    /// nothing where directories have no such right.
    ///
    /// # Errors
    /// `PermissionDenied` for a directory of somebody else, or the file system's.
    fn make_writable(&self, dir: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// `DirectoryNotEmpty`, `NotADirectory`, `NotFound`, or the file system's.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Removes a file or a symbolic link.
    ///
    /// # Errors
    /// `NotFound`, `IsADirectory`, or the file system's.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Sets or clears the executable bits of a file and returns its new stat.
    ///
    /// # Errors
    /// `InvalidInput` for anything but a regular file, or the file system's.
    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<Stat>;

    /// Waits until the names in these directories are on the medium (renames, creations, removals).
    /// A directory that is gone is skipped.
    ///
    /// # Errors
    /// Returns the error of the file system.
    fn sync_dirs(&self, dirs: &[PathBuf]) -> io::Result<()>;

    /// Waits until everything written so far to the file system of `root` is on the medium: one call
    /// makes a whole batch of files and names durable.
    ///
    /// # Errors
    /// Returns the error of the file system.
    fn sync_all(&self, root: &Path) -> io::Result<()>;

    /// The number of bytes that this user can still write on the file system of `path`.
    ///
    /// # Errors
    /// Returns the error of the file system.
    fn free_space(&self, path: &Path) -> io::Result<u64>;

    /// The number of files and folders that can still be made on the file system of `path`; `None` if it has no such
    /// limit.
    ///
    /// # Errors
    /// Returns the error of the file system.
    fn free_files(&self, _path: &Path) -> io::Result<Option<u64>> {
        Ok(None)
    }
}
