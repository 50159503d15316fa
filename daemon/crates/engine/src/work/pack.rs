//! Groups the transfers of a plan into work items: small files together, each big one alone.

use super::Work;
use super::queue::{Lane, Queue};
use crate::key::Key;
use crate::step::{Ctx, download, upload};
use cairn_index::IndexError;
use cairn_plan::Step;
use cairn_wire::transfer::{BATCH_BYTES, BATCH_FILES};
use std::collections::BTreeMap;

/// Files up to this size, in bytes, are sent in batches: they are one chunk.
const SMALL: u64 = cairn_crypto::MIN_CHUNK as u64;
/// Room for seals and padding in a batch.
const BATCH_ROOM: u64 = (BATCH_BYTES - BATCH_BYTES / 8) as u64;

/// Packs transfers: small files together in the order of the plan, each big one alone, smallest first.
///
/// # Errors
/// Returns the error of the index.
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
                && let Some(row) = db.local_row(*local)?
            {
                out.insert(Key::Local(*local), row.stat.size);
            }
            if let Step::Download { node, .. } = step
                && let Some(row) = db.remote_row(*node)?
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
    use crate::overall_progress::Amount;
    use cairn_model::{LocalId, Name, TransferDirection};
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
