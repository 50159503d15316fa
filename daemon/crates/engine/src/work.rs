//! Transfers as work for the pool: small files in batches, each big one alone.

use crate::error::EngineError;
use crate::executor::path_of;
use crate::key::Key;
use crate::overall_progress::Amount;
use crate::step::{Ctx, download, upload};
use cairn_index::IndexError;
use cairn_model::TransferDirection;
use cairn_plan::Step;
use cairn_wire::transfer::{BATCH_BYTES, BATCH_FILES};
use std::collections::{BTreeMap, VecDeque};

/// Files up to this size travel in batches: they are one chunk.
const SMALL: u64 = cairn_crypto::MIN_CHUNK as u64;
/// Room for seals and padding in a batch.
const BATCH_ROOM: u64 = (BATCH_BYTES - BATCH_BYTES / 8) as u64;

/// Transfers that belong together.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Upload(upload::Task),
    Uploads(Vec<upload::Task>),
    Download(download::Task),
    Downloads(Vec<download::Task>),
}

/// The outcome of one task of a work: its keys, where it was, and what happened.
pub(crate) struct TransferResult {
    pub(crate) keys: Vec<Key>,
    pub(crate) path: String,
    pub(crate) result: Result<(), EngineError>,
}

impl Work {
    pub(crate) fn keys(&self) -> Vec<Key> {
        match self {
            Self::Upload(task) => upload::keys(task),
            Self::Uploads(tasks) => tasks.iter().flat_map(upload::keys).collect(),
            Self::Download(task) => download::keys(task),
            Self::Downloads(tasks) => tasks.iter().flat_map(download::keys).collect(),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Upload(_) | Self::Download(_) => 1,
            Self::Uploads(tasks) => tasks.len() as u64,
            Self::Downloads(tasks) => tasks.len() as u64,
        }
    }

    /// Returns the bytes of each file.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        match self {
            Self::Upload(task) => vec![task.size],
            Self::Download(task) => vec![task.size],
            Self::Uploads(tasks) => tasks.iter().map(|task| task.size).collect(),
            Self::Downloads(tasks) => tasks.iter().map(|task| task.size).collect(),
        }
    }

    /// Returns the files and bytes of it.
    pub(crate) fn amount(&self) -> Amount {
        let bytes = match self {
            Self::Upload(task) => task.size,
            Self::Download(task) => task.size,
            Self::Uploads(tasks) => tasks.iter().map(|task| task.size).sum(),
            Self::Downloads(tasks) => tasks.iter().map(|task| task.size).sum(),
        };
        Amount {
            files: self.len(),
            bytes,
        }
    }

    pub(crate) fn is_small(&self) -> bool {
        matches!(self, Self::Uploads(_) | Self::Downloads(_))
    }

    /// Does the work; one outcome a task.
    pub(crate) async fn run(self, ctx: Ctx) -> Vec<TransferResult> {
        let results = match &self {
            Self::Upload(task) => vec![upload::one(&ctx, task).await],
            Self::Uploads(tasks) => upload::many(&ctx, tasks).await,
            Self::Download(task) => vec![download::one(&ctx, task).await],
            Self::Downloads(tasks) => download::many(&ctx, tasks).await,
        };
        let up = |t: &upload::Task| (upload::keys(t), Key::Local(t.local));
        let down = |t: &download::Task| (download::keys(t), Key::Node(t.node));
        let keyed: Vec<(Vec<Key>, Key)> = match &self {
            Self::Upload(task) => vec![up(task)],
            Self::Uploads(tasks) => tasks.iter().map(up).collect(),
            Self::Download(task) => vec![down(task)],
            Self::Downloads(tasks) => tasks.iter().map(down).collect(),
        };
        keyed
            .into_iter()
            .zip(results)
            .map(|((keys, main), result)| {
                let path = if result.is_err() {
                    path_of(&ctx, main)
                } else {
                    String::new()
                };
                TransferResult { keys, path, result }
            })
            .collect()
    }
}

/// The work of one direction, smallest first.
#[derive(Clone, Default, Debug)]
struct Lane {
    small: VecDeque<Work>,
    big: VecDeque<Work>,
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
    fn new(up: Lane, down: Lane) -> Self {
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

    fn works(&self) -> impl Iterator<Item = &Work> {
        let Self { up, down, .. } = self;
        [&up.small, &up.big, &down.small, &down.big]
            .into_iter()
            .flatten()
    }

    /// Adds all of another queue.
    pub(crate) fn append(&mut self, mut other: Self) {
        for (own, other) in [
            (&mut self.up, &mut other.up),
            (&mut self.down, &mut other.down),
        ] {
            own.small.append(&mut other.small);
            own.big.append(&mut other.big);
        }
        self.amount.add(other.amount);
    }

    /// Takes the next work of one direction.
    pub(crate) fn pop(&mut self, direction: TransferDirection, only_small: bool) -> Option<Work> {
        let lane = self.lane(direction);
        let small = lane.small.pop_front();
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

/// Packs transfers: small files together in the order of the plan, each big one alone, smallest first.
///
/// # Errors
/// The index's.
pub(crate) fn pack(ctx: &Ctx, steps: &[&Step]) -> Result<Queue, IndexError> {
    let sizes = sizes(ctx, steps)?;
    let (mut ups, mut downs) = (Vec::new(), Vec::new());
    for step in steps {
        if let Step::Upload { local, over, to } = step {
            let size = sizes.get(&Key::Local(*local)).copied().unwrap_or(0);
            ups.push(upload::Task {
                local: *local,
                over: *over,
                to: to.clone(),
                size,
            });
        }
        if let Step::Download { node, over, to } = step {
            let size = sizes.get(&Key::Node(*node)).copied().unwrap_or(0);
            downs.push(download::Task {
                node: *node,
                over: *over,
                to: to.clone(),
                size,
            });
        }
    }
    Ok(Queue::new(
        lane(ups, |task| task.size, Work::Upload, Work::Uploads),
        lane(downs, |task| task.size, Work::Download, Work::Downloads),
    ))
}

fn lane<T>(
    tasks: Vec<T>,
    size: impl Fn(&T) -> u64,
    one: impl Fn(T) -> Work,
    many: impl Fn(Vec<T>) -> Work,
) -> Lane {
    let (small, mut big): (Vec<T>, Vec<T>) = tasks.into_iter().partition(|t| size(t) <= SMALL);
    big.sort_by_key(|task| size(task));
    let mut batches: Vec<Vec<T>> = Vec::new();
    let mut bytes = 0;
    for task in small {
        bytes += size(&task);
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH_FILES && bytes <= BATCH_ROOM => batch.push(task),
            Some(_) | None => {
                bytes = size(&task);
                batches.push(vec![task]);
            }
        }
    }
    Lane {
        small: batches.into_iter().map(many).collect(),
        big: big.into_iter().map(one).collect(),
    }
}

fn sizes(ctx: &Ctx, steps: &[&Step]) -> Result<BTreeMap<Key, u64>, IndexError> {
    ctx.engine.index.read(|db| {
        let mut out = BTreeMap::new();
        for step in steps {
            if let Step::Upload { local, .. } = step
                && let Some(row) = db.local(*local)?
            {
                out.insert(Key::Local(*local), row.stat.size);
            }
            if let Step::Download { node, .. } = step
                && let Some(row) = db.remote(*node)?
            {
                out.insert(Key::Node(*node), row.size);
            }
        }
        Ok(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{LocalId, Name};
    use cairn_plan::{Parent, ParentAndName};

    fn queue(sizes: &[u64]) -> Queue {
        let task = |size: &u64| upload::Task {
            local: LocalId(1),
            over: None,
            to: ParentAndName {
                parent: Parent::Root,
                name: Name::new("n".to_owned()).unwrap(),
            },
            size: *size,
        };
        let tasks = sizes.iter().map(task).collect();
        let up = lane(tasks, |task| task.size, Work::Upload, Work::Uploads);
        Queue::new(up, Lane::default())
    }

    #[test]
    fn the_amount_is_that_of_what_is_queued() {
        let check = |queue: &Queue| {
            let mut sum = Amount::default();
            queue.works().for_each(|work| sum.add(work.amount()));
            assert_eq!((queue.amount(), queue.len()), (sum, sum.files));
        };
        let mut all = queue(&[1, 2, SMALL + 1]);
        check(&all);
        all.append(queue(&[SMALL + 7]));
        check(&all);
        while all.pop(TransferDirection::Up, false).is_some() {
            check(&all);
        }
        assert_eq!(all.amount(), Amount::default());
    }
}
