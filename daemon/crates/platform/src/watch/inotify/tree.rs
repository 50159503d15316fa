//! The directories and their inotify watches.
//!
//! Adds and removes whole subtrees and knows the limits of the kernel; it reads no events.

use super::super::{WatchError, is_own, is_own_name};
use rustix::fs::inotify::{WatchFlags, add_watch, remove_watch};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::ops::Bound;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const MAX_WATCHES: &str = "fs.inotify.max_user_watches";
const MAX_INSTANCES: &str = "fs.inotify.max_user_instances";

/// Everything that changes what a scan would see, and nothing that only reads.
const MASK: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::EXCL_UNLINK);

#[derive(Debug, Default)]
pub(super) struct Tree {
    roots: BTreeSet<PathBuf>,
    by_watch: HashMap<i32, PathBuf>,
    by_path: BTreeMap<PathBuf, i32>,
    #[cfg(test)]
    limit: Option<usize>,
}

impl Tree {
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        self.roots.iter().cloned().collect()
    }

    pub(super) fn is_root(&self, path: &Path) -> bool {
        self.roots.contains(path)
    }

    /// The innermost watched folder that `path` lies in.
    pub(super) fn root_of(&self, path: &Path) -> Option<PathBuf> {
        path.ancestors()
            .find(|above| self.roots.contains(*above))
            .map(Path::to_path_buf)
    }

    pub(super) fn is_excluded(&self, path: &Path) -> bool {
        self.root_of(path).is_some_and(|root| is_own(&root, path))
    }

    pub(super) fn path_of(&self, watch: i32) -> Option<PathBuf> {
        self.by_watch.get(&watch).cloned()
    }

    pub(super) fn add_root(&mut self, inotify: &OwnedFd, root: &Path) -> Result<(), WatchError> {
        let failed = |e: Errno| WatchError::Io {
            path: root.to_path_buf(),
            source: e.into(),
        };
        // A path that can't be listed would pass for an empty folder below.
        rustix::fs::open(root, DIR_FLAGS, Mode::empty()).map_err(failed)?;
        self.roots.insert(root.to_path_buf());
        self.add_below(inotify, root)
    }

    pub(super) fn remove_root(&mut self, inotify: &OwnedFd, root: &Path) {
        if self.roots.remove(root) {
            self.remove_below(inotify, root);
            // A folder inside the one that goes keeps its watches.
            for inner in self.roots() {
                if inner.starts_with(root) && self.add_below(inotify, &inner).is_err() {
                    tracing::warn!(folder = %inner.display(), "can't watch the folder any longer");
                }
            }
        }
    }

    /// Watches `top` and every directory below it. One that vanishes or can't be read is left out: its
    /// scan reports it.
    pub(super) fn add_below(&mut self, inotify: &OwnedFd, top: &Path) -> Result<(), WatchError> {
        let mut open = vec![top.to_path_buf()];
        while let Some(dir) = open.pop() {
            match self.add_one(inotify, &dir) {
                Ok(()) => {}
                Err(Errno::NOSPC) => return Err(self.too_few_watches(top)),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => continue,
                Err(e) => {
                    return Err(WatchError::Io {
                        path: dir,
                        source: e.into(),
                    });
                }
            }
            // The watch comes first: what is made from here on gives an event, even if missed here.
            let in_root = self.is_root(&dir);
            for name in subdirectories(&dir) {
                if !(in_root && is_own_name(&name)) {
                    open.push(dir.join(name));
                }
            }
        }
        Ok(())
    }

    fn add_one(&mut self, inotify: &OwnedFd, dir: &Path) -> Result<(), Errno> {
        #[cfg(test)]
        if self.limit.is_some_and(|limit| self.by_path.len() >= limit) {
            return Err(Errno::NOSPC);
        }
        let mask = if self.is_root(dir) {
            // The user's path to a folder may lead through a link; nothing below it may.
            MASK | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF
        } else {
            MASK | WatchFlags::DONT_FOLLOW
        };
        let watch = add_watch(inotify, dir, mask)?;
        // The kernel watches inodes: one that moved here keeps its number and loses its old path.
        if let Some(old) = self.by_watch.insert(watch, dir.to_path_buf())
            && old != dir
        {
            self.by_path.remove(&old);
        }
        if let Some(old) = self.by_path.insert(dir.to_path_buf(), watch)
            && old != watch
        {
            self.by_watch.remove(&old);
            let _ = remove_watch(inotify, old);
        }
        Ok(())
    }

    pub(super) fn remove_below(&mut self, inotify: &OwnedFd, top: &Path) {
        let below: Vec<_> = self
            .by_path
            .range::<Path, _>((Bound::Included(top), Bound::Unbounded))
            .take_while(|(path, _)| path.starts_with(top))
            .map(|(path, watch)| (path.clone(), *watch))
            .collect();
        for (path, watch) in below {
            self.by_path.remove(&path);
            self.by_watch.remove(&watch);
            // Fails where the directory is gone, and then the kernel has removed it by itself.
            let _ = remove_watch(inotify, watch);
        }
    }

    /// Drops a watch that the kernel has ended.
    pub(super) fn forget(&mut self, watch: i32) {
        if let Some(path) = self.by_watch.remove(&watch) {
            self.by_path.remove(&path);
        }
    }

    /// Watches everything once more after events were dropped; returns the folders where that failed.
    pub(super) fn rebuild(&mut self, inotify: &OwnedFd) -> Vec<(PathBuf, WatchError)> {
        self.roots()
            .into_iter()
            .filter_map(|root| {
                let error = self.add_below(inotify, &root).err()?;
                Some((root, error))
            })
            .collect()
    }

    /// Works out the value to set, from what this process needs and what other programs use now.
    fn too_few_watches(&self, top: &Path) -> WatchError {
        let current = read_setting("/proc/sys/fs/inotify/max_user_watches");
        let ours = self.by_path.len() as u64;
        let all: u64 = self.roots.iter().map(|root| count_directories(root)).sum();
        let others = current.saturating_sub(ours);
        // An eighth more, so that the next new directory doesn't bring the question back.
        let wanted = others + all.max(ours + 1);
        WatchError::Limit {
            root: self.root_of(top).unwrap_or_else(|| top.to_path_buf()),
            needed: (wanted + wanted / 8).next_multiple_of(1024),
            current,
            setting: MAX_WATCHES,
        }
    }

    #[cfg(test)]
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = Some(limit);
    }
}

pub(super) fn too_many_instances() -> WatchError {
    let current = read_setting("/proc/sys/fs/inotify/max_user_instances");
    WatchError::Limit {
        root: PathBuf::from("any folder"),
        needed: (current * 2).max(512),
        current,
        setting: MAX_INSTANCES,
    }
}

fn read_setting(path: &str) -> u64 {
    std::fs::read_to_string(path)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

fn count_directories(top: &Path) -> u64 {
    let mut open = vec![top.to_path_buf()];
    let mut count = 0;
    while let Some(dir) = open.pop() {
        count += 1;
        open.extend(subdirectories(&dir).into_iter().map(|name| dir.join(name)));
    }
    count
}

const DIR_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// The names of the directories in `dir`; none where it can't be read.
fn subdirectories(dir: &Path) -> Vec<std::ffi::OsString> {
    let read = || -> Result<Vec<_>, Errno> {
        let mut listing = Dir::new(rustix::fs::open(dir, DIR_FLAGS, Mode::empty())?)?;
        let mut names = Vec::new();
        while let Some(found) = listing.read() {
            let found = found?;
            let name = OsStr::from_bytes(found.file_name().to_bytes());
            let is_dir = match found.file_type() {
                FileType::Directory => name != "." && name != "..",
                // Some file systems don't give the kind: stat each name.
                FileType::Unknown => {
                    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                    rustix::fs::statat(CWD, dir.join(name), flags)
                        .is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::Directory)
                        && name != "."
                        && name != ".."
                }
                FileType::RegularFile
                | FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice => false,
            };
            if is_dir {
                names.push(name.to_os_string());
            }
        }
        Ok(names)
    };
    read().unwrap_or_default()
}
