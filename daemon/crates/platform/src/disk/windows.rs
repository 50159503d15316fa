//! The disk on Windows, through the standard library.
//!
//! Has no executable bit and no change time; a rename there is durable once the file system's log is.

use super::{Entry, Expect, FileId, FileKind, Stat, TargetChanged};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Opens the link itself instead of what it points to (`FILE_FLAG_OPEN_REPARSE_POINT`).
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// `FILE_ATTRIBUTE_REPARSE_POINT`.
const REPARSE_POINT: u32 = 0x400;
/// The time from 1601-01-01, the epoch of Windows, to 1970-01-01, in units of 100 ns.
const EPOCH_DISTANCE: u64 = 116_444_736_000_000_000;

/// A path that was checked for symbolic links on the way.
pub(super) struct ResolvedPath<'a> {
    path: &'a Path,
}

impl<'a> ResolvedPath<'a> {
    /// Resolves a path; below `root`, refuses a parent that is a symbolic link or a junction.
    pub(super) fn new(path: &'a Path, root: Option<&Path>) -> io::Result<Self> {
        let between = root
            .and_then(|root| path.strip_prefix(root).ok()?.parent())
            .unwrap_or(Path::new(""));
        let mut reached = root.map(Path::to_path_buf).unwrap_or_default();
        for name in between {
            reached.push(name);
            if std::fs::symlink_metadata(&reached)?.file_attributes() & REPARSE_POINT != 0 {
                return Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    "a link is in the place of a directory; links are not followed",
                ));
            }
        }
        Ok(Self { path })
    }
}

pub(super) fn list(place: &ResolvedPath<'_>) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    if stat(place)?.kind != FileKind::Dir {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    for found in std::fs::read_dir(place.path)? {
        let name = found?.file_name();
        let stat = stat_path(&place.path.join(&name));
        if !matches!(&stat, Err(e) if e.kind() == io::ErrorKind::NotFound) {
            entries.push(Entry { name, stat });
        }
    }
    entries.sort_unstable_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
    Ok(entries)
}

pub(super) fn stat(place: &ResolvedPath<'_>) -> io::Result<Stat> {
    stat_path(place.path)
}

fn stat_path(path: &Path) -> io::Result<Stat> {
    convert(&std::fs::symlink_metadata(path)?, path)
}

pub(super) fn stat_file(file: &File, path: &Path) -> io::Result<Stat> {
    convert(&file.metadata()?, path)
}

fn convert(found: &Metadata, path: &Path) -> io::Result<Stat> {
    let kind = if found.is_symlink() {
        FileKind::Symlink
    } else if found.is_dir() {
        FileKind::Dir
    } else if found.file_attributes() & REPARSE_POINT != 0 {
        FileKind::Other
    } else {
        FileKind::File
    };
    let file_id = match kind {
        FileKind::File | FileKind::Dir => identity(path)?,
        FileKind::Symlink | FileKind::Other => FileId::default(),
    };
    let mtime_ns = nanoseconds(found.last_write_time());
    Ok(Stat {
        kind,
        size: found.file_size(),
        mtime_ns,
        modified_ms: milliseconds(found.last_write_time()),
        ctime_ns: mtime_ns,
        file_id,
        birth_ns: Some(nanoseconds(found.creation_time())),
        executable: None,
        links: 1,
        mount: None,
    })
}

fn identity(path: &Path) -> io::Result<FileId> {
    Ok(match file_id::get_file_id(path)? {
        file_id::FileId::Inode {
            device_id,
            inode_number,
        } => FileId {
            device: device_id,
            inode: inode_number,
        },
        file_id::FileId::LowRes {
            volume_serial_number,
            file_index,
        } => FileId {
            device: u64::from(volume_serial_number),
            inode: file_index,
        },
        // ReFS has 128 bits, of which it uses the upper ones for the directory: fold them in.
        file_id::FileId::HighRes {
            volume_serial_number,
            file_id,
        } => FileId {
            device: volume_serial_number,
            inode: (file_id as u64) ^ ((file_id >> 64) as u64).rotate_left(32),
        },
    })
}

fn nanoseconds(filetime: u64) -> i64 {
    since_1970(filetime).saturating_mul(100)
}

fn milliseconds(filetime: u64) -> i64 {
    since_1970(filetime).div_euclid(10_000)
}

/// Returns the steps of 100 ns since 1970-01-01 UTC.
fn since_1970(filetime: u64) -> i64 {
    i64::try_from(filetime)
        .unwrap_or(i64::MAX)
        .saturating_sub_unsigned(EPOCH_DISTANCE)
}

pub(super) fn open(place: &ResolvedPath<'_>) -> io::Result<File> {
    open_regular(OpenOptions::new().read(true), place)
}

pub(super) fn open_temp(place: &ResolvedPath<'_>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    open_regular(
        options.read(true).write(true).create(true).truncate(false),
        place,
    )
}

fn open_regular(options: &mut OpenOptions, place: &ResolvedPath<'_>) -> io::Result<File> {
    let file = options.custom_flags(OPEN_REPARSE_POINT).open(place.path)?;
    if stat_file(&file, place.path)?.kind == FileKind::File {
        return Ok(file);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is not a regular file",
    ))
}

pub(super) fn make_private_dir(place: &ResolvedPath<'_>) -> io::Result<()> {
    match std::fs::create_dir(place.path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

pub(super) fn mkdir(place: &ResolvedPath<'_>) -> io::Result<()> {
    std::fs::create_dir(place.path)
}

/// Does nothing: what is in a directory that is marked read-only can be removed.
pub(super) fn make_writable(_dir: &ResolvedPath<'_>) -> io::Result<()> {
    Ok(())
}

pub(super) fn remove_dir(place: &ResolvedPath<'_>) -> io::Result<()> {
    std::fs::remove_dir(place.path)
}

pub(super) fn remove_file(place: &ResolvedPath<'_>) -> io::Result<()> {
    std::fs::remove_file(place.path)
}

pub(super) fn set_executable(_file: &File, _executable: bool) -> io::Result<()> {
    Ok(())
}

pub(super) fn replace(
    temp: &ResolvedPath<'_>,
    target: &ResolvedPath<'_>,
    expect: Expect,
) -> io::Result<Stat> {
    let changed = || TargetChanged::into_io(target.path);
    let Expect::Same(key) = expect else {
        return match rename(temp, target) {
            Ok(()) => stat(target),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(changed()),
            Err(e) => Err(e),
        };
    };
    let untouched = || {
        stat(target)
            .is_ok_and(|found| found.kind == FileKind::File && found.key().same_content(&key))
    };
    if !untouched() {
        return Err(changed());
    }
    // A second name keeps the old file, so that it ends up at `temp` for the trash.
    let kept = temp.path.with_added_extension("old");
    match std::fs::remove_file(&kept) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    if std::fs::hard_link(target.path, &kept).is_err() {
        std::fs::copy(target.path, &kept)?;
    }
    if !untouched() {
        std::fs::remove_file(&kept)?;
        return Err(changed());
    }
    if let Err(e) = std::fs::rename(temp.path, target.path) {
        std::fs::remove_file(&kept)?;
        return Err(e);
    }
    std::fs::rename(&kept, temp.path)?;
    stat(target)
}

pub(super) fn rename(from: &ResolvedPath<'_>, to: &ResolvedPath<'_>) -> io::Result<()> {
    let respelled = from.path.parent() == to.path.parent()
        && stat(from)?.file_id == stat(to).map(|s| s.file_id).unwrap_or_default();
    if respelled || stat(from)?.kind == FileKind::Dir {
        // A directory is never renamed over anything, and a respelled name is the file's own.
        return std::fs::rename(from.path, to.path);
    }
    match std::fs::hard_link(from.path, to.path) {
        Ok(()) => std::fs::remove_file(from.path),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(e),
        // FAT has no hard links: look, then rename.
        Err(_) if stat(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from.path, to.path),
    }
}

pub(super) fn sync_dirs(_dirs: &[PathBuf]) -> io::Result<()> {
    Ok(())
}

pub(super) fn sync_all(_root: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn free_space(path: &Path) -> io::Result<u64> {
    fs4::available_space(path)
}

pub(super) fn free_files(_path: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}
