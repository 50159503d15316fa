//! The local trash: what sync removes or overwrites on this disk goes there, for 30 days.
//!
//! Layout: `.cairn-trash/<YYYY-MM-DD HHMMSS[ N]>/<path in the folder>`; the time is UTC. It is on the
//! folder's own file system, so that a move there is one rename.

use crate::observe::rules::TRASH_DIR;
use cairn_model::RelPath;
use cairn_platform::{Disk, FileKind};
use std::io;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;
use time::macros::format_description;

/// Time for which things stay, in milliseconds.
pub const KEEP_MS: i64 = 30 * 24 * 3600 * 1000;

/// One file or folder in the trash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trashed {
    /// `<time>/<path>`: what `restore` takes.
    pub id: String,
    /// Its former path, relative to the folder.
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
/// The disk's; then it is still at `from`.
pub fn put(
    disk: &dyn Disk,
    root: &Path,
    from: &Path,
    path: &RelPath,
    now_ms: i64,
) -> io::Result<PathBuf> {
    let base = root.join(TRASH_DIR);
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
            Err(error) => return Err(error),
            Ok(()) => return Ok(target),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "the trash has too many of the same name",
    ))
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
/// The disk's.
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
        let here = path.join(name.clone());
        let is_folder = stat.kind == FileKind::Dir;
        out.push(Trashed {
            id: format!("{bucket}/{here}"),
            path: here.clone(),
            at_ms,
            size: if is_folder { 0 } else { stat.size },
            is_folder,
        });
        if is_folder {
            collect(disk, &dir.join(name.as_str()), bucket, at_ms, &here, out)?;
        }
    }
    Ok(())
}

/// Puts something from the trash back where it was; never over anything. Returns the path.
///
/// # Errors
/// `NotFound` for an id that is not in the trash, `AlreadyExists` where something is in its place.
pub fn restore(disk: &dyn Disk, root: &Path, id: &str) -> io::Result<RelPath> {
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
    let from = path.to_path(&root.join(TRASH_DIR).join(bucket));
    let to = path.to_path(root);
    disk.stat(&from)?;
    if let Some(parent) = to.parent() {
        make_dirs(disk, root, parent)?;
    }
    disk.rename(&from, &to)?;
    Ok(path)
}

/// Deletes for good what has been in the trash for longer than [`KEEP_MS`].
///
/// # Errors
/// The disk's.
pub fn expire(disk: &dyn Disk, root: &Path, now_ms: i64) -> io::Result<()> {
    let base = root.join(TRASH_DIR);
    let buckets = match disk.list(&base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for bucket in buckets {
        let Some(name) = bucket.name.to_str() else {
            continue;
        };
        if parse_stamp(name).is_some_and(|at| at < now_ms - KEEP_MS) {
            remove_tree(disk, &base.join(name))?;
        }
    }
    Ok(())
}

/// Deletes the oldest things for good until the trash takes `limit` bytes at most.
///
/// # Errors
/// The disk's.
pub fn shrink(disk: &dyn Disk, root: &Path, limit: u64) -> io::Result<()> {
    let base = root.join(TRASH_DIR);
    let buckets = match disk.list(&base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let mut dated = Vec::new();
    for bucket in buckets {
        let name = bucket.name.to_str().unwrap_or_default();
        if let Some(at) = parse_stamp(name) {
            let path = base.join(name);
            dated.push((at, size_below(disk, &path)?, path));
        }
    }
    dated.sort();
    let mut total: u64 = dated.iter().map(|(_, size, _)| size).sum();
    for (_, size, path) in dated {
        if total <= limit {
            break;
        }
        remove_tree(disk, &path)?;
        total -= size;
    }
    Ok(())
}

/// Returns the bytes of all files below a directory.
fn size_below(disk: &dyn Disk, dir: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in disk.list(dir)? {
        let stat = entry.stat?;
        total += match stat.kind {
            FileKind::Dir => size_below(disk, &dir.join(&entry.name))?,
            FileKind::File | FileKind::Symlink | FileKind::Other => stat.size,
        };
    }
    Ok(total)
}

/// Returns the bytes that the trash of a folder may take: a third of what would be free without it.
///
/// # Errors
/// The disk's.
pub fn limit(disk: &dyn Disk, root: &Path) -> io::Result<u64> {
    let used = match size_below(disk, &root.join(TRASH_DIR)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        other => other?,
    };
    Ok(disk.free_space(root)?.saturating_add(used) / 3)
}

fn remove_tree(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
    for entry in disk.list(dir)? {
        let path = dir.join(&entry.name);
        if entry.stat?.kind == FileKind::Dir {
            remove_tree(disk, &path)?;
        } else {
            disk.remove_file(&path)?;
        }
    }
    disk.remove_dir(dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_platform::RealDisk;

    const DAY: i64 = 24 * 3600 * 1000;

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

    #[test]
    fn the_oldest_things_give_way_when_there_is_too_much() {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::new();
        for (name, day) in [("a", 1), ("b", 3), ("c", 2)] {
            let file = dir.path().join(name);
            std::fs::write(&file, [0; 100]).unwrap();
            let path = RelPath::parse(name).unwrap();
            put(&disk, dir.path(), &file, &path, day * DAY).unwrap();
        }
        let names = || -> Vec<String> {
            let listed = list(&disk, dir.path()).unwrap();
            listed.into_iter().map(|t| t.path.to_string()).collect()
        };
        shrink(&disk, dir.path(), 300).unwrap();
        assert_eq!(names(), ["b", "c", "a"]);
        shrink(&disk, dir.path(), 250).unwrap();
        assert_eq!(names(), ["b", "c"]);
        shrink(&disk, dir.path(), 0).unwrap();
        assert_eq!(names(), Vec::<String>::new());
    }

    #[test]
    fn old_things_are_deleted_after_thirty_days() {
        let dir = tempfile::tempdir().unwrap();
        let now = 400 * DAY;
        for (name, at) in [("old", now - 31 * DAY), ("new", now - 29 * DAY)] {
            let file = dir.path().join(name);
            std::fs::write(&file, name).unwrap();
            put(
                &RealDisk::new(),
                dir.path(),
                &file,
                &RelPath::parse(name).unwrap(),
                at,
            )
            .unwrap();
        }
        expire(&RealDisk::new(), dir.path(), now).unwrap();
        let left: Vec<String> = list(&RealDisk::new(), dir.path())
            .unwrap()
            .into_iter()
            .map(|t| t.path.to_string())
            .collect();
        assert_eq!(left, ["new"]);
    }
}
