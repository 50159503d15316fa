//! Comparing what this device sees with the checkpoints of the others, once things are quiet.

use super::Dispatcher;
use crate::checkpoints::{self, Compared};
use crate::error::EngineError;
use crate::feed;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The quiet time after a change, and the pause before the next try where something is going on.
const QUIET: Duration = Duration::from_secs(30);

/// The time after which another device that has seen the same change has left its checkpoint, too.
const OTHERS: Duration = Duration::from_secs(120);

/// The time between two comparisons while nothing changes.
const EVERY: Duration = Duration::from_secs(3600);

impl Dispatcher {
    /// Lets views be compared soon: something has changed.
    pub(super) fn compare_soon(&mut self) {
        if self.comparing.is_empty() {
            let soon = Instant::now() + QUIET;
            self.next_comparison = self.next_comparison.min(soon.max(self.not_compared_before));
        }
    }

    /// Begins to compare views, if that is due and nothing else goes on.
    pub(super) fn compare_if_due(&mut self) {
        while let Some(done) = self.comparing.try_join_next() {
            self.end_comparison(done.ok().flatten());
        }
        let now = Instant::now();
        if !self.tuning.checkpoints || self.next_comparison > now || !self.comparing.is_empty() {
            return;
        }
        let is_busy = !self.transfers.is_empty() || !self.structure.is_empty() || self.is_polling();
        if self.folders.is_empty() || !self.is_reachable() || is_busy {
            self.next_comparison = now + QUIET;
            return;
        }
        self.comparing_since = now;
        let engine = Arc::clone(&self.engine);
        let own = self.own_checkpoint.clone();
        self.comparing.spawn(async move {
            match checkpoints::compare(&engine, &own).await {
                Ok(compared) => Some(compared),
                Err(error) => {
                    tracing::debug!(%error, "views can't be compared with other devices now");
                    None
                }
            }
        });
    }

    /// Sets the time of the next comparison by how one has ended; `None`: it has failed.
    pub(super) fn end_comparison(&mut self, compared: Option<Compared>) {
        let wait = match compared {
            Some(Compared::Behind) => QUIET,
            Some(Compared::Left) => OTHERS,
            Some(Compared::Partial | Compared::Unchanged) | None => EVERY,
        };
        // Reading a large index takes a while: no more than a hundredth of the time goes there.
        let now = Instant::now();
        self.not_compared_before = now + now.duration_since(self.comparing_since) * 100;
        self.next_comparison = self.not_compared_before.max(now + wait);
    }

    /// Accepts what waits for a person on the service, and that other devices have other views. Returns how much it was.
    ///
    /// # Errors
    /// Errors of the network or the index, or a service that breaks the protocol.
    pub(super) async fn accept(&mut self) -> Result<u64, EngineError> {
        let accepted = feed::accept(&self.engine).await?;
        let had_others = checkpoints::dismiss(&self.engine)?;
        Ok(accepted + u64::from(had_others))
    }
}
