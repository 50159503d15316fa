//! Gives back what a lot of work has taken of memory and of the disk.

use super::Dispatcher;
use std::sync::Arc;

/// The least number of transfers after which there is much to give back.
const MANY: u64 = 1_000;

impl Dispatcher {
    /// Cuts the index's log back and returns free memory to the system, if nothing is left to be done after a whole
    /// scan or many transfers.
    pub(super) async fn rest(&mut self) {
        let transferred = self.transferred.files;
        let has_worked = self.has_scanned || transferred >= self.transferred_at_rest + MANY;
        if !has_worked || !self.is_calm() {
            return;
        }
        (self.has_scanned, self.transferred_at_rest) = (false, transferred);
        let engine = Arc::clone(&self.engine);
        self.engine
            .ports
            .run_blocking(move || {
                if let Err(error) = engine.index.shrink() {
                    tracing::warn!(%error, "the log of the index keeps its size for now");
                }
                if engine.ports.threads {
                    cairn_platform::memory::release_free_memory();
                }
            })
            .await;
    }
}
