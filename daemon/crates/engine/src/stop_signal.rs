//! The signal that ends an engine.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Set once; everything that waits for it wakes up.
#[derive(Default)]
pub(crate) struct StopSignal {
    stopping: AtomicBool,
    notify: Notify,
}

impl StopSignal {
    pub(crate) fn set(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.notify.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Waits for the signal; check [`StopSignal::is_set`] before.
    pub(crate) fn wait(&self) -> Notified<'_> {
        self.notify.notified()
    }
}
