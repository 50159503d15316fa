//! A tree of files with identities and times; cloning it is cheap.

use super::node::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;
use tokio::time::Instant;

/// The time of all disks and clocks at the beginning, in nanoseconds since 1970-01-01 UTC.
const BEGIN: i64 = 1_700_000_000_000_000_000;
/// The steps of the times of FAT.
const COARSE_STEP: i64 = 2_000_000_000;

/// A file system. Paths are absolute; `/` is its root.
#[derive(Clone, Debug)]
pub struct Files {
    root: Node,
    next_inode: u64,
    /// Inodes of removed files; the next new file gets the lowest, as on ext4 and xfs.
    free_inodes: BTreeSet<u64>,
    /// False for a file system that keeps no birth times, such as FAT.
    births: bool,
    /// False for a file system whose files all have the same permission bits, such as FAT.
    modes: bool,
    /// True for a file system that takes `a` and `A` for one name, such as FAT.
    ignores_case: bool,
    /// Nanoseconds; every change moves it on, so that no two changes share a time on a disk with fine ones.
    now: i64,
    /// The time at which the clock began of a file system that keeps times in steps of two seconds, such as FAT.
    coarse: Option<Instant>,
}

impl Default for Files {
    fn default() -> Self {
        let root = Node {
            inode: 1,
            children: Some(BTreeMap::new()),
            data: Arc::default(),
            mtime: 0,
            ctime: 0,
            birth: Some(0),
            executable: Some(false),
            device: 1,
            mount: 0,
        };
        Self {
            root,
            next_inode: 2,
            free_inodes: BTreeSet::new(),
            births: true,
            modes: true,
            ignores_case: false,
            now: BEGIN,
            coarse: None,
        }
    }
}

fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|c| match c {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => None,
        })
        .collect()
}

/// Returns the name as the directory has it, or as it is asked for if the directory has no such name.
fn spelling(children: &BTreeMap<String, Node>, name: &str, ignores_case: bool) -> String {
    let mut same = children.keys().filter(|key| key.eq_ignore_ascii_case(name));
    let known = if ignores_case { same.next() } else { None };
    known.map_or_else(|| name.to_owned(), String::clone)
}

fn not_found(path: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("{} is not there", path.display()),
    )
}

impl Files {
    pub fn tick(&mut self) -> i64 {
        // No multiple of a coarse file system's steps, as the times of fine ones.
        self.now += 1_000_001;
        let Some(begin) = self.coarse else {
            return self.now;
        };
        let passed = i64::try_from(begin.elapsed().as_nanos()).unwrap_or(i64::MAX - BEGIN);
        self.kept_time(BEGIN + passed)
    }

    /// Returns a time as the disk keeps it.
    pub(super) fn kept_time(&self, time: i64) -> i64 {
        match self.coarse {
            Some(_) => time.div_euclid(COARSE_STEP) * COARSE_STEP,
            None => time,
        }
    }

    /// Returns the node at a path.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get(&self, path: &Path) -> io::Result<&Node> {
        names(path)
            .iter()
            .try_fold(&self.root, |at, name| {
                let children = at.children.as_ref()?;
                children.get(&spelling(children, name, self.ignores_case))
            })
            .ok_or_else(|| not_found(path))
    }

    /// Returns the node at a path, to change it.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_mut(&mut self, path: &Path) -> io::Result<&mut Node> {
        names(path)
            .iter()
            .try_fold(&mut self.root, |at, name| {
                let children = at.children.as_mut()?;
                let name = spelling(children, name, self.ignores_case);
                children.get_mut(&name)
            })
            .ok_or_else(|| not_found(path))
    }

    fn parent_and_name(
        &mut self,
        path: &Path,
    ) -> io::Result<(&mut BTreeMap<String, Node>, String)> {
        let name = names(path).pop().ok_or_else(|| not_found(path))?;
        let parent = path.parent().ok_or_else(|| not_found(path))?;
        let ignores_case = self.ignores_case;
        let node = self.get_mut(parent)?;
        let children = node.children.as_mut().ok_or(io::ErrorKind::NotADirectory)?;
        let name = spelling(children, &name, ignores_case);
        Ok((children, name))
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// `AlreadyExists`, `NotFound`, `NotADirectory`.
    pub fn mkdir(&mut self, path: &Path) -> io::Result<()> {
        let node = self.new_node(Some(BTreeMap::new()), Vec::new());
        self.insert(path, node)
    }

    /// Makes a file or replaces its bytes in place.
    ///
    /// # Errors
    /// `NotFound`, `IsADirectory`.
    pub fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let now = self.tick();
        match self.get_mut(path) {
            Ok(node) if node.children.is_some() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(node) => {
                node.data = Arc::new(bytes.to_vec());
                (node.mtime, node.ctime) = (now, now);
                Ok(())
            }
            Err(_) => {
                let node = self.new_node(None, bytes.to_vec());
                self.insert(path, node)
            }
        }
    }

    pub fn new_node(&mut self, children: Option<BTreeMap<String, Node>>, data: Vec<u8>) -> Node {
        let now = self.tick();
        let inode = self.free_inodes.pop_first().unwrap_or_else(|| {
            self.next_inode += 1;
            self.next_inode
        });
        Node {
            inode,
            children,
            data: Arc::new(data),
            mtime: now,
            ctime: now,
            birth: self.births.then_some(now),
            executable: self.modes.then_some(false),
            device: 1,
            mount: 0,
        }
    }

    /// Puts a node at a free name.
    ///
    /// # Errors
    /// `AlreadyExists`, `NotFound`.
    pub fn insert(&mut self, path: &Path, node: Node) -> io::Result<()> {
        let (children, name) = self.parent_and_name(path)?;
        if children.contains_key(&name) {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{} is there", path.display()),
            ));
        }
        children.insert(name, node);
        Ok(())
    }

    /// Lets everything that is made from now on have no birth time.
    pub fn keep_no_births(&mut self) {
        self.births = false;
    }

    /// Lets files have no executable bit from now on.
    pub fn keep_no_modes(&mut self) {
        self.modes = false;
    }

    /// Keeps times in steps of two seconds from now on: changes share them.
    pub fn keep_coarse_times(&mut self) {
        self.coarse = Some(Instant::now());
    }

    /// Returns whether something lies at a path whose name is spelled in another way.
    #[must_use]
    pub fn is_respelled(&self, path: &Path) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        let siblings = self.get(parent).ok().and_then(|dir| dir.children.as_ref());
        siblings.is_some_and(|names| !names.contains_key(&*name.to_string_lossy()))
    }

    /// Takes `a` and `A` for one name from now on.
    pub fn ignore_case(&mut self) {
        self.ignores_case = true;
    }

    pub(crate) fn is_ignoring_case(&self) -> bool {
        self.ignores_case
    }

    /// Removes a node with everything below it; their inodes are free for new files.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn remove(&mut self, path: &Path) -> io::Result<Node> {
        let node = self.take(path)?;
        node.collect_inodes(&mut self.free_inodes);
        Ok(node)
    }

    /// Takes a node out of its place, to be put elsewhere with its identity, and returns it.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn take(&mut self, path: &Path) -> io::Result<Node> {
        let (children, name) = self.parent_and_name(path)?;
        children.remove(&name).ok_or_else(|| not_found(path))
    }

    /// Moves a node to a free name; the change time changes, as on a real disk.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists`, `InvalidInput` into itself.
    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        if to.starts_with(from) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let moved = self.get(from)?.identity();
        // A new spelling of its own name is free.
        if self.get(to).is_ok_and(|there| there.identity() != moved) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.parent_and_name(to)?;
        let now = self.tick();
        let mut node = self.take(from)?;
        node.ctime = now;
        self.insert(to, node)
    }

    /// All paths below a directory with the bytes of files (`None`: a directory).
    #[must_use]
    pub fn listing(&self, dir: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut out = BTreeMap::new();
        if let Ok(node) = self.get(dir) {
            collect(node, "", &mut out);
        }
        out
    }
}

fn collect(node: &Node, prefix: &str, out: &mut BTreeMap<String, Option<Vec<u8>>>) {
    for (name, child) in node.children.iter().flatten() {
        if prefix.is_empty() && name.starts_with(".cairn-t") {
            continue;
        }
        let path = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}/{name}")
        };
        if child.children.is_some() {
            out.insert(path.clone(), None);
            collect(child, &path, out);
        } else {
            out.insert(path, Some(child.data.to_vec()));
        }
    }
}
