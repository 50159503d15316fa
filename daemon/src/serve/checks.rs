//! The checks on which an engine depends: never two at once, each to its end, now and then and when one is asked for.

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, Notify};
use tokio::task::JoinHandle;

/// The state of the checks of one engine.
#[derive(Default)]
pub(super) struct Checks {
    /// Held during a check.
    running: AsyncMutex<()>,
    wake: Notify,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Checks {
    /// Takes the task that checks regularly.
    pub(super) fn keep(&self, task: JoinHandle<()>) {
        *self.task.lock() = Some(task);
    }

    /// Makes the next check due.
    pub(super) fn request(&self) {
        self.wake.notify_one();
    }

    /// Waits until somebody asks for a check.
    pub(super) async fn wait_for_request(&self) {
        self.wake.notified().await;
    }

    /// Waits until no other check runs, and keeps others from running meanwhile.
    pub(super) async fn lock(&self) -> MutexGuard<'_, ()> {
        self.running.lock().await
    }

    /// Runs a check to its end: a caller that goes away must not leave an engine half replaced.
    pub(super) async fn finish(subject: &str, check: impl Future<Output = ()> + Send + 'static) {
        if let Err(error) = tokio::spawn(check).await {
            tracing::error!(%error, "a check of {subject} has failed");
        }
    }

    /// Ends the regular checks.
    pub(super) fn end(&self) {
        if let Some(task) = self.task.lock().take() {
            task.abort();
        }
    }
}
