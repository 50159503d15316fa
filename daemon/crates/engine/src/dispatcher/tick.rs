//! One round of the dispatcher: whatever is due now.

use super::lanes::Room;
use super::{Dispatcher, Done};
use crate::work::Work;
use cairn_model::{FolderId, TransferDirection};
use std::sync::atomic::Ordering;

impl Dispatcher {
    /// Does what is due. Returns whether another tick should follow at once.
    pub(super) async fn tick(&mut self) -> bool {
        self.drain().await;
        if std::mem::take(&mut self.reload) {
            // Before the reading: what is changed after it is to be read again.
            self.engine.reload.store(false, Ordering::Release);
            if let Err(error) = self.load_folders() {
                self.reload = true;
                self.back_off(&error);
            }
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

    /// Fills the slots of both directions with transfers, one of each folder in turn.
    fn start_transfers(&mut self) {
        if !self.is_reachable() {
            return;
        }
        for direction in [TransferDirection::Up, TransferDirection::Down] {
            while self.start_next(direction) {}
        }
    }

    /// Starts the next transfer of a direction. Returns false if there is none, or no room.
    fn start_next(&mut self, direction: TransferDirection) -> bool {
        let lane = self.lanes.of(direction);
        let only_small = match lane.room(self.tuning.parallel) {
            Room::Nothing => return false,
            Room::SmallBatches => true,
            Room::Anything => false,
        };
        for id in lane.turns(self.folders.keys().copied()) {
            let work = self
                .folders
                .get_mut(&id)
                .and_then(|folder| folder.queue.pop(direction, only_small));
            if let Some(work) = work {
                self.lanes.of(direction).last = Some(id);
                self.start_transfer(id, direction, work);
                return true;
            }
        }
        false
    }

    fn start_transfer(&mut self, id: FolderId, direction: TransferDirection, work: Work) {
        let Some(ctx) = self.ctx(id) else { return };
        let (keys, count) = (work.keys(), work.len());
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.in_flight += count;
        }
        self.locked.extend(keys.iter().copied());
        let slot = self.lanes.of(direction).take(work.is_small());
        self.transfers.spawn(async move {
            let results = work.run(ctx).await;
            drop(slot);
            Done {
                folder: id,
                keys,
                count,
                results,
            }
        });
    }
}
