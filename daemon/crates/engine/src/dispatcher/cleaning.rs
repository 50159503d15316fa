//! Empties the local trash, once a day.

use super::Dispatcher;
use crate::trash;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The trash of each folder is looked through this often.
const EVERY: Duration = Duration::from_secs(24 * 3600);

impl Dispatcher {
    /// Deletes for good what is too old or too much, if that is due.
    pub(super) async fn empty_trash(&mut self) {
        let now = Instant::now();
        if self.next_emptying > now {
            return;
        }
        self.next_emptying = now + EVERY;
        let roots: Vec<PathBuf> = self
            .folders
            .values()
            .filter(|folder| !folder.schedule.is_root_missing())
            .map(|folder| PathBuf::from(&folder.row.root))
            .collect();
        let disk = Arc::clone(&self.engine.ports.disk);
        let now_ms = self.engine.ports.clock.now_ms();
        let _disk_lock = self.engine.disk_lock.lock().await;
        self.engine
            .ports
            .run_blocking(move || {
                for root in roots {
                    if let Err(error) = trash::empty(&*disk, &root, now_ms) {
                        tracing::warn!(%error, "old things stay in the local trash for now");
                    }
                }
            })
            .await;
    }
}
