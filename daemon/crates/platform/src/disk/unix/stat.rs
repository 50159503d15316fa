//! The attributes of a file as the kernel gives them: `statx` on Linux, `fstatat` elsewhere.

use crate::disk::{FileId, FileKind, Stat};
use rustix::fs::{AtFlags, FileType, RawMode};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

pub(super) use sys::{Directory, file, path};

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
    let whole = seconds.checked_mul(1_000_000_000);
    let time = whole.and_then(|whole| whole.checked_add(nanoseconds));
    time.unwrap_or(if seconds < 0 { i64::MIN } else { i64::MAX })
}

fn milliseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds
        .saturating_mul(1_000)
        .saturating_add(nanoseconds.div_euclid(1_000_000))
}

#[cfg(target_os = "linux")]
mod sys {
    use super::{
        AtFlags, BorrowedFd, File, FileId, FileKind, Path, RawMode, Stat, io, kind, milliseconds,
        nanoseconds,
    };
    use rustix::fs::{CWD, Statx, StatxFlags, StatxTimestamp, fstatfs, makedev, statfs, statx};
    use std::os::fd::AsRawFd as _;

    const WANTED: StatxFlags = StatxFlags::BASIC_STATS
        .union(StatxFlags::BTIME)
        .union(StatxFlags::MNT_ID);

    /// File systems whose permission bits are settings of the mount and no attributes of files (`f_type`,
    /// linux/magic.h): FAT, exFAT, both NTFS, SMB in three versions, shared folders of VirtualBox.
    const WITHOUT_MODES: &[u64] = &[
        0x4d44,
        0x2011_bab0,
        0x5346_544e,
        0x7366_746e,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x786f_4256,
    ];
    const FUSE: u64 = 0x6573_5546;

    /// An open directory whose entries are looked at.
    pub(in crate::disk::unix) struct Directory<'a> {
        fd: BorrowedFd<'a>,
        /// The kind of the file system; `None` if it can't be found out.
        filesystem: Option<u64>,
    }

    impl<'a> Directory<'a> {
        pub(in crate::disk::unix) fn new(fd: BorrowedFd<'a>) -> Self {
            Self {
                fd,
                filesystem: fstatfs(fd).ok().and_then(|found| magic(&found)),
            }
        }

        pub(in crate::disk::unix) fn stat(&self, name: &Path) -> io::Result<Stat> {
            let found = statx(self.fd, name, AtFlags::SYMLINK_NOFOLLOW, WANTED)?;
            Ok(convert(&found, || self.filesystem))
        }
    }

    pub(in crate::disk::unix) fn path(dir: BorrowedFd<'_>, name: &Path) -> io::Result<Stat> {
        let found = statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, WANTED)?;
        Ok(convert(&found, || {
            let filesystem = if dir.as_raw_fd() == CWD.as_raw_fd() {
                statfs(name)
            } else {
                fstatfs(dir)
            };
            magic(&filesystem.ok()?)
        }))
    }

    pub(in crate::disk::unix) fn file(file: &File) -> io::Result<Stat> {
        let found = statx(file, c"", AtFlags::EMPTY_PATH, WANTED)?;
        Ok(convert(&found, || magic(&fstatfs(file).ok()?)))
    }

    fn magic(filesystem: &rustix::fs::StatFs) -> Option<u64> {
        u64::try_from(filesystem.f_type).ok()
    }

    /// Returns whether files have permission bits of their own.
    fn keeps_modes(filesystem: u64, device_major: u32) -> bool {
        // What FUSE shows of a block device is NTFS or exFAT; its other file systems have no device.
        let foreign_disk = filesystem == FUSE && device_major != 0;
        !foreign_disk && !WITHOUT_MODES.contains(&filesystem)
    }

    fn executable(found: &Statx, filesystem: impl FnOnce() -> Option<u64>) -> Option<bool> {
        let mode = RawMode::from(found.stx_mode);
        if kind(mode) != FileKind::File {
            return Some(mode & 0o100 != 0);
        }
        filesystem()
            .is_none_or(|filesystem| keeps_modes(filesystem, found.stx_dev_major))
            .then_some(mode & 0o100 != 0)
    }

    fn convert(found: &Statx, filesystem: impl FnOnce() -> Option<u64>) -> Stat {
        let time = |t: StatxTimestamp| nanoseconds(t.tv_sec, i64::from(t.tv_nsec));
        let has = |field: StatxFlags| found.stx_mask & field.bits() != 0;
        Stat {
            kind: kind(RawMode::from(found.stx_mode)),
            size: found.stx_size,
            mtime_ns: time(found.stx_mtime),
            modified_ms: milliseconds(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec.into()),
            ctime_ns: time(found.stx_ctime),
            file_id: FileId {
                device: makedev(found.stx_dev_major, found.stx_dev_minor),
                inode: found.stx_ino,
            },
            birth_ns: has(StatxFlags::BTIME).then(|| time(found.stx_btime)),
            executable: executable(found, filesystem),
            links: u64::from(found.stx_nlink),
            mount: has(StatxFlags::MNT_ID).then_some(found.stx_mnt_id),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn disks_of_windows_keep_no_modes() {
            let (ext4, tmpfs, fat, smb) = (0xef53, 0x0102_1994, 0x4d44, 0xfe53_4d42);
            assert!(keeps_modes(ext4, 8) && keeps_modes(tmpfs, 0));
            assert!(!keeps_modes(fat, 8) && !keeps_modes(smb, 0));
            assert!(keeps_modes(FUSE, 0), "sshfs");
            assert!(!keeps_modes(FUSE, 8), "ntfs-3g");
        }

        #[test]
        fn a_path_an_entry_and_an_open_file_are_the_same() {
            let dir = tempfile::tempdir().unwrap();
            let at = dir.path().join("f");
            std::fs::write(&at, b"").unwrap();
            let open = File::open(dir.path()).unwrap();
            let directory = std::os::fd::AsFd::as_fd(&open);
            let name = Path::new("f");
            let stat = file(&File::open(&at).unwrap()).unwrap();
            assert_eq!(stat.executable, Some(false));
            assert_eq!(path(CWD, &at).unwrap(), stat);
            assert_eq!(path(directory, name).unwrap(), stat);
            assert_eq!(Directory::new(directory).stat(name).unwrap(), stat);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use super::{
        AtFlags, BorrowedFd, File, FileId, Path, Stat, io, kind, milliseconds, nanoseconds,
    };
    use rustix::fs::{fstat, statat};

    /// An open directory whose entries are looked at.
    pub(in crate::disk::unix) struct Directory<'a> {
        fd: BorrowedFd<'a>,
        keeps_modes: bool,
    }

    impl<'a> Directory<'a> {
        pub(in crate::disk::unix) fn new(fd: BorrowedFd<'a>) -> Self {
            Self {
                fd,
                keeps_modes: keeps_modes(fd),
            }
        }

        pub(in crate::disk::unix) fn stat(&self, name: &Path) -> io::Result<Stat> {
            let found = statat(self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(convert(&found, self.keeps_modes))
        }
    }

    pub(in crate::disk::unix) fn path(dir: BorrowedFd<'_>, name: &Path) -> io::Result<Stat> {
        let found = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(convert(&found, keeps_modes(dir)))
    }

    pub(in crate::disk::unix) fn file(file: &File) -> io::Result<Stat> {
        Ok(convert(&fstat(file)?, keeps_modes(file)))
    }

    /// Returns whether the files beside an open one, or in an open directory, have permission bits of their own.
    #[cfg(target_os = "macos")]
    fn keeps_modes(open: impl std::os::fd::AsFd) -> bool {
        let Ok(found) = rustix::fs::fstatfs(open) else {
            return true;
        };
        let name = found.f_fstypename.iter().map(|c| c.to_ne_bytes()[0]);
        let name: Vec<u8> = name.take_while(|byte| *byte != 0).collect();
        let without: [&[u8]; 4] = [b"msdos", b"exfat", b"ntfs", b"smbfs"];
        !without.contains(&name.as_slice())
    }

    #[cfg(not(target_os = "macos"))]
    fn keeps_modes(_open: impl std::os::fd::AsFd) -> bool {
        true
    }

    fn convert(found: &rustix::fs::Stat, keeps_modes: bool) -> Stat {
        #[cfg(target_os = "macos")]
        let birth = Some(nanoseconds(found.st_birthtime, found.st_birthtime_nsec));
        #[cfg(not(target_os = "macos"))]
        let birth = None;
        Stat {
            kind: kind(found.st_mode),
            size: u64::try_from(found.st_size).unwrap_or(0),
            mtime_ns: nanoseconds(found.st_mtime, found.st_mtime_nsec),
            modified_ms: milliseconds(found.st_mtime, found.st_mtime_nsec),
            ctime_ns: nanoseconds(found.st_ctime, found.st_ctime_nsec),
            file_id: FileId {
                device: u64::try_from(found.st_dev).unwrap_or(0),
                inode: found.st_ino,
            },
            birth_ns: birth,
            executable: keeps_modes.then_some(found.st_mode & 0o100 != 0),
            links: u64::from(found.st_nlink),
            mount: None,
        }
    }
}
