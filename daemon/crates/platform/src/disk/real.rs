//! The disk of this machine.
//!
//! Delegates to one module per family of systems and adds the operation and the path to each error.

use super::writeback::Writeback;
use super::{Disk, Entry, Expect, ReadSeek, Stat, TempFile, in_context};
use parking_lot::RwLock;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[cfg(unix)]
use super::unix as sys;
#[cfg(windows)]
use super::windows as sys;

/// The file system of this machine. Clones are one and the same disk.
#[derive(Debug, Clone, Default)]
pub struct RealDisk {
    roots: Arc<RwLock<Vec<PathBuf>>>,
}

impl RealDisk {
    /// A disk that resolves paths as the system does.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A disk that refuses to pass through a symbolic link anywhere below one of `roots`, so that no
    /// operation inside a synced folder can reach outside it. The roots are absolute and canonical.
    ///
    /// Race-free on Linux; elsewhere the parents are checked right before each operation.
    #[must_use]
    pub fn guarding(roots: Vec<PathBuf>) -> Self {
        Self {
            roots: Arc::new(RwLock::new(roots)),
        }
    }

    /// Guards one more root, as [`RealDisk::guarding`] does; for folders that are added later.
    pub fn guard(&self, root: &Path) {
        let mut roots = self.roots.write();
        if !roots.iter().any(|known| known == root) {
            roots.push(root.to_path_buf());
        }
    }

    fn resolve<'a>(&self, path: &'a Path) -> io::Result<sys::ResolvedPath<'a>> {
        // Where folders lie inside each other, the outermost guards the most components.
        let roots = self.roots.read();
        let root = roots
            .iter()
            .filter(|root| path.starts_with(root) && path != root.as_path())
            .min_by_key(|root| root.as_os_str().len());
        sys::ResolvedPath::new(path, root.map(PathBuf::as_path))
    }

    fn run<T>(
        &self,
        action: &'static str,
        path: &Path,
        work: impl FnOnce(&sys::ResolvedPath<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.resolve(path)
            .and_then(|place| work(&place))
            .map_err(|e| in_context(action, path, e))
    }
}

impl Disk for RealDisk {
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.run("list", dir, sys::list)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.run("read the attributes of", path, sys::stat)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        let file = self.run("open", path, sys::open)?;
        Ok(Box::new(OpenFile::new(file, path.to_path_buf())))
    }

    fn create_temp(&self, dir: &Path, name: &str) -> io::Result<Box<dyn TempFile>> {
        let path = dir.join(name);
        self.run("make the directory", dir, sys::make_private_dir)?;
        let file = self.run("make the temporary file", &path, sys::open_temp)?;
        Ok(Box::new(OpenFile::new(file, path)))
    }

    fn replace(&self, temp: &Path, target: &Path, expect: Expect) -> io::Result<Stat> {
        let from = self
            .resolve(temp)
            .map_err(|e| in_context("find", temp, e))?;
        self.run("put the new version of the file at", target, |to| {
            sys::replace(&from, to, expect)
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let source = self
            .resolve(from)
            .map_err(|e| in_context("find", from, e))?;
        self.resolve(to)
            .and_then(|target| sys::rename(&source, &target))
            .map_err(|e| {
                // The path that is in the way matters, else the one that was to be moved.
                if e.kind() == io::ErrorKind::AlreadyExists {
                    in_context("rename a file to", to, e)
                } else {
                    in_context("rename", from, e)
                }
            })
    }

    fn mkdir(&self, path: &Path) -> io::Result<Stat> {
        self.run("make the directory", path, |place| {
            sys::mkdir(place)?;
            sys::stat(place)
        })
    }

    fn make_writable(&self, dir: &Path) -> io::Result<()> {
        self.run("change the mode of", dir, sys::make_writable)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.run("remove the directory", path, sys::remove_dir)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.run("remove", path, sys::remove_file)
    }

    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<Stat> {
        self.run("change the executable bit of", path, |place| {
            let file = sys::open(place)?;
            sys::set_executable(&file, executable)?;
            sys::stat_file(&file, path)
        })
    }

    fn sync_dirs(&self, dirs: &[PathBuf]) -> io::Result<()> {
        sys::sync_dirs(dirs)
    }

    fn sync_all(&self, root: &Path) -> io::Result<()> {
        sys::sync_all(root).map_err(|e| in_context("write to the medium what changed in", root, e))
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        sys::free_space(path).map_err(|e| in_context("read the free space at", path, e))
    }

    fn free_files(&self, path: &Path) -> io::Result<Option<u64>> {
        sys::free_files(path).map_err(|e| in_context("read the room for files at", path, e))
    }
}

/// A regular file that is open, for reading or as a temporary file.
struct OpenFile {
    file: File,
    path: PathBuf,
    writeback: Writeback,
}

impl OpenFile {
    fn new(file: File, path: PathBuf) -> Self {
        let writeback = Writeback::default();
        Self {
            file,
            path,
            writeback,
        }
    }

    fn wrap<T>(&self, action: &'static str, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|e| in_context(action, &self.path, e))
    }
}

impl Read for OpenFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.file.read(buf) {
            // Left bare: `Read` adapters look for this kind and try again.
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            result => self.wrap("read", result),
        }
    }
}

impl Write for OpenFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.file.write(buf) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Ok(written) => {
                self.writeback.add(&self.file, written);
                Ok(written)
            }
            result @ Err(_) => self.wrap("write to", result),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for OpenFile {
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        let result = self.file.seek(pos);
        self.wrap("seek in", result)
    }
}

impl ReadSeek for OpenFile {
    fn stat(&self) -> io::Result<Stat> {
        self.wrap(
            "read the attributes of",
            sys::stat_file(&self.file, &self.path),
        )
    }
}

impl TempFile for OpenFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn stat(&self) -> io::Result<Stat> {
        ReadSeek::stat(self)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.wrap("change the length of", self.file.set_len(len))
    }

    fn set_modified(&mut self, ms: i64) -> io::Result<()> {
        let distance = Duration::from_millis(ms.unsigned_abs());
        let time = if ms < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(distance)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(distance)
        };
        let result = match time {
            Some(time) => self.file.set_modified(time),
            None => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{ms} ms since 1970 is outside the times that this system can store"),
            )),
        };
        self.wrap("set the modification time of", result)
    }

    fn set_executable(&mut self, executable: bool) -> io::Result<()> {
        self.wrap(
            "change the executable bit of",
            sys::set_executable(&self.file, executable),
        )
    }

    fn sync(&mut self) -> io::Result<()> {
        self.wrap("write to the medium", self.file.sync_all())
    }
}
