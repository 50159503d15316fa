//! The disk on Unix systems, through `rustix`.
//!
//! Every function takes a [`ResolvedPath`]: a directory handle and one last component, so that what was
//! checked is what is used.

mod lent_right;
mod listing;
mod resolved_path;
mod stat;

pub(super) use super::replace::{rename, replace};
pub(super) use lent_right::{make_writable, move_lent};
pub(super) use listing::list;
pub(super) use resolved_path::ResolvedPath;

use super::{FileKind, Stat};
use resolved_path::not_a_directory;
#[cfg(target_os = "linux")]
use rustix::fs::CWD;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

/// The number of directories from which one `syncfs` is cheaper than an `fsync` each.
#[cfg(target_os = "linux")]
const MANY_DIRS: usize = 16;

pub(super) fn stat(place: &ResolvedPath<'_>) -> io::Result<Stat> {
    stat_at(place.dir(), place.name())
}

pub(super) fn stat_at(dir: BorrowedFd<'_>, name: &Path) -> io::Result<Stat> {
    stat::path(dir, name)
}

pub(super) fn stat_file(file: &File, _path: &Path) -> io::Result<Stat> {
    stat::file(file)
}

pub(super) fn open(place: &ResolvedPath<'_>) -> io::Result<File> {
    // NONBLOCK, so that a pipe without a writer is refused below instead of waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open_regular(place, flags, Mode::empty())
}

pub(super) fn open_temp(place: &ResolvedPath<'_>) -> io::Result<File> {
    let flags =
        OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // The user's umask decides, as for any new file; the directory around it is private.
    let open = || open_regular(place, flags, Mode::from_raw_mode(0o666));
    match open() {
        // It got the rights of the file that it should have replaced, and that failed: a directory or a device of that
        // name is no file of an earlier try.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            if !stat(place).is_ok_and(|stat| stat.kind == FileKind::File) {
                return Err(error);
            }
            remove_file(place)?;
            open()
        }
        opened => opened,
    }
}

fn open_regular(place: &ResolvedPath<'_>, flags: OFlags, mode: Mode) -> io::Result<File> {
    let fd = rustix::fs::openat(place.dir(), place.name(), flags, mode).map_err(|e| match e {
        Errno::LOOP => not_a_file("a symbolic link"),
        // What opening a socket, or a pipe that nobody reads, says.
        Errno::NXIO => not_a_file("a socket or pipe"),
        other => other.into(),
    })?;
    let file = File::from(fd);
    match stat::file(&file)?.kind {
        FileKind::File => Ok(file),
        FileKind::Dir => Err(not_a_file("a directory")),
        FileKind::Symlink => Err(not_a_file("a symbolic link")),
        FileKind::Other => Err(not_a_file("a device, socket or pipe")),
    }
}

fn not_a_file(found: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {found}, not a regular file"),
    )
}

pub(super) fn make_private_dir(place: &ResolvedPath<'_>) -> io::Result<()> {
    match rustix::fs::mkdirat(place.dir(), place.name(), Mode::RWXU) {
        Err(Errno::EXIST) if stat(place)?.kind == FileKind::Dir => Ok(()),
        Err(Errno::EXIST) => Err(not_a_directory()),
        result => Ok(result?),
    }
}

pub(super) fn mkdir(place: &ResolvedPath<'_>) -> io::Result<()> {
    Ok(rustix::fs::mkdirat(
        place.dir(),
        place.name(),
        Mode::from_raw_mode(0o777),
    )?)
}

pub(super) fn remove_dir(place: &ResolvedPath<'_>) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(
        place.dir(),
        place.name(),
        AtFlags::REMOVEDIR,
    )?)
}

pub(super) fn remove_file(place: &ResolvedPath<'_>) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(
        place.dir(),
        place.name(),
        AtFlags::empty(),
    )?)
}

/// Sets or clears the executable bit, where the disk keeps one.
pub(super) fn set_executable(file: &File, executable: bool) -> io::Result<()> {
    if stat::file(file)?.executable.is_none() {
        return Ok(());
    }
    let now = Mode::from_raw_mode(rustix::fs::fstat(file)?.st_mode);
    let wanted = with_executable(now, executable);
    if wanted != now {
        rustix::fs::fchmod(file, wanted)?;
    }
    Ok(())
}

/// Lets everybody who may read the file execute it, or nobody.
pub(super) fn with_executable(mode: Mode, executable: bool) -> Mode {
    let bits = mode.as_raw_mode();
    Mode::from_raw_mode(if executable {
        bits | (bits & 0o444) >> 2 | 0o100
    } else {
        bits & !0o111
    })
}

pub(super) fn sync_dirs(dirs: &[PathBuf]) -> io::Result<()> {
    let mut dirs: Vec<_> = dirs.iter().collect();
    dirs.sort_unstable();
    dirs.dedup();
    #[cfg(target_os = "linux")]
    if dirs.len() >= MANY_DIRS {
        return sync_file_systems(&dirs);
    }
    for dir in dirs {
        sync_dir(dir).map_err(|e| super::in_context("write to the medium", dir, e))?;
    }
    Ok(())
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = match rustix::fs::open(dir, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        result => result?,
    };
    match rustix::fs::fsync(fd) {
        // Some network and user-space file systems have no fsync of directories.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        result => Ok(result?),
    }
}

#[cfg(target_os = "linux")]
fn sync_file_systems(dirs: &[&PathBuf]) -> io::Result<()> {
    let mut done = std::collections::BTreeSet::new();
    for dir in dirs {
        match stat::path(CWD, dir) {
            Ok(stat) if done.insert(stat.file_id.device) => sync_all(dir)
                .map_err(|e| super::in_context("write to the medium what changed in", dir, e))?,
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(super::in_context("find", dir, e)),
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
pub(super) fn sync_all(root: &Path) -> io::Result<()> {
    let fd = rustix::fs::open(root, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(rustix::fs::syncfs(fd)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn sync_all(root: &Path) -> io::Result<()> {
    rustix::fs::sync();
    // `sync` only starts the writing on these systems; a full sync of one file drains the queue.
    File::open(root)?.sync_all()
}

pub(super) fn free_space(path: &Path) -> io::Result<u64> {
    let space = rustix::fs::statvfs(path)?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

pub(super) fn free_files(path: &Path) -> io::Result<Option<u64>> {
    let space = rustix::fs::statvfs(path)?;
    // Those that make inodes as they need them say that they have none.
    Ok((space.f_files > 0).then_some(space.f_favail))
}
