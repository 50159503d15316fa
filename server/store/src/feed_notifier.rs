//! Wakes those who wait for a change in a space (the files of an account or team).
//!
//! It carries positions, never changes: a listener reads the feed itself, so a slow one loses
//! nothing and a burst is read in one go.

use parking_lot::Mutex;
use std::collections::HashMap;
use tokio::sync::watch;

/// One channel per space that somebody listens to.
#[derive(Default)]
pub struct FeedNotifier {
    spaces: Mutex<HashMap<i64, watch::Sender<i64>>>,
}

impl FeedNotifier {
    /// Listens to a space; the value is the position of its last change since anyone listened.
    pub fn listen(&self, space: i64) -> watch::Receiver<i64> {
        let mut spaces = self.spaces.lock();
        spaces
            .entry(space)
            .or_insert_with(|| watch::Sender::new(0))
            .subscribe()
    }

    /// Reports that a space's feed has moved up to `seq`.
    pub(crate) fn notify(&self, space: i64, seq: i64) {
        let mut spaces = self.spaces.lock();
        if let Some(sender) = spaces.get(&space)
            && sender.send(seq).is_err()
        {
            spaces.remove(&space);
        }
    }

    /// Wakes everybody, at an unknown position.
    pub(crate) fn notify_all(&self) {
        let mut spaces = self.spaces.lock();
        spaces.retain(|_, sender| sender.send(0).is_ok());
    }

    /// Ends all listening.
    pub(crate) fn close_all(&self) {
        self.spaces.lock().clear();
    }
}
