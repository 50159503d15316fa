//! The file system of a path on Windows: the serial number of its volume, and whether it is a share.

use super::{Filesystem, FilesystemKind};
use std::io;
use std::path::{Component, Path, Prefix};

pub(super) fn of(path: &Path) -> io::Result<Filesystem> {
    let path = std::fs::canonicalize(path)?;
    let serial = match file_id::get_file_id(&path)? {
        file_id::FileId::Inode { device_id, .. } => device_id,
        file_id::FileId::LowRes {
            volume_serial_number,
            ..
        } => u64::from(volume_serial_number),
        file_id::FileId::HighRes {
            volume_serial_number,
            ..
        } => volume_serial_number,
    };
    Ok(Filesystem {
        // Written when the volume is formatted.
        identity: Some(serial),
        device: serial,
        mount: None,
        kind: kind(&path),
        type_name: String::new(),
    })
}

/// Returns the kind by the path: in a canonical path, the drive letter of a share is the share.
fn kind(path: &Path) -> FilesystemKind {
    match path.components().next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::UNC(..) | Prefix::VerbatimUNC(..) => FilesystemKind::Network,
            Prefix::Verbatim(_)
            | Prefix::VerbatimDisk(_)
            | Prefix::DeviceNS(_)
            | Prefix::Disk(_) => FilesystemKind::Local,
        },
        Some(
            Component::RootDir | Component::CurDir | Component::ParentDir | Component::Normal(_),
        )
        | None => FilesystemKind::Local,
    }
}
