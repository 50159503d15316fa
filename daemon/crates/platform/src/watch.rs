//! Watches folders for changes.
//!
//! Produces hints, paths at which something may have changed: they may be lost, merged or false, so only a scan shows
//! the facts. A hint for a directory covers everything below it. A file system that is mounted in a folder, or goes,
//! gives one on Linux; elsewhere the next scan finds it. Cairn's own directories in a folder's root are not watched.
//! Nothing here waits for quiet or joins hints over time.

#[cfg(target_os = "linux")]
mod inotify;
#[cfg(not(target_os = "linux"))]
mod native;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
use inotify as sys;
#[cfg(not(target_os = "linux"))]
use native as sys;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// The directory in a folder's root where displaced files are kept.
pub const TRASH_DIR: &str = ".cairn-trash";
/// The directory in a folder's root where downloads grow.
pub const TEMP_DIR: &str = ".cairn-tmp";

/// Something that may have changed.
#[derive(Debug)]
pub enum Hint {
    /// One path, or if it is a directory, something below it.
    Path(PathBuf),
    /// Anything in any folder: the system dropped events.
    Overflow,
    /// The folder is no longer watched as a whole, from now on only rescans find changes there.
    Lost { root: PathBuf, error: WatchError },
    /// Hints for all that had changed when [`Watcher::flush`] was called with this number have been sent.
    Flushed(u64),
}

/// The reason why a folder can't be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system allows too few watches; part of the folder may be watched all the same.
    #[error(
        "can't watch {} for changes: the system allows {current} of what {setting} limits and \
         {needed} are needed; run `sudo sysctl -w {setting}={needed}` and put `{setting}={needed}` \
         into /etc/sysctl.d/60-cairn.conf. Until then changes are found by rescans only",
        root.display()
    )]
    Limit {
        root: PathBuf,
        /// The value to set.
        needed: u64,
        /// The value in force.
        current: u64,
        /// The name of the kernel setting.
        setting: &'static str,
    },
    #[error("can't watch {} any longer: it was moved, removed or unmounted; put it back", root.display())]
    Gone { root: PathBuf },
    #[error("can't watch {} for changes: {source}; changes are found by rescans only", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the watcher has ended after an error; restart the daemon")]
    Ended,
}

/// Watches any number of folders, each with all its directories.
///
/// Dropping it ends the watching and closes the channel.
#[derive(Debug)]
pub struct Watcher {
    sys: sys::SysWatcher,
}

impl Watcher {
    /// Starts a watcher without folders, and the channel on which its hints arrive.
    ///
    /// # Errors
    /// [`WatchError::Limit`] where this user has too many watchers already, or [`WatchError::Io`].
    pub fn new() -> Result<(Self, mpsc::UnboundedReceiver<Hint>), WatchError> {
        let (hints, receiver) = mpsc::unbounded_channel();
        let sys = sys::SysWatcher::new(hints)?;
        Ok((Self { sys }, receiver))
    }

    /// Watches the folder at `root` (absolute and canonical) and returns once every directory in it is
    /// watched: a change after that gives a hint.
    ///
    /// # Errors
    /// [`WatchError::Limit`] with the setting to raise and its value; the directories that were
    /// reached stay watched. [`WatchError::Io`] where the root can't be read.
    pub fn watch(&self, root: &Path) -> Result<(), WatchError> {
        self.sys.watch(root)
    }

    /// Sends [`Hint::Flushed`] with `number` behind the hints for all that has changed before the call. Returns false
    /// where that can't be told: the system keeps events back, or the watcher has ended.
    #[must_use]
    pub fn flush(&self, number: u64) -> bool {
        self.sys.flush(number)
    }

    /// Stops watching the folder at `root`; does nothing if it isn't watched.
    pub fn unwatch(&self, root: &Path) {
        self.sys.unwatch(root);
    }
}

/// Returns whether `path` belongs to Cairn itself, not to the user.
fn is_own(root: &Path, path: &Path) -> bool {
    path.strip_prefix(root).is_ok_and(|below| {
        below
            .components()
            .next()
            .is_some_and(|first| is_own_name(first.as_os_str()))
    })
}

fn is_own_name(name: &OsStr) -> bool {
    name == TRASH_DIR || name == TEMP_DIR
}
