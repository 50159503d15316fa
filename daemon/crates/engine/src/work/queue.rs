//! The queue of a folder's transfers that have not begun.

use super::Work;
use crate::key::Key;
use crate::overall_progress::Amount;
use cairn_model::TransferDirection;
use std::collections::{BTreeSet, VecDeque};

/// One batch of so many is that of the oldest changes: they must not wait for as long as new ones come.
const OLDEST_ONE_IN: usize = 4;

/// The work items of one direction: batches of small files, the latest change first, and big files, smallest first.
#[derive(Clone, Default, Debug)]
pub(super) struct Lane {
    pub(super) small: VecDeque<Work>,
    pub(super) big: VecDeque<Work>,
    /// The number of batches that were taken.
    taken: usize,
}

impl Lane {
    pub(super) fn new(small: impl Iterator<Item = Work>, big: impl Iterator<Item = Work>) -> Self {
        Self {
            small: small.collect(),
            big: big.collect(),
            taken: 0,
        }
    }

    fn pop_batch(&mut self) -> Option<Work> {
        self.taken += 1;
        match self.taken % OLDEST_ONE_IN {
            0 => self.small.pop_back(),
            _ => self.small.pop_front(),
        }
    }
}

/// The transfers of a folder that have not begun.
#[derive(Clone, Default, Debug)]
pub(crate) struct Queue {
    up: Lane,
    down: Lane,
    /// All of it: each round of the dispatcher asks for it.
    amount: Amount,
}

impl Queue {
    pub(super) fn new(up: Lane, down: Lane) -> Self {
        let mut queue = Self {
            up,
            down,
            amount: Amount::default(),
        };
        let mut amount = Amount::default();
        queue.works().for_each(|work| amount.add(work.amount()));
        queue.amount = amount;
        queue
    }

    fn lane(&mut self, direction: TransferDirection) -> &mut Lane {
        match direction {
            TransferDirection::Up => &mut self.up,
            TransferDirection::Down => &mut self.down,
        }
    }

    pub(super) fn works(&self) -> impl Iterator<Item = &Work> {
        let Self { up, down, .. } = self;
        [&up.small, &up.big, &down.small, &down.big]
            .into_iter()
            .flatten()
    }

    /// Adds all of another queue: its batches come before those that are here.
    pub(crate) fn put_before(&mut self, mut other: Self) {
        for (own, other) in [
            (&mut self.up, &mut other.up),
            (&mut self.down, &mut other.down),
        ] {
            other.small.append(&mut own.small);
            std::mem::swap(&mut own.small, &mut other.small);
            own.big.append(&mut other.big);
            let by_size = |work: &Work| work.amount().bytes;
            own.big.make_contiguous().sort_by_key(by_size);
        }
        self.amount.add(other.amount);
    }

    /// Drops the files that use one of some keys.
    pub(crate) fn remove(&mut self, keys: &BTreeSet<Key>) {
        if self.is_empty() {
            return;
        }
        let mut amount = Amount::default();
        for works in [
            &mut self.up.small,
            &mut self.up.big,
            &mut self.down.small,
            &mut self.down.big,
        ] {
            let left = std::mem::take(works).into_iter();
            *works = left.filter_map(|work| work.without(keys)).collect();
            works.iter().for_each(|work| amount.add(work.amount()));
        }
        self.amount = amount;
    }

    /// Returns the number of files in batches.
    pub(crate) fn small_files(&self) -> u64 {
        let batches = self.up.small.iter().chain(&self.down.small);
        batches.map(Work::len).sum()
    }

    /// Takes the next work of one direction.
    pub(crate) fn pop(&mut self, direction: TransferDirection, only_small: bool) -> Option<Work> {
        let lane = self.lane(direction);
        let small = lane.pop_batch();
        let work = small.or_else(|| {
            if only_small {
                None
            } else {
                lane.big.pop_front()
            }
        })?;
        let taken = work.amount();
        self.amount.files = self.amount.files.saturating_sub(taken.files);
        self.amount.bytes = self.amount.bytes.saturating_sub(taken.bytes);
        Some(work)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.works().next().is_none()
    }

    /// Returns the number of files.
    pub(crate) fn len(&self) -> u64 {
        self.amount.files
    }

    /// Returns the files and bytes of all of it.
    pub(crate) fn amount(&self) -> Amount {
        self.amount
    }
}
