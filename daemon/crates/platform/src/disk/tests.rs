//! The real disk, on the file system of the temporary directory.

#[cfg(target_os = "linux")]
mod attributes;
mod paths;
mod replacing;
#[cfg(target_os = "linux")]
mod rights;

use super::{Disk, RealDisk};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder in a temporary directory, and the disk that guards it.
struct Folder {
    _dir: TempDir,
    root: PathBuf,
    disk: RealDisk,
}

fn folder() -> Folder {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("folder");
    fs::create_dir(&root).unwrap();
    let disk = RealDisk::guarding(vec![root.clone()]);
    Folder {
        _dir: dir,
        root,
        disk,
    }
}

impl Folder {
    fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::write(&path, text).unwrap();
        path
    }

    /// A temporary file of the disk, with content.
    fn temp(&self, text: &str) -> PathBuf {
        let mut file = self
            .disk
            .create_temp(&self.path(".cairn-tmp"), "new")
            .unwrap();
        file.set_len(0).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.sync().unwrap();
        file.path().to_path_buf()
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
