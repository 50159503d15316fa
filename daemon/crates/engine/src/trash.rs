//! The local trash: what sync removes or overwrites on this disk goes there, for 30 days, or less
//! where it takes too much of the disk.
//!
//! Layout: `.cairn-trash/<YYYY-MM-DD HHMMSS[ N]>/<path in the folder>`; the time is UTC. It is on the
//! folder's own file system, so that a move there is one rename.

mod emptying;

pub use emptying::delete;
pub(crate) use emptying::{empty, make_room};

use crate::observe::rules::TRASH_DIR;
use cairn_model::RelPath;
use cairn_platform::{Disk, FileKind};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use time::OffsetDateTime;
use time::macros::format_description;

/// One file or folder in the trash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trashed {
    /// `<time>/<path>`: what `restore` takes.
    pub id: String,
    /// The former path, relative to the folder.
    pub path: RelPath,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Bytes of a file; 0 for a folder.
    pub size: u64,
    pub is_folder: bool,
}

fn stamp(now_ms: i64) -> String {
    let at = OffsetDateTime::from_unix_timestamp(now_ms.div_euclid(1000))
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    at.format(format_description!(
        "[year]-[month]-[day] [hour][minute][second]"
    ))
    .unwrap_or_default()
}

fn parse_stamp(name: &str) -> Option<i64> {
    let layout = format_description!("[year]-[month]-[day] [hour][minute][second]");
    let at = time::PrimitiveDateTime::parse(name.get(..17)?, layout).ok()?;
    Some(at.assume_utc().unix_timestamp() * 1000)
}

/// Moves what lies at `from` (absolute) into the trash of the folder at `root`; `path` is where it
/// belongs. Returns where it lies now.
///
/// # Errors
/// Returns the error of the disk; then it is still at `from`.
pub fn put(
    disk: &dyn Disk,
    root: &Path,
    from: &Path,
    path: &RelPath,
    now_ms: i64,
) -> io::Result<PathBuf> {
    let base = root.join(TRASH_DIR);
    hide_from_git(disk, root, &base);
    let stamp = stamp(now_ms);
    for attempt in 0..10_000_u32 {
        let bucket = if attempt == 0 {
            base.join(&stamp)
        } else {
            base.join(format!("{stamp} {attempt}"))
        };
        let target = path.to_path(&bucket);
        if let Some(parent) = target.parent() {
            make_dirs(disk, root, parent)?;
        }
        match disk.rename(from, &target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                remove_empty_dirs(disk, &base, &target);
                return Err(error);
            }
            Ok(()) => return Ok(target),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "the trash has too many of the same name",
    ))
}

/// Removes the directories above `target`, up to `base`, as far as nothing is in them: a failure that is repeated would
/// leave more of them each time.
fn remove_empty_dirs(disk: &dyn Disk, base: &Path, target: &Path) {
    let above = target.ancestors().skip(1);
    for dir in above.take_while(|dir| *dir != base) {
        if disk.remove_dir(dir).is_err() {
            return;
        }
    }
}

/// Makes the trash, if there is none yet, with a `.gitignore` that leaves out all of it: a synced work tree must not
/// show it as untracked. A failure that matters shows again in the step that follows.
fn hide_from_git(disk: &dyn Disk, root: &Path, base: &Path) {
    let missing = disk.stat(base).map_err(|error| error.kind()) == Err(io::ErrorKind::NotFound);
    if !missing || make_dirs(disk, root, base).is_err() {
        return;
    }
    let written = disk
        .create_temp(base, ".gitignore")
        .and_then(|mut file| file.write_all(b"*\n"));
    if let Err(error) = written {
        tracing::debug!(%error, "git will show the local trash");
    }
}

/// Makes a directory below `root` with those above it.
pub(crate) fn make_dirs(disk: &dyn Disk, root: &Path, dir: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    let mut at = dir;
    while at != root {
        match disk.stat(at) {
            Ok(stat) if stat.kind == FileKind::Dir => break,
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!("{} is in the way", at.display()),
                ));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(at),
            Err(error) => return Err(error),
        }
        at = at.parent().ok_or(io::ErrorKind::NotFound)?;
    }
    for path in missing.into_iter().rev() {
        match disk.mkdir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Lists the trash, newest first. Folders are listed with everything in them.
///
/// # Errors
/// Returns the error of the disk.
pub fn list(disk: &dyn Disk, root: &Path) -> io::Result<Vec<Trashed>> {
    let mut out = Vec::new();
    let base = root.join(TRASH_DIR);
    let buckets = match disk.list(&base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(out),
        other => other?,
    };
    for bucket in buckets.into_iter().rev() {
        let Some(name) = bucket.name.to_str() else {
            continue;
        };
        let Some(at_ms) = parse_stamp(name) else {
            continue;
        };
        collect(
            disk,
            &base.join(name),
            name,
            at_ms,
            &RelPath::root(),
            &mut out,
        )?;
    }
    Ok(out)
}

fn collect(
    disk: &dyn Disk,
    dir: &Path,
    bucket: &str,
    at_ms: i64,
    path: &RelPath,
    out: &mut Vec<Trashed>,
) -> io::Result<()> {
    for entry in disk.list(dir)? {
        let Some(name) = entry
            .name
            .to_str()
            .and_then(|n| cairn_model::Name::new(n).ok())
        else {
            continue;
        };
        let stat = entry.stat?;
        let below = path.join(name.clone());
        let is_folder = stat.kind == FileKind::Dir;
        out.push(Trashed {
            id: format!("{bucket}/{below}"),
            path: below.clone(),
            at_ms,
            size: if is_folder { 0 } else { stat.size },
            is_folder,
        });
        if is_folder {
            collect(disk, &dir.join(name.as_str()), bucket, at_ms, &below, out)?;
        }
    }
    Ok(())
}

/// Puts something from the trash back where it was; never over anything. Returns the path.
///
/// # Errors
/// `NotFound` for an id that is not in the trash, `AlreadyExists` where something is in its place.
pub fn restore(disk: &dyn Disk, root: &Path, id: &str) -> io::Result<RelPath> {
    let (_, path) = locate(root, id)?;
    restore_to(disk, root, id, &path.to_path(root))?;
    Ok(path)
}

/// Puts something from the trash at an absolute path on the same file system; never over anything.
///
/// # Errors
/// `NotFound` for an id that is not in the trash, `AlreadyExists` where something is at the path.
pub fn restore_to(disk: &dyn Disk, root: &Path, id: &str, to: &Path) -> io::Result<()> {
    let (from, _) = locate(root, id)?;
    disk.stat(&from)?;
    if let Some(parent) = to.parent().filter(|parent| parent.starts_with(root)) {
        make_dirs(disk, root, parent)?;
    }
    let above = from.parent().unwrap_or(root);
    with_right_to_write(disk, above, || disk.rename(&from, to))
}

/// Takes something out of a directory of the trash. One that came there without the right to write in it gets that
/// right: without it nothing in it could ever be restored by itself, or deleted.
fn with_right_to_write(
    disk: &dyn Disk,
    dir: &Path,
    take: impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    match take() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            disk.make_writable(dir).map_err(|_| error)?;
            take()
        }
        taken => taken,
    }
}

/// Returns where something of the trash lies, and the path that it had.
fn locate(root: &Path, id: &str) -> io::Result<(PathBuf, RelPath)> {
    let unknown = || {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{id:?} is not in the trash"),
        )
    };
    let (bucket, path) = id.split_once('/').ok_or_else(unknown)?;
    let path = RelPath::parse(path).map_err(|_| unknown())?;
    if parse_stamp(bucket).is_none() || bucket.contains(['/', '\\']) || path.is_root() {
        return Err(unknown());
    }
    Ok((path.to_path(&root.join(TRASH_DIR).join(bucket)), path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_platform::RealDisk;

    #[test]
    fn what_can_not_be_moved_leaves_no_directories_in_the_trash() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("a/b.txt");
        let path = RelPath::parse("a/b.txt").unwrap();
        let moved = put(&RealDisk::new(), dir.path(), &missing, &path, 1_000_000);
        assert_eq!(moved.unwrap_err().kind(), io::ErrorKind::NotFound);
        let left = std::fs::read_dir(dir.path().join(TRASH_DIR)).unwrap();
        let names: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [".gitignore"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_refused_is_taken_with_the_right_to_write_in_its_directory() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let closed = std::fs::Permissions::from_mode(0o555);
        std::fs::set_permissions(dir.path(), closed).unwrap();
        // As the system refuses it to any user but root.
        let take = || match std::fs::metadata(dir.path())?.permissions().mode() & 0o200 {
            0 => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        };
        with_right_to_write(&RealDisk::new(), dir.path(), take).unwrap();
        let missing = || Err(io::ErrorKind::NotFound.into());
        let failed = with_right_to_write(&RealDisk::new(), dir.path(), missing);
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_was_trashed_can_be_put_back_and_never_overwrites() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/b.txt");
        std::fs::create_dir(dir.path().join("a")).unwrap();
        let path = RelPath::parse("a/b.txt").unwrap();
        for text in ["one", "two"] {
            std::fs::write(&file, text).unwrap();
            put(&RealDisk::new(), dir.path(), &file, &path, 1_000_000).unwrap();
        }
        let listed: Vec<Trashed> = list(&RealDisk::new(), dir.path())
            .unwrap()
            .into_iter()
            .filter(|t| !t.is_folder)
            .collect();
        assert_eq!(listed.len(), 2, "{listed:?}");
        let ignored = std::fs::read_to_string(dir.path().join(".cairn-trash/.gitignore"));
        assert_eq!(ignored.unwrap(), "*\n", "git does not show it");
        std::fs::remove_dir(dir.path().join("a")).unwrap();
        assert_eq!(
            restore(&RealDisk::new(), dir.path(), &listed[1].id).unwrap(),
            path
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one");
        let error = restore(&RealDisk::new(), dir.path(), &listed[0].id).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(restore(&RealDisk::new(), dir.path(), "1970-01-01 001640/../../x").is_err());
    }
}
