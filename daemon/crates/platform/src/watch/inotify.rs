//! Watching on Linux: one inotify watch per directory.
//!
//! A new directory is watched before it is reported, so that nothing that appears in it between the
//! report and the watch goes unseen. Reading files gives no events: nobody's search wakes the daemon.

mod mounts;
mod tree;

use super::{Hint, WatchError};
use mounts::Mounts;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedSender;
use tree::Tree;

/// Room for about a thousand events in one read.
const BUFFER_BYTES: usize = 64 * 1024;
/// The length of an event without a name, in bytes.
const SMALLEST_EVENT: u64 = 16;

#[derive(Debug)]
pub(super) struct SysWatcher {
    events: Arc<Events>,
    /// Closing the pipe ends the thread.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl SysWatcher {
    pub(super) fn new(hints: UnboundedSender<Hint>) -> Result<Self, WatchError> {
        let failed = |source: io::Error| WatchError::Io {
            path: PathBuf::from("/proc/sys/fs/inotify"),
            source,
        };
        let inotify = rustix::fs::inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
            .map_err(|e| match e {
                Errno::MFILE => tree::too_many_instances(),
                other => failed(other.into()),
            })?;
        let (wake, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(|e| failed(e.into()))?;
        let events = Arc::new(Events {
            tree: Mutex::new(Tree::default()),
            inotify,
            buffer: Mutex::new(vec![MaybeUninit::uninit(); BUFFER_BYTES]),
            hints,
        });
        let mounts = Mounts::open();
        if let Err(error) = &mounts {
            tracing::debug!(%error, "mounts in folders are found by rescans only");
        }
        let read = Arc::clone(&events);
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || read.run(&wake, mounts.ok()))
            .map_err(failed)?;
        Ok(Self {
            events,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub(super) fn watch(&self, root: &Path) -> Result<(), WatchError> {
        if self.has_ended() {
            return Err(WatchError::Ended);
        }
        let Events { tree, inotify, .. } = &*self.events;
        tree.lock().add_root(inotify, root)
    }

    pub(super) fn flush(&self, number: u64) -> bool {
        !self.has_ended() && self.events.flush(number)
    }

    fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    pub(super) fn unwatch(&self, root: &Path) {
        let Events { tree, inotify, .. } = &*self.events;
        tree.lock().remove_root(inotify, root);
    }

    /// Makes watching fail, as the kernel does at its limit, once `limit` directories are watched.
    #[cfg(test)]
    pub(super) fn set_limit(&self, limit: usize) {
        self.events.tree.lock().set_limit(limit);
    }
}

impl Drop for SysWatcher {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed already, and there is nobody to pass it on to.
            let _ = thread.join();
        }
    }
}

/// The kernel's events, and the hints that they become.
#[derive(Debug)]
struct Events {
    tree: Mutex<Tree>,
    inotify: OwnedFd,
    /// Locked until what was read has been handled: what two threads read would be handled in any order.
    buffer: Mutex<Vec<MaybeUninit<u8>>>,
    hints: UnboundedSender<Hint>,
}

/// One event, copied out of the read buffer.
struct Event {
    watch: i32,
    flags: ReadFlags,
    name: Option<PathBuf>,
}

impl Events {
    /// Turns events into hints until `stop` is closed, on a thread of its own.
    fn run(&self, stop: &OwnedFd, mut mounts: Option<Mounts>) {
        loop {
            let mut fds = vec![
                PollFd::new(&self.inotify, PollFlags::IN),
                PollFd::new(stop, PollFlags::IN),
            ];
            fds.extend(
                mounts
                    .as_ref()
                    .map(|table| PollFd::new(table, PollFlags::PRI)),
            );
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return self.fail(error),
            }
            if !fds[1].revents().is_empty() {
                return;
            }
            let is_mounted = fds.get(2).is_some_and(|table| !table.revents().is_empty());
            drop(fds);
            if let Some(table) = mounts.as_mut().filter(|_| is_mounted) {
                match table.changed_points() {
                    Ok(points) => {
                        if !self.watch_mounts(points) {
                            return;
                        }
                    }
                    Err(error) => {
                        // It would be urgent for ever.
                        tracing::debug!(%error, "the table of mounts can't be read any more");
                        mounts = None;
                    }
                }
            }
            let mut buffer = self.buffer.lock();
            let events = match self.read(&mut buffer) {
                Ok(events) => events,
                Err(error) => return self.fail(error),
            };
            if !self.handle(events) {
                return;
            }
        }
    }

    /// Handles all events that there are, and says so with a hint. Returns false if that can't be done.
    fn flush(&self, number: u64) -> bool {
        let mut buffer = self.buffer.lock();
        let Ok(bytes) = rustix::io::ioctl_fionread(&self.inotify) else {
            return false;
        };
        // Those that come meanwhile, without an end where much is written, are nobody's business here.
        let mut left = bytes / SMALLEST_EVENT;
        while left > 0 {
            match self.read(&mut buffer) {
                Ok(events) if events.is_empty() => break,
                Ok(events) => {
                    left = left.saturating_sub(events.len() as u64);
                    if !self.handle(events) {
                        return false;
                    }
                }
                Err(_) => return false,
            }
        }
        self.hints.send(Hint::Flushed(number)).is_ok()
    }

    /// Watches what lies at these mount points now, and sends hints; false when the receiver is gone.
    fn watch_mounts(&self, points: BTreeSet<PathBuf>) -> bool {
        let mut hints = Vec::new();
        let mut tree = self.tree.lock();
        for point in points {
            // A root itself that goes is lost, with an event of its own.
            let Some(root) = point.parent().and_then(|above| tree.root_of(above)) else {
                continue;
            };
            if tree.is_excluded(&point) {
                continue;
            }
            // The watches are on what was there before.
            tree.remove_below(&self.inotify, &point);
            if let Err(error) = tree.add_below(&self.inotify, &point) {
                hints.push(Hint::Lost { root, error });
            }
            hints.push(Hint::Path(point));
        }
        drop(tree);
        hints.into_iter().all(|hint| self.hints.send(hint).is_ok())
    }

    /// Reads what is there now, at most one buffer full.
    fn read(&self, buffer: &mut [MaybeUninit<u8>]) -> Result<Vec<Event>, Errno> {
        let mut events = Vec::new();
        let mut reader = Reader::new(&self.inotify, buffer);
        loop {
            match reader.next() {
                Ok(event) => events.push(Event {
                    watch: event.wd(),
                    flags: event.events(),
                    name: event
                        .file_name()
                        .map(|name| PathBuf::from(OsStr::from_bytes(name.to_bytes()))),
                }),
                Err(Errno::AGAIN | Errno::INTR) => return Ok(events),
                Err(error) => return Err(error),
            }
            if reader.is_buffer_empty() {
                return Ok(events);
            }
        }
    }

    /// Updates the watches, then sends the hints; false when the receiver is gone.
    fn handle(&self, events: Vec<Event>) -> bool {
        let mut seen = HashSet::new();
        let mut hints = Vec::new();
        let mut tree = self.tree.lock();
        for event in events {
            self.apply(&mut tree, event, &mut |hint| match hint {
                Hint::Path(path) => {
                    if seen.insert(path.clone()) {
                        hints.push(Hint::Path(path));
                    }
                }
                Hint::Overflow | Hint::Lost { .. } | Hint::Flushed(_) => hints.push(hint),
            });
        }
        drop(tree);
        hints.into_iter().all(|hint| self.hints.send(hint).is_ok())
    }

    fn apply(&self, tree: &mut Tree, event: Event, hint: &mut dyn FnMut(Hint)) {
        let flags = event.flags;
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            // Directories that came and went in the gap are unknown: look at all of them again.
            hint(Hint::Overflow);
            for (root, error) in tree.rebuild(&self.inotify) {
                hint(Hint::Lost { root, error });
            }
            return;
        }
        let Some(dir) = tree.path_of(event.watch) else {
            return;
        };
        if flags.contains(ReadFlags::IGNORED) {
            tree.forget(event.watch);
            return;
        }
        if flags.contains(ReadFlags::UNMOUNT) && !tree.is_root(&dir) {
            // The parent directory gets no event for it, and the directory below has no watch yet.
            if let Err(error) = tree.add_below(&self.inotify, &dir) {
                let root = tree.root_of(&dir).unwrap_or_else(|| dir.clone());
                hint(Hint::Lost { root, error });
            }
            hint(Hint::Path(dir));
            return;
        }
        if flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT) {
            // For a directory inside, an event of its parent says the same with the name.
            if tree.is_root(&dir) {
                tree.remove_root(&self.inotify, &dir);
                hint(Hint::Path(dir.clone()));
                let error = WatchError::Gone { root: dir.clone() };
                hint(Hint::Lost { root: dir, error });
            }
            return;
        }
        let Some(name) = event.name else {
            hint(Hint::Path(dir));
            return;
        };
        let path = dir.join(name);
        if tree.is_excluded(&path) {
            return;
        }
        if flags.contains(ReadFlags::ISDIR) {
            if flags.intersects(ReadFlags::MOVED_FROM | ReadFlags::DELETE) {
                tree.remove_below(&self.inotify, &path);
            }
            if flags.intersects(ReadFlags::MOVED_TO | ReadFlags::CREATE)
                && let Err(error) = tree.add_below(&self.inotify, &path)
            {
                let root = tree.root_of(&path).unwrap_or_else(|| path.clone());
                hint(Hint::Lost { root, error });
            }
        }
        hint(Hint::Path(path));
    }

    fn fail(&self, error: Errno) {
        for root in self.tree.lock().roots() {
            let error = WatchError::Io {
                path: root.clone(),
                source: error.into(),
            };
            // This fails only if the receiver is gone; then nobody waits for it.
            let _ = self.hints.send(Hint::Lost { root, error });
        }
    }
}
