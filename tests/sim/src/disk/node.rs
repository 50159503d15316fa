//! One file or directory of a simulated disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A file or directory.
#[derive(Clone, Debug)]
pub struct Node {
    pub inode: u64,
    /// `None` for a file.
    pub children: Option<BTreeMap<String, Node>>,
    pub data: Arc<Vec<u8>>,
    pub mtime: i64,
    pub ctime: i64,
    /// `None` on a file system that keeps no birth times.
    pub birth: Option<i64>,
    /// `None` on a file system that keeps no such bit.
    pub executable: Option<bool>,
    /// Number of the device; 1 for all that is new.
    pub device: u64,
    /// Number of the mount; 0 for all that is new.
    pub mount: u64,
}

impl Node {
    /// Sets or clears the executable bit. As FAT does, a file system that keeps none says nothing.
    pub fn set_executable(&mut self, executable: bool, now: i64) {
        if let Some(bit) = &mut self.executable {
            (*bit, self.ctime) = (executable, now);
        }
    }

    /// Moves it, with all below it, to another device and mount.
    pub fn put_on(&mut self, device: u64, mount: u64) {
        (self.device, self.mount) = (device, mount);
        for child in self.children.iter_mut().flat_map(BTreeMap::values_mut) {
            child.put_on(device, mount);
        }
    }

    /// Returns what tells it from all others.
    pub(super) fn identity(&self) -> (u64, u64, u64) {
        (self.device, self.mount, self.inode)
    }

    /// Adds the inodes of its own file system at and below it.
    pub(super) fn collect_inodes(&self, inodes: &mut BTreeSet<u64>) {
        if (self.device, self.mount) == (1, 0) {
            inodes.insert(self.inode);
        }
        for child in self.children.iter().flat_map(BTreeMap::values) {
            child.collect_inodes(inodes);
        }
    }
}
