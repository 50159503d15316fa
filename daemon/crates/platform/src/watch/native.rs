//! Watching on macOS and Windows, where the system itself watches a whole tree.

use super::{Hint, WatchError, is_own};
use notify::{ErrorKind, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

pub(super) struct SysWatcher {
    watcher: Mutex<RecommendedWatcher>,
    roots: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl std::fmt::Debug for SysWatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SysWatcher")
            .field("roots", &self.roots)
            .finish_non_exhaustive()
    }
}

impl SysWatcher {
    pub(super) fn new(hints: UnboundedSender<Hint>) -> Result<Self, WatchError> {
        let roots = Arc::new(Mutex::new(BTreeSet::new()));
        let known = Arc::clone(&roots);
        let watcher = notify::recommended_watcher(move |event| forward(event, &known, &hints))
            .map_err(|e| convert(Path::new("the file system"), e))?;
        Ok(Self {
            watcher: Mutex::new(watcher),
            roots,
        })
    }

    pub(super) fn watch(&self, root: &Path) -> Result<(), WatchError> {
        let mut watcher = self.watcher.lock();
        watcher
            .watch(root, RecursiveMode::Recursive)
            .map_err(|e| convert(root, e))?;
        self.roots.lock().insert(root.to_path_buf());
        Ok(())
    }

    /// Returns false: neither system says when its last event has come.
    #[expect(clippy::unused_self, reason = "elsewhere the watcher can")]
    pub(super) fn flush(&self, _number: u64) -> bool {
        false
    }

    pub(super) fn unwatch(&self, root: &Path) {
        if self.roots.lock().remove(root) {
            let mut watcher = self.watcher.lock();
            // Fails only where the folder is gone, and then there is nothing to end.
            let _ = watcher.unwatch(root);
        }
    }
}

fn forward(
    event: notify::Result<notify::Event>,
    roots: &Mutex<BTreeSet<PathBuf>>,
    hints: &UnboundedSender<Hint>,
) {
    let roots = roots.lock().clone();
    // A closed channel means that the daemon is stopping.
    let send = |hint| {
        let _ = hints.send(hint);
    };
    match event {
        Ok(event) if event.need_rescan() => send(Hint::Overflow),
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
        Ok(event) => {
            for path in event.paths {
                if !roots.iter().any(|root| is_own(root, &path)) {
                    send(Hint::Path(path));
                }
            }
        }
        Err(error) => {
            let source = error.to_string();
            for root in roots {
                let error = WatchError::Io {
                    path: root.clone(),
                    source: io::Error::other(source.clone()),
                };
                send(Hint::Lost { root, error });
            }
        }
    }
}

fn convert(path: &Path, error: notify::Error) -> WatchError {
    let source = match error.kind {
        ErrorKind::Io(source) => source,
        ErrorKind::PathNotFound | ErrorKind::WatchNotFound => io::ErrorKind::NotFound.into(),
        ErrorKind::Generic(_) | ErrorKind::InvalidConfig(_) | ErrorKind::MaxFilesWatch => {
            io::Error::other(error.to_string())
        }
    };
    WatchError::Io {
        path: path.to_path_buf(),
        source,
    }
}
