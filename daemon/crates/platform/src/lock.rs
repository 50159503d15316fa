//! The daemon's lock: one daemon for each home (the directories of one installation). It is a locked file, which the
//! system unlocks when its process ends in any way.
//!
//! The process id is in a file beside it, because a locked file can't be read on some systems.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number and length of the waits for a process that only looks up the holder of the lock.
const TRIES: u32 = 5;
const TRY_INTERVAL: Duration = Duration::from_millis(10);

/// Held by the one daemon of a home.
#[derive(Debug)]
pub struct DaemonLock {
    pid_file: PathBuf,
    _file: File,
}

/// The process that holds the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// The process id, unless the file that has it is gone.
    pub pid: Option<u32>,
}

/// The reason why the lock can't be acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error(
        "a daemon is running for this home already{}; stop it with `cairn stop`, or use another --home",
        pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    Held { pid: Option<u32> },
    #[error("can't lock {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl DaemonLock {
    /// Acquires the lock and records this process as its holder. Doesn't wait for another daemon.
    ///
    /// # Errors
    /// [`LockError::Held`] with the holder's process id, or [`LockError::Io`].
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        let failed = |source| LockError::Io {
            path: path.to_path_buf(),
            source,
        };
        let file = open(path).map_err(failed)?;
        if !try_lock(&file, || true).map_err(failed)? {
            return Err(LockError::Held {
                pid: read_pid(path),
            });
        }
        let pid_file = pid_file(path);
        std::fs::write(&pid_file, format!("{}\n", std::process::id())).map_err(failed)?;
        Ok(Self {
            pid_file,
            _file: file,
        })
    }

    /// Returns the process that holds the lock at `path`, if one does.
    ///
    /// # Errors
    /// [`LockError::Io`].
    pub fn holder(path: &Path) -> Result<Option<Holder>, LockError> {
        let failed = |source| LockError::Io {
            path: path.to_path_buf(),
            source,
        };
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed(e)),
        };
        // Without an id, somebody else may be looking, or a daemon has just begun.
        let is_free = try_lock(&file, || read_pid(path).is_none()).map_err(failed)?;
        Ok((!is_free).then(|| Holder {
            pid: read_pid(path),
        }))
    }
}

/// Locks a file; returns false if another process has it. [`DaemonLock::holder`] has it for a moment only, so that this
/// tries again while `may_end` says so.
fn try_lock(file: &File, may_end: impl Fn() -> bool) -> io::Result<bool> {
    let mut tries = 0;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if tries < TRIES && may_end() => {
                tries += 1;
                std::thread::sleep(TRY_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
}

impl Drop for DaemonLock {
    fn drop(&mut self) {
        // The lock decides, the file only informs; a stale one does no harm.
        let _ = std::fs::remove_file(&self.pid_file);
    }
}

/// Waits for the lock on a file, which is made if it is missing, and returns it: it is held until that is dropped, or
/// the process ends. A file that several processes change has such a one beside it.
///
/// # Errors
/// Returns the error of the file system.
pub fn wait_for_lock(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    file.lock()?;
    Ok(file)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn pid_file(lock: &Path) -> PathBuf {
    lock.with_extension("pid")
}

fn read_pid(lock: &Path) -> Option<u32> {
    std::fs::read_to_string(pid_file(lock))
        .ok()?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_refused_and_learns_who_holds_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("daemon.lock");
        assert_eq!(DaemonLock::holder(&path).unwrap(), None);
        let first = DaemonLock::acquire(&path).unwrap();
        let me = std::process::id();
        match DaemonLock::acquire(&path) {
            Err(LockError::Held { pid }) => assert_eq!(pid, Some(me)),
            other => panic!("{other:?}"),
        }
        assert_eq!(
            DaemonLock::holder(&path).unwrap(),
            Some(Holder { pid: Some(me) })
        );
        std::fs::remove_file(pid_file(&path)).unwrap();
        let unknown = Some(Holder { pid: None });
        assert_eq!(DaemonLock::holder(&path).unwrap(), unknown);
        drop(first);
        assert_eq!(DaemonLock::holder(&path).unwrap(), None);
        DaemonLock::acquire(&path).unwrap();
    }

    #[test]
    fn a_lock_that_is_held_for_a_moment_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("daemon.lock");
        let (file, other) = (open(&path).unwrap(), open(&path).unwrap());
        other.lock().unwrap();
        assert!(!try_lock(&file, || false).unwrap());
        let end = || {
            other.unlock().unwrap();
            true
        };
        assert!(try_lock(&file, end).unwrap());
    }

    #[test]
    fn a_process_id_left_by_a_crash_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("daemon.lock");
        std::fs::write(&path, "").unwrap();
        std::fs::write(pid_file(&path), "1\n").unwrap();
        assert_eq!(DaemonLock::holder(&path).unwrap(), None);
        DaemonLock::acquire(&path).unwrap();
    }
}
