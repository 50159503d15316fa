//! Slots for transfers: uploads and downloads have their own, and each has one that takes small batches only, so that
//! nothing waits behind a long transfer.

use crate::work::Room;
use cairn_model::{FolderId, TransferDirection};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The slots of one direction.
#[derive(Default)]
pub(super) struct Lane {
    small: Arc<AtomicUsize>,
    big: Arc<AtomicUsize>,
    /// The folder that had its turn last.
    pub(super) last: Option<FolderId>,
}

impl Lane {
    /// Returns what there is room for: `parallel` transfers of any size, one small batch more, and a few files beside
    /// these: what a person has just saved waits for nothing.
    pub(super) fn room(&self, parallel: usize) -> Room {
        let big = self.big.load(Ordering::Relaxed);
        let running = big + self.small.load(Ordering::Relaxed);
        if running > parallel + 1 {
            Room::Nothing
        } else if running > parallel {
            Room::FewFiles
        } else if big >= parallel {
            Room::SmallBatches
        } else {
            Room::Anything
        }
    }

    /// Takes a slot, until the returned guard is dropped.
    pub(super) fn take(&self, is_small: bool) -> Slot {
        let count = if is_small { &self.small } else { &self.big };
        count.fetch_add(1, Ordering::Relaxed);
        Slot(Arc::clone(count))
    }

    /// Returns the folders in the order of their turns: first those after the last one.
    pub(super) fn turns(&self, folders: impl Iterator<Item = FolderId>) -> Vec<FolderId> {
        let (mut later, mut first): (Vec<_>, Vec<_>) =
            folders.partition(|id| self.last.is_some_and(|last| *id <= last));
        first.append(&mut later);
        first
    }
}

/// The slots of both directions.
#[derive(Default)]
pub(super) struct Lanes {
    up: Lane,
    down: Lane,
}

impl Lanes {
    pub(super) fn of(&mut self, direction: TransferDirection) -> &mut Lane {
        match direction {
            TransferDirection::Up => &mut self.up,
            TransferDirection::Down => &mut self.down,
        }
    }
}

/// A slot that a transfer has taken.
pub(super) struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_transfers_leave_a_slot_to_small_batches() {
        let lane = Lane::default();
        let mut slots = vec![lane.take(false)];
        assert_eq!(lane.room(2), Room::Anything);
        slots.push(lane.take(false));
        assert_eq!(lane.room(2), Room::SmallBatches);
        slots.push(lane.take(true));
        assert_eq!(lane.room(2), Room::FewFiles);
        slots.push(lane.take(true));
        assert_eq!(lane.room(2), Room::Nothing);
        slots.remove(0);
        assert_eq!(lane.room(2), Room::FewFiles);
        slots.pop();
        assert_eq!(lane.room(2), Room::Anything);
    }

    #[test]
    fn folders_take_turns() {
        let ids = [1, 2, 3].map(FolderId);
        let mut lane = Lane::default();
        assert_eq!(lane.turns(ids.into_iter()), ids);
        lane.last = Some(FolderId(1));
        assert_eq!(lane.turns(ids.into_iter()), [2, 3, 1].map(FolderId));
        lane.last = Some(FolderId(3));
        assert_eq!(lane.turns(ids.into_iter()), ids);
    }
}
