//! The queue of a folder's transfers that have not begun.

use super::Work;
use crate::key::Key;
use crate::overall_progress::Amount;
use cairn_model::TransferDirection;
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

/// One batch of so many is that of the oldest changes: they must not wait for as long as new ones come.
const OLDEST_ONE_IN: usize = 4;
/// A batch of so many files at most is begun although others have the slots.
const FEW_FILES: u64 = 16;

/// The transfers that a direction can begin now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    Nothing,
    /// A batch of a few files.
    FewFiles,
    SmallBatches,
    Anything,
}

/// A batch of small files.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The time of its latest change, to be compared with others of its direction only.
    pub(super) changed: i64,
    pub(super) work: Work,
}

/// The work items of one direction: batches of small files, the latest change first, and big files, smallest first.
#[derive(Clone, Default, Debug)]
pub(super) struct Lane {
    small: VecDeque<Batch>,
    big: VecDeque<Work>,
    /// The number of batches that were taken.
    taken: usize,
}

impl Lane {
    pub(super) fn new(small: impl Iterator<Item = Batch>, big: impl Iterator<Item = Work>) -> Self {
        Self {
            small: small.collect(),
            big: big.collect(),
            taken: 0,
        }
    }

    fn pop_batch(&mut self) -> Option<Work> {
        self.taken += 1;
        let batch = match self.taken % OLDEST_ONE_IN {
            0 => self.small.pop_back(),
            _ => self.small.pop_front(),
        };
        batch.map(|batch| batch.work)
    }

    /// Takes the batch of the latest change if it is of a few files.
    fn pop_few(&mut self) -> Option<Work> {
        let batch = self
            .small
            .pop_front_if(|batch| batch.work.len() <= FEW_FILES)?;
        Some(batch.work)
    }

    fn works(&self) -> impl Iterator<Item = &Work> {
        let small = self.small.iter().map(|batch| &batch.work);
        small.chain(&self.big)
    }

    /// Adds all of another lane, before those that were changed at the same time.
    fn put(&mut self, mut other: Self) {
        other.small.append(&mut self.small);
        let latest_first = |batch: &Batch| Reverse(batch.changed);
        other.small.make_contiguous().sort_by_key(latest_first);
        self.small = other.small;
        self.big.append(&mut other.big);
        let by_size = |work: &Work| work.amount().bytes;
        self.big.make_contiguous().sort_by_key(by_size);
    }

    /// Drops the files that use one of some keys.
    fn remove(&mut self, keys: &BTreeSet<Key>) {
        let small = std::mem::take(&mut self.small).into_iter();
        let left = small.filter_map(|Batch { changed, work }| {
            let work = work.without(keys)?;
            Some(Batch { changed, work })
        });
        self.small = left.collect();
        let big = std::mem::take(&mut self.big).into_iter();
        self.big = big.filter_map(|work| work.without(keys)).collect();
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
        self.up.works().chain(self.down.works())
    }

    /// Adds all of another queue. The latest change comes first, whichever it was in: it would wait for all that is
    /// planned after it.
    pub(crate) fn put(&mut self, other: Self) {
        self.up.put(other.up);
        self.down.put(other.down);
        self.amount.add(other.amount);
    }

    /// Drops the files that use one of some keys.
    pub(crate) fn remove(&mut self, keys: &BTreeSet<Key>) {
        if self.is_empty() {
            return;
        }
        self.up.remove(keys);
        self.down.remove(keys);
        let mut amount = Amount::default();
        self.works().for_each(|work| amount.add(work.amount()));
        self.amount = amount;
    }

    /// Returns the number of files in batches.
    pub(crate) fn small_files(&self) -> u64 {
        let batches = self.up.small.iter().chain(&self.down.small);
        batches.map(|batch| batch.work.len()).sum()
    }

    /// Takes the next work of one direction for which there is room.
    pub(crate) fn pop(&mut self, direction: TransferDirection, room: Room) -> Option<Work> {
        let lane = self.lane(direction);
        let work = match room {
            Room::Nothing => None,
            Room::FewFiles => lane.pop_few(),
            Room::SmallBatches => lane.pop_batch(),
            Room::Anything => lane.pop_batch().or_else(|| lane.big.pop_front()),
        }?;
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
