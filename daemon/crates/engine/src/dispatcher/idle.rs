//! Waiting until the engine is idle: everything equal, and a fresh look at both sides finds nothing new.

use super::Dispatcher;
use crate::command::WaitResult;
use cairn_model::SyncState;

impl Dispatcher {
    /// Replies to the waiters, or begins the fresh look that a reply needs. Called when there is nothing
    /// to do at once.
    pub(super) fn notify_idle(&mut self) {
        if !self.waiters.any() {
            return;
        }
        let now_ms = self.engine.ports.clock.now_ms();
        let paused = !self.folders.is_empty() && self.folders.values().all(|f| f.is_paused(now_ms));
        if paused && self.structure.is_empty() {
            return self.waiters.reply(WaitResult::Paused);
        }
        if !self.is_calm() {
            return;
        }
        if self.waiters.begin_look() {
            self.rescan_everything(None);
            // The next tick does the look; if it finds anything, that resets the waiters.
            if self.feed_sender.send(()).is_err() {
                tracing::debug!("the dispatcher is stopping");
            }
            return;
        }
        let health = self.engine.health();
        let parked = self.folders.keys().any(|id| health.waits_for_person(*id));
        drop(health);
        let needs_person = parked
            || self.engine.status().folders.iter().any(|f| {
                f.waiting_local_deletions + f.waiting_remote_deletions > 0
                    || f.state == SyncState::Error
            });
        self.waiters.reply(if needs_person {
            WaitResult::NeedsPerson
        } else {
            WaitResult::InSync
        });
    }

    fn is_calm(&self) -> bool {
        let now_ms = self.engine.ports.clock.now_ms();
        self.folders
            .values()
            .all(|f| f.is_paused(now_ms) || f.is_calm())
            && self.transfers.is_empty()
            && !self.poll_due
            && self.is_reachable()
            && !self.engine.health().waits_briefly()
    }
}
