//! One round of the dispatcher: whatever is due now.

use super::{Dispatcher, Done};
use cairn_model::FolderId;

impl Dispatcher {
    /// Does what is due. Returns whether another tick should follow at once.
    pub(super) async fn tick(&mut self) -> bool {
        self.drain().await;
        if std::mem::take(&mut self.reload)
            && let Err(error) = self.load_folders()
        {
            self.back_off(&error);
        }
        self.poll_feed().await;
        self.empty_trash().await;
        let ids: Vec<FolderId> = self.folders.keys().copied().collect();
        let mut again = false;
        for id in ids {
            if self.engine.stop.is_set() {
                return false;
            }
            if self.apply_pause(id) {
                continue;
            }
            self.scan_due(id).await;
            if self.is_reachable() {
                again |= self.plan_and_execute(id).await;
            }
        }
        self.start_transfers();
        again || self.feed_incomplete
    }

    /// Interrupts the transfers of a folder that is paused. Returns whether it is.
    fn apply_pause(&mut self, id: FolderId) -> bool {
        let now_ms = self.engine.ports.clock.now_ms();
        let Some(folder) = self.folders.get_mut(&id) else {
            return true;
        };
        let paused = folder.is_paused(now_ms);
        folder
            .pause
            .send_if_modified(|now| std::mem::replace(now, paused) != paused);
        if paused {
            folder.queue.clear();
        }
        paused
    }

    /// Returns whether plans can be made and carried out.
    fn is_reachable(&self) -> bool {
        self.retry.is_none() && !self.feed_incomplete
    }

    /// Fills the pool with transfers, one of each folder in turn.
    fn start_transfers(&mut self) {
        if !self.is_reachable() {
            return;
        }
        let ids: Vec<FolderId> = self.folders.keys().copied().collect();
        let mut any = true;
        while any {
            any = false;
            for id in &ids {
                if self.transfers.len() >= self.tuning.parallel {
                    return;
                }
                any |= self.start_transfer(*id);
            }
        }
    }

    /// Starts the next transfer of a folder. Returns false if there is none.
    fn start_transfer(&mut self, id: FolderId) -> bool {
        let Some(ctx) = self.ctx(id) else {
            return false;
        };
        let Some(folder) = self.folders.get_mut(&id) else {
            return false;
        };
        let Some(work) = folder.queue.pop_front() else {
            return false;
        };
        let (keys, count) = (work.keys(), work.len());
        folder.in_flight += count;
        self.locked.extend(keys.iter().copied());
        self.transfers.spawn(async move {
            let results = work.run(ctx).await;
            Done {
                folder: id,
                keys,
                count,
                results,
            }
        });
        true
    }
}
