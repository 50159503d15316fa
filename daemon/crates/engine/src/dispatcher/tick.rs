//! One round (tick) of the dispatcher: does whatever is due now.

use super::rules::awaits_rules;
use super::{Dispatcher, Done};
use crate::work::{Room, Work};
use cairn_model::{FolderId, TransferDirection};
use std::sync::atomic::Ordering;
use tokio::time::Instant;

impl Dispatcher {
    /// Does what is due. Returns whether another tick should follow at once.
    pub(super) async fn tick(&mut self) -> bool {
        self.drain().await;
        // Before anything new is known: a part of a plan that follows may drop what has not begun, again and again.
        self.start_transfers();
        if std::mem::take(&mut self.reload) {
            // Before the reading: what is changed after it is to be read again.
            self.engine.reload.store(false, Ordering::Release);
            if let Err(error) = self.load_folders() {
                self.reload = true;
                self.back_off(&error);
            }
        }
        self.poll_if_due();
        self.empty_trash().await;
        self.sample_heads().await;
        let ids: Vec<FolderId> = self.folders.keys().copied().collect();
        let mut again = false;
        for id in ids {
            if self.engine.stop.is_set() {
                return false;
            }
            if self.apply_pause(id) {
                continue;
            }
            self.stop_waiting_for_watcher(id);
            again |= self.scan_due(id).await;
            if self.can_plan() {
                again |= self.plan_and_execute(id).await;
            }
        }
        self.news_unplanned = false;
        self.start_transfers();
        self.heal_if_due();
        self.compare_if_due();
        // What keeps the feed from being polled (an outage, steps that are carried out) is an event.
        let can_poll = self.retry.is_none() && self.structure.is_empty() && !self.is_polling();
        again || (self.poll_due && can_poll && !self.folders.is_empty())
    }

    /// Interrupts the transfers of a folder that is paused. Returns whether it is.
    fn apply_pause(&mut self, id: FolderId) -> bool {
        let now_ms = self.engine.ports.clock.now_ms();
        let Some(folder) = self.folders.get_mut(&id) else {
            return true;
        };
        let paused = folder.is_paused(now_ms);
        // A pause that is not read yet is set already.
        if paused || !self.engine.is_interrupted() {
            folder
                .pause
                .send_if_modified(|now| std::mem::replace(now, paused) != paused);
        }
        if paused {
            folder.forget_queue();
        }
        paused
    }

    /// Returns whether the service carries out steps and transfers, as far as is known.
    pub(super) fn is_reachable(&self) -> bool {
        let now = Instant::now();
        let is_paused = self.steps_pause.is_some_and(|pause| pause.until > now);
        self.retry.is_none() && !is_paused && !self.feed_incomplete
    }

    /// Returns whether plans can be made of what is known of the service: all of it was polled, and nothing is
    /// recorded now.
    pub(super) fn can_plan(&self) -> bool {
        let is_polled = !self.poll_due || self.news_unplanned;
        self.is_reachable() && is_polled && !self.is_polling()
    }

    /// Fills the slots of both directions with transfers, one of each folder in turn.
    fn start_transfers(&mut self) {
        if !self.is_reachable() {
            return;
        }
        for direction in [TransferDirection::Up, TransferDirection::Down] {
            // A pause that has come during this tick is not carried out yet.
            while !self.engine.is_interrupted() && self.start_next(direction) {}
        }
    }

    /// Starts the next transfer of a direction. Returns false if there is none, or no room.
    fn start_next(&mut self, direction: TransferDirection) -> bool {
        let lane = self.lanes.of(direction);
        let room = lane.room(self.tuning.parallel);
        if room == Room::Nothing {
            return false;
        }
        for id in lane.turns(self.folders.keys().copied()) {
            // What is queued was planned without the rules that have come with the feed since.
            if direction == TransferDirection::Up
                && self.has_queued(id)
                && self.ctx(id).is_some_and(|ctx| awaits_rules(&ctx))
            {
                continue;
            }
            let work = self
                .folders
                .get_mut(&id)
                .and_then(|folder| folder.queue.pop(direction, room));
            if let Some(work) = work {
                self.lanes.of(direction).last = Some(id);
                self.start_transfer(id, direction, work);
                return true;
            }
        }
        false
    }

    fn has_queued(&self, id: FolderId) -> bool {
        let folder = self.folders.get(&id);
        folder.is_some_and(|folder| !folder.queue.is_empty())
    }

    fn start_transfer(&mut self, id: FolderId, direction: TransferDirection, work: Work) {
        let Some(ctx) = self.ctx(id) else { return };
        let amount = work.amount();
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.in_flight += amount.files;
            folder.in_flight_bytes += amount.bytes;
        }
        self.locked.extend(work.keys());
        let slot = self.lanes.of(direction).take(work.is_small());
        self.transfers.spawn(async move {
            let results = work.run(ctx).await;
            drop(slot);
            Done {
                folder: id,
                results,
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use crate::work::pack;
    use cairn_index::Skipped;
    use cairn_model::Name;
    use cairn_plan::{Parent, ParentAndName, Step};
    use std::sync::Arc;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn no_transfer_is_begun_while_a_pause_waits_to_be_carried_out() {
        let test = TestEngine::new();
        let (tuning, id) = (test.options.tuning(), test.folder.id);
        let local = test.local_file("f", Skipped::No);
        let (engine, _dir) = test.into_engine();
        let (_commands, inbox) = mpsc::unbounded_channel();
        let mut dispatcher = Dispatcher::new(Arc::clone(&engine), inbox, tuning).unwrap();
        let to = ParentAndName {
            parent: Parent::Root,
            name: Name::new("f".to_owned()).unwrap(),
        };
        let step = Step::Upload {
            local,
            over: None,
            to,
        };
        let queue = pack(&dispatcher.ctx(id).unwrap(), &[&step]).unwrap();
        dispatcher.folders.get_mut(&id).unwrap().queue = queue;
        engine.reload.store(true, Ordering::Release);
        dispatcher.start_transfers();
        assert!(dispatcher.transfers.is_empty());
        engine.reload.store(false, Ordering::Release);
        dispatcher.start_transfers();
        assert_eq!(dispatcher.transfers.len(), 1);
    }
}
