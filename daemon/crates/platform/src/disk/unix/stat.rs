//! The attributes of a file as the kernel gives them: `statx` on Linux, `fstatat` elsewhere.

use crate::disk::{FileId, FileKind, Stat};
use rustix::fs::{AtFlags, FileType, RawMode};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

pub(super) use sys::{file, path};

fn kind(mode: RawMode) -> FileKind {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Dir,
        FileType::Symlink => FileKind::Symlink,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => FileKind::Other,
    }
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}

#[cfg(target_os = "linux")]
mod sys {
    use super::{AtFlags, BorrowedFd, File, FileId, Path, RawMode, Stat, io, kind, nanoseconds};
    use rustix::fs::{StatxFlags, StatxTimestamp, makedev, statx};

    const WANTED: StatxFlags = StatxFlags::BASIC_STATS
        .union(StatxFlags::BTIME)
        .union(StatxFlags::MNT_ID);

    pub(in crate::disk::unix) fn path(dir: BorrowedFd<'_>, name: &Path) -> io::Result<Stat> {
        let found = statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, WANTED)?;
        Ok(convert(&found))
    }

    pub(in crate::disk::unix) fn file(file: &File) -> io::Result<Stat> {
        Ok(convert(&statx(file, c"", AtFlags::EMPTY_PATH, WANTED)?))
    }

    fn convert(found: &rustix::fs::Statx) -> Stat {
        let time = |t: StatxTimestamp| nanoseconds(t.tv_sec, i64::from(t.tv_nsec));
        let has = |field: StatxFlags| found.stx_mask & field.bits() != 0;
        Stat {
            kind: kind(RawMode::from(found.stx_mode)),
            size: found.stx_size,
            mtime_ns: time(found.stx_mtime),
            ctime_ns: time(found.stx_ctime),
            file_id: FileId {
                device: makedev(found.stx_dev_major, found.stx_dev_minor),
                inode: found.stx_ino,
            },
            birth_ns: has(StatxFlags::BTIME).then(|| time(found.stx_btime)),
            executable: found.stx_mode & 0o100 != 0,
            links: u64::from(found.stx_nlink),
            mount: has(StatxFlags::MNT_ID).then_some(found.stx_mnt_id),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use super::{AtFlags, BorrowedFd, File, FileId, Path, Stat, io, kind, nanoseconds};
    use rustix::fs::{fstat, statat};

    pub(in crate::disk::unix) fn path(dir: BorrowedFd<'_>, name: &Path) -> io::Result<Stat> {
        Ok(convert(&statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    pub(in crate::disk::unix) fn file(file: &File) -> io::Result<Stat> {
        Ok(convert(&fstat(file)?))
    }

    fn convert(found: &rustix::fs::Stat) -> Stat {
        #[cfg(target_os = "macos")]
        let birth = Some(nanoseconds(found.st_birthtime, found.st_birthtime_nsec));
        #[cfg(not(target_os = "macos"))]
        let birth = None;
        Stat {
            kind: kind(found.st_mode),
            size: u64::try_from(found.st_size).unwrap_or(0),
            mtime_ns: nanoseconds(found.st_mtime, found.st_mtime_nsec),
            ctime_ns: nanoseconds(found.st_ctime, found.st_ctime_nsec),
            file_id: FileId {
                device: u64::try_from(found.st_dev).unwrap_or(0),
                inode: found.st_ino,
            },
            birth_ns: birth,
            executable: found.st_mode & 0o100 != 0,
            links: u64::from(found.st_nlink),
            mount: None,
        }
    }
}
