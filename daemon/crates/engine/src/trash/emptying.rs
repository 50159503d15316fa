//! Emptying the local trash: items that are too old or take too much space, and those that make room for a download.
//!
//! Callers hold the disk lock: a step that has just put something there may still take it back.

#[cfg(test)]
mod tests;

use super::{locate, parse_stamp, with_right_to_write};
use crate::observe::rules::TRASH_DIR;
use cairn_platform::{Disk, FileKind};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// The time for which things stay, if there is space.
const KEEP_MS: i64 = 30 * DAY_MS;
/// The time for which things stay however scarce the space is: somebody may just be missing them.
const KEEP_ALWAYS_MS: i64 = DAY_MS;

/// The things that were trashed at one time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Bucket {
    at_ms: i64,
    /// The bytes that its removal frees.
    size: u64,
    path: PathBuf,
}

/// Deletes for good what is older than 30 days, and of the rest the oldest, until the trash takes at
/// most a third of what would be free without it. Nothing goes that is younger than a day.
///
/// # Errors
/// Returns the error of the disk.
pub(crate) fn empty(disk: &dyn Disk, root: &Path, now_ms: i64) -> io::Result<()> {
    let (expired, rest): (Vec<Bucket>, Vec<Bucket>) = buckets(disk, root)?
        .into_iter()
        .partition(|bucket| bucket.at_ms < now_ms - KEEP_MS);
    for bucket in expired {
        remove(disk, &bucket);
    }
    shrink(disk, rest, disk.free_space(root)?, now_ms);
    Ok(())
}

/// Deletes the oldest things for good until the trash takes at most a third of what would be free
/// without it.
fn shrink(disk: &dyn Disk, buckets: Vec<Bucket>, free: u64, now_ms: i64) {
    let used: u64 = buckets.iter().map(|bucket| bucket.size).sum();
    let limit = free.saturating_add(used) / 3;
    remove_oldest(disk, &may_go(buckets, now_ms), used.saturating_sub(limit));
}

/// Deletes the oldest things for good until `missing` bytes are freed; if that can't be reached without
/// what is younger than a day, nothing is deleted. Returns whether they were freed.
///
/// # Errors
/// Returns the error of the disk.
pub(crate) fn make_room(
    disk: &dyn Disk,
    root: &Path,
    missing: u64,
    now_ms: i64,
) -> io::Result<bool> {
    let old = may_go(buckets(disk, root)?, now_ms);
    if old.iter().map(|bucket| bucket.size).sum::<u64>() < missing {
        return Ok(false);
    }
    Ok(remove_oldest(disk, &old, missing))
}

/// Deletes things for good by their ids. A folder goes once nothing is left in it, so that what was put there since the
/// ids were listed stays.
///
/// # Errors
/// Returns the first error of the disk; the rest is deleted all the same.
pub fn delete(disk: &dyn Disk, root: &Path, ids: &BTreeSet<String>) -> io::Result<()> {
    let mut result = Ok(());
    let mut times = BTreeSet::new();
    // What is in a folder comes after it.
    for id in ids.iter().rev() {
        let Ok((place, _)) = locate(root, id) else {
            continue;
        };
        let above = place.parent().unwrap_or(root);
        match with_right_to_write(disk, above, || delete_one(disk, root, &place)) {
            Ok(()) => times.extend(id.split_once('/').map(|(time, _)| time)),
            failed => result = result.and(failed),
        }
    }
    for time in times {
        result = result.and(remove_if_empty(disk, &root.join(TRASH_DIR).join(time)));
    }
    result
}

fn delete_one(disk: &dyn Disk, root: &Path, place: &Path) -> io::Result<()> {
    check_above(disk, root, place)?;
    let deleted = match disk.stat(place) {
        Ok(stat) if stat.kind == FileKind::Dir => return remove_if_empty(disk, place),
        Ok(_) => disk.remove_file(place),
        Err(error) => Err(error),
    };
    without_missing(deleted)
}

/// Refuses a place that a link leads out of the trash.
fn check_above(disk: &dyn Disk, root: &Path, place: &Path) -> io::Result<()> {
    for above in place.ancestors().skip(1) {
        if above == root {
            break;
        }
        match disk.stat(above) {
            Ok(stat) if stat.kind == FileKind::Dir => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(error),
            Ok(_) => {
                let message = format!("{} is no directory", above.display());
                return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
            }
        }
    }
    Ok(())
}

fn remove_if_empty(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
    match disk.remove_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => without_missing(removed),
    }
}

/// Returns no error for what was restored or deleted meanwhile.
fn without_missing(deleted: io::Result<()>) -> io::Result<()> {
    match deleted {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn may_go(mut buckets: Vec<Bucket>, now_ms: i64) -> Vec<Bucket> {
    buckets.retain(|bucket| bucket.at_ms <= now_ms - KEEP_ALWAYS_MS);
    buckets
}

/// Deletes buckets in order until `bytes` are freed, or none is left. Returns whether they were freed.
fn remove_oldest(disk: &dyn Disk, buckets: &[Bucket], bytes: u64) -> bool {
    let mut left = bytes;
    for bucket in buckets {
        if left == 0 {
            break;
        }
        if remove(disk, bucket) {
            left = left.saturating_sub(bucket.size);
        }
    }
    left == 0
}

/// Deletes a bucket for good; one that can't be deleted keeps none of the others. Returns whether it is gone.
fn remove(disk: &dyn Disk, bucket: &Bucket) -> bool {
    let removed = remove_tree(disk, &bucket.path);
    if let Err(error) = &removed {
        tracing::warn!(%error, "old things stay in the local trash for now");
    }
    removed.is_ok()
}

/// Lists the trash of a folder, oldest first, without what can't be read.
fn buckets(disk: &dyn Disk, root: &Path) -> io::Result<Vec<Bucket>> {
    let base = root.join(TRASH_DIR);
    let entries = match disk.list(&base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut buckets = Vec::new();
    for entry in entries {
        let path = base.join(&entry.name);
        if let Some(at_ms) = entry.name.to_str().and_then(parse_stamp) {
            match size_below(disk, &path) {
                Ok(size) => buckets.push(Bucket { at_ms, size, path }),
                Err(error) => {
                    tracing::warn!(%error, "part of the local trash can't be read; it stays");
                }
            }
        }
    }
    buckets.sort();
    Ok(buckets)
}

/// Returns the bytes that the removal of all files below a directory frees.
fn size_below(disk: &dyn Disk, dir: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in disk.list(dir)? {
        let stat = entry.stat?;
        total += match stat.kind {
            FileKind::Dir => size_below(disk, &dir.join(&entry.name))?,
            // Its bytes have another name.
            FileKind::File if stat.links > 1 => 0,
            FileKind::File | FileKind::Symlink | FileKind::Other => stat.size,
        };
    }
    Ok(total)
}

fn remove_tree(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
    for entry in disk.list(dir)? {
        let path = dir.join(&entry.name);
        let is_dir = entry.stat?.kind == FileKind::Dir;
        with_right_to_write(disk, dir, || match is_dir {
            true => remove_tree(disk, &path),
            false => disk.remove_file(&path),
        })?;
    }
    disk.remove_dir(dir)
}
