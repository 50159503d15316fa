//! The pauses of folders, so that one reaches what runs at once, whatever the dispatcher does just now.

use cairn_model::FolderId;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;

/// A flag for each folder: true while it is paused.
#[derive(Default)]
pub(crate) struct Pauses(Mutex<BTreeMap<FolderId, Arc<watch::Sender<bool>>>>);

impl Pauses {
    /// Adds a folder that is not paused.
    pub(crate) fn add(&self, folder: FolderId) -> Arc<watch::Sender<bool>> {
        let pause = Arc::new(watch::Sender::new(false));
        self.0.lock().insert(folder, Arc::clone(&pause));
        pause
    }

    /// Drops the flags of all other folders.
    pub(crate) fn keep_only(&self, folders: &BTreeSet<FolderId>) {
        self.0.lock().retain(|id, _| folders.contains(id));
    }

    /// Pauses a folder, or all. The dispatcher takes the flag back when the pause is over.
    pub(crate) fn set(&self, folder: Option<FolderId>) {
        for (id, pause) in self.0.lock().iter() {
            if folder.is_none_or(|folder| folder == *id) {
                pause.send_replace(true);
            }
        }
    }
}
