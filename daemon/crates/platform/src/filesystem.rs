//! The file system that a path lies on: its identity, its mount, and its kind.
//!
//! Gives facts; callers decide what to refuse or to block.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod other;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as sys;
#[cfg(target_os = "macos")]
use macos as sys;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
use other as sys;
#[cfg(windows)]
use windows as sys;

use crate::disk::in_context;
use std::io;
use std::path::Path;

/// The kind of a file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilesystemKind {
    /// Files on a medium of this machine, or in its memory.
    Local,
    /// Files of another machine (NFS, SMB, SSHFS, …): changes made there give no hints, and the files
    /// may be out of reach.
    Network,
    /// No files of anybody: views of the kernel and devices (proc, sysfs, devtmpfs, cgroup, …).
    Pseudo,
}

/// The file system of a path, as it is mounted now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filesystem {
    /// An identity that stays the same when the file system is mounted again, also after a reboot or
    /// under another device number. `None` where the system offers none that can be trusted to stay.
    pub identity: Option<u64>,
    /// The device number that the files have now (`st_dev`); may differ after the next mount.
    pub device: u64,
    /// The mount that the path lies in. Tells two mounts of one file system apart, such as a bind
    /// mount; means nothing after an unmount. `None` where the system has no such id.
    pub mount: Option<u64>,
    /// The kind.
    pub kind: FilesystemKind,
    /// The system's name of the type, such as `ext4`, `nfs4` or `fuse.sshfs`; empty if unknown.
    pub type_name: String,
}

/// Returns the file system of an existing path. Symbolic links are followed.
///
/// # Errors
/// Returns the error of the system, with the path; for a network file system that doesn't respond, after its timeout.
pub fn of(path: &Path) -> io::Result<Filesystem> {
    sys::of(path).map_err(|e| in_context("find out the file system of", path, e))
}

/// Classifies a file system by the system's name of its type.
#[cfg_attr(
    windows,
    expect(dead_code, reason = "Windows tells a network share by its path")
)]
fn kind_of_type(name: &str) -> FilesystemKind {
    match name {
        "autofs" | "binfmt_misc" | "bpf" | "cgroup" | "cgroup2" | "configfs" | "debugfs"
        | "devfs" | "devpts" | "devtmpfs" | "efivarfs" | "fdescfs" | "fuse.lxcfs"
        | "fuse.portal" | "fusectl" | "hugetlbfs" | "linprocfs" | "mqueue" | "nsfs" | "proc"
        | "procfs" | "pstore" | "rpc_pipefs" | "securityfs" | "selinuxfs" | "sysfs" | "tracefs" => {
            FilesystemKind::Pseudo
        }
        "9p" | "afpfs" | "afs" | "ceph" | "cifs" | "coda" | "fuse.ceph" | "fuse.curlftpfs"
        | "fuse.davfs" | "fuse.glusterfs" | "fuse.gvfsd-fuse" | "fuse.rclone" | "fuse.s3fs"
        | "fuse.sshfs" | "fuse.vmhgfs-fuse" | "gfs2" | "glusterfs" | "lustre" | "ncpfs" | "nfs"
        | "nfs4" | "ocfs2" | "smb2" | "smb3" | "smbfs" | "vboxsf" | "virtiofs" | "webdav" => {
            FilesystemKind::Network
        }
        _ => FilesystemKind::Local,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_classified_by_their_name() {
        for (name, kind) in [
            ("proc", FilesystemKind::Pseudo),
            ("devtmpfs", FilesystemKind::Pseudo),
            ("cgroup2", FilesystemKind::Pseudo),
            ("nfs4", FilesystemKind::Network),
            ("fuse.sshfs", FilesystemKind::Network),
            ("ext4", FilesystemKind::Local),
            ("tmpfs", FilesystemKind::Local),
            ("fuse.gocryptfs", FilesystemKind::Local),
            ("a type of the future", FilesystemKind::Local),
        ] {
            assert_eq!(kind_of_type(name), kind, "{name}");
        }
    }

    #[test]
    fn a_directory_and_a_file_in_it_share_their_file_system() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let found = of(dir.path()).unwrap();
        assert_eq!(of(&file).unwrap(), found);
        assert_ne!(found.kind, FilesystemKind::Pseudo);
    }

    #[test]
    fn a_path_that_does_not_exist_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let error = of(&dir.path().join("missing")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("missing"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn views_of_the_kernel_are_no_place_for_files() {
        for path in ["/proc", "/proc/self", "/sys", "/dev"] {
            let found = of(Path::new(path)).unwrap();
            // A container may have a tmpfs at /dev.
            let in_container = path == "/dev" && found.type_name == "tmpfs";
            assert!(
                found.kind == FilesystemKind::Pseudo || in_container,
                "{path}: {found:?}"
            );
        }
    }
}
