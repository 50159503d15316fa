//! The engine's disk: no path inside a synced folder leads out of it through a symbolic link, also
//! for folders that are added while the daemon runs.

use cairn_model::Name;
use cairn_platform::{Disk, Entry, Expect, NameProblem, ReadSeek, RealDisk, Stat, TempFile};
use parking_lot::RwLock;
use std::io;
use std::path::{Path, PathBuf};

/// A disk whose guarded folders can change.
pub(super) struct GuardedDisk(RwLock<RealDisk>);

impl GuardedDisk {
    pub(super) fn new(roots: Vec<PathBuf>) -> Self {
        Self(RwLock::new(RealDisk::guarding(roots)))
    }

    /// Guards these folders from now on, and no others.
    pub(super) fn guard(&self, roots: Vec<PathBuf>) {
        *self.0.write() = RealDisk::guarding(roots);
    }

    /// A copy to work with, so that no lock is held while the disk works.
    fn disk(&self) -> RealDisk {
        self.0.read().clone()
    }
}

impl Disk for GuardedDisk {
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.disk().list(dir)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.disk().stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.disk().open(path)
    }

    fn create_temp(&self, dir: &Path, name: &str) -> io::Result<Box<dyn TempFile>> {
        self.disk().create_temp(dir, name)
    }

    fn replace(&self, temp: &Path, target: &Path, expect: Expect) -> io::Result<Stat> {
        self.disk().replace(temp, target, expect)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk().rename(from, to)
    }

    fn mkdir(&self, path: &Path) -> io::Result<Stat> {
        self.disk().mkdir(path)
    }

    fn make_writable(&self, dir: &Path) -> io::Result<()> {
        self.disk().make_writable(dir)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.disk().remove_dir(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk().remove_file(path)
    }

    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<Stat> {
        self.disk().set_executable(path, executable)
    }

    fn sync_dirs(&self, dirs: &[PathBuf]) -> io::Result<()> {
        self.disk().sync_dirs(dirs)
    }

    fn sync_all(&self, root: &Path) -> io::Result<()> {
        self.disk().sync_all(root)
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        self.disk().free_space(path)
    }

    fn free_files(&self, path: &Path) -> io::Result<Option<u64>> {
        self.disk().free_files(path)
    }

    fn check_name(&self, name: &Name) -> Result<(), NameProblem> {
        self.disk().check_name(name)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_guarded_from_the_moment_it_is_added() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("synced");
        let outside = root.with_file_name("outside");
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("way-out")).unwrap();
        let disk = GuardedDisk::new(Vec::new());
        disk.guard(vec![root.clone()]);
        assert!(disk.mkdir(&root.join("way-out/new")).is_err());
        assert!(!outside.join("new").exists());
        disk.mkdir(&root.join("new")).unwrap();
    }
}
