//! The file system of a path on Linux: `statx`, `statfs`, and the table of mounts.

use super::{Filesystem, FilesystemKind, kind_of_type};
use crate::fnv::fnv1a_64;
use rustix::fs::{AtFlags, CWD, StatxFlags, major, makedev, minor, statfs, statvfs, statx};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

pub(super) fn of(path: &Path) -> io::Result<Filesystem> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let found = statx(CWD, path, AtFlags::empty(), wanted)?;
    let device = makedev(found.stx_dev_major, found.stx_dev_minor);
    let mount = (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id);
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let type_name = mount
        .and_then(|mount| type_of_mount(&table, mount))
        .unwrap_or_default();
    let magic = u64::try_from(statfs(path)?.f_type).unwrap_or_default();
    let kind = match kind_of_type(&type_name) {
        FilesystemKind::Local => kind_of_magic(magic),
        kind @ (FilesystemKind::Network | FilesystemKind::Pseudo) => kind,
    };
    Ok(Filesystem {
        identity: identity(path, magic, device)?,
        device,
        mount,
        kind,
        type_name,
    })
}

/// Finds the type of a mount in `/proc/PID/mountinfo` (proc_pid_mountinfo(5)): the first field of a
/// line is the id of the mount, the first one after ` - ` the type.
fn type_of_mount(table: &str, mount: u64) -> Option<String> {
    let id = mount.to_string();
    let line = table
        .lines()
        .find(|line| line.split(' ').next() == Some(id.as_str()))?;
    let (_, rest) = line.split_once(" - ")?;
    Some(rest.split(' ').next()?.to_owned())
}

/// Classifies by the magic number of `statfs` (linux/magic.h), for kernels without mount ids.
/// devtmpfs shares its number with tmpfs, so that only the table of mounts has the difference.
fn kind_of_magic(magic: u64) -> FilesystemKind {
    match magic {
        // proc, sysfs, devpts, cgroup, cgroup2, debugfs, securityfs, tracefs, bpf, pstore, efivarfs,
        // selinuxfs, hugetlbfs, mqueue, nsfs, binfmt_misc, configfs, autofs
        0x9fa0 | 0x6265_6572 | 0x1cd1 | 0x0027_e0eb | 0x6367_7270 | 0x6462_6720 | 0x7363_6673
        | 0x7472_6163 | 0xcafe_4a11 | 0x6165_676c | 0xde5e_81e4 | 0xf97c_ff8c | 0x9584_58f6
        | 0x1980_0202 | 0x6e73_6673 | 0x4249_4e4d | 0x6265_6570 | 0x0187 => FilesystemKind::Pseudo,
        // nfs, smb, cifs, smb2, ceph, afs, coda, 9p
        0x6969 | 0x517b | 0xff53_4d42 | 0xfe53_4d42 | 0x00c3_6400 | 0x5346_414f | 0x7375_7245
        | 0x0102_1997 => FilesystemKind::Network,
        _ => FilesystemKind::Local,
    }
}

/// Returns an identity that survives the next mount.
///
/// ext2 to ext4, btrfs, f2fs, bcachefs and ZFS make `f_fsid` from the UUID on the medium (btrfs also
/// from the subvolume). Others make it from the device number, so for them the UUID that udev found on
/// the block device counts, if there is one.
fn identity(path: &Path, magic: u64, device: u64) -> io::Result<Option<u64>> {
    const EXT: u64 = 0xef53;
    const BTRFS: u64 = 0x9123_683e;
    const F2FS: u64 = 0xf2f5_2010;
    const BCACHEFS: u64 = 0xca45_1a4e;
    const ZFS: u64 = 0x2fc1_2fc1;
    if [EXT, BTRFS, F2FS, BCACHEFS, ZFS].contains(&magic) {
        let id = statvfs(path)?.f_fsid;
        return Ok((id != 0).then_some(id));
    }
    Ok(
        uuid_of_device(Path::new("/dev/disk/by-uuid"), device)
            .map(|uuid| fnv1a_64(uuid.as_bytes())),
    )
}

/// Finds the name of the link in `dir` that leads to the block device.
fn uuid_of_device(dir: &Path, device: u64) -> Option<String> {
    // Major number 0: no block device, as in memory or on the network.
    if major(device) == 0 {
        return None;
    }
    let links = std::fs::read_dir(dir).ok()?;
    let found = links.flatten().find(|link| {
        std::fs::metadata(link.path()).is_ok_and(|target| {
            let number = target.rdev();
            (major(number), minor(number)) == (major(device), minor(device))
        })
    })?;
    Some(found.file_name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
41 27 0:52 / /home/u/far rw,nosuid shared:9 - fuse.sshfs host:/srv rw,user_id=1000
";

    #[test]
    fn the_type_of_a_mount_stands_behind_the_optional_fields() {
        assert_eq!(type_of_mount(TABLE, 36).as_deref(), Some("ext3"));
        assert_eq!(type_of_mount(TABLE, 41).as_deref(), Some("fuse.sshfs"));
        assert_eq!(type_of_mount(TABLE, 3), None);
    }

    #[test]
    fn magic_numbers_are_recognised_without_a_table() {
        assert_eq!(kind_of_magic(0x9fa0), FilesystemKind::Pseudo);
        assert_eq!(kind_of_magic(0x6969), FilesystemKind::Network);
        assert_eq!(kind_of_magic(0xef53), FilesystemKind::Local);
    }

    #[test]
    fn the_mount_of_proc_differs_from_that_of_the_root() {
        let (root, proc) = (of(Path::new("/")).unwrap(), of(Path::new("/proc")).unwrap());
        assert_ne!(root.device, proc.device);
        assert!(root.mount.is_none() || root.mount != proc.mount);
    }

    #[test]
    fn a_device_without_a_uuid_has_no_identity() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(uuid_of_device(dir.path(), makedev(8, 1)), None);
        assert_eq!(uuid_of_device(dir.path(), makedev(0, 40)), None);
    }
}
