//! Groups the transfers of a plan into work items: small files together, each big one alone.

use super::Work;
use super::queue::{Lane, Queue};
use crate::key::Key;
use crate::step::{Ctx, download, upload};
use cairn_index::IndexError;
use cairn_plan::Step;
use cairn_wire::transfer::{BATCH_BYTES, BATCH_FILES};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Files up to this size, in bytes, are sent in batches: they are one chunk.
const SMALL: u64 = cairn_crypto::MIN_CHUNK as u64;
/// Room for seals and padding in a batch.
const BATCH_ROOM: u64 = (BATCH_BYTES - BATCH_BYTES / 8) as u64;

/// Packs transfers: small files together, the latest change first, so that what a person has just saved does not wait
/// for a folder that was copied before; each big one alone, smallest first.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn pack(ctx: &Ctx, steps: &[&Step]) -> Result<Queue, IndexError> {
    let files = files(ctx, steps)?;
    let file = |key: Key| files.get(&key).copied().unwrap_or_default();
    let (mut ups, mut downs) = (Vec::new(), Vec::new());
    for step in steps {
        if let Step::Upload { local, over, to } = step {
            let File { size, changed } = file(Key::Local(*local));
            let task = upload::Task {
                local: *local,
                over: *over,
                to: to.clone(),
                size,
            };
            ups.push((changed, task));
        }
        if let Step::Download { node, over, to } = step {
            let File { size, changed } = file(Key::Node(*node));
            let task = download::Task {
                node: *node,
                over: *over,
                to: to.clone(),
                size,
            };
            downs.push((changed, task));
        }
    }
    Ok(Queue::new(
        lane(ups, |task| task.size, Work::Upload, Work::Uploads),
        lane(downs, |task| task.size, Work::Download, Work::Downloads),
    ))
}

/// Makes work items of tasks with the times of their changes.
fn lane<T>(
    mut tasks: Vec<(i64, T)>,
    size: impl Fn(&T) -> u64,
    one: impl Fn(T) -> Work,
    many: impl Fn(Vec<T>) -> Work,
) -> Lane {
    tasks.sort_by_key(|(changed, _)| Reverse(*changed));
    let tasks = tasks.into_iter().map(|(_, task)| task);
    let (small, mut big): (Vec<T>, Vec<T>) = tasks.partition(|t| size(t) <= SMALL);
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
    Lane::new(batches.into_iter().map(many), big.into_iter().map(one))
}

/// A file that is to be sent or fetched.
#[derive(Clone, Copy, Default)]
struct File {
    /// Bytes.
    size: u64,
    /// The time of its change, to be compared with others of its direction only. Of one on the service it is the time
    /// that the content was written: by the time that it was sent, a file would wait for all that come after it.
    changed: i64,
}

fn files(ctx: &Ctx, steps: &[&Step]) -> Result<BTreeMap<Key, File>, IndexError> {
    ctx.engine.index.read(|db| {
        let mut out = BTreeMap::new();
        for step in steps {
            if let Step::Upload { local, .. } = step
                && let Some(row) = db.local_row(*local)?
            {
                let file = File {
                    size: row.stat.size,
                    changed: row.stat.ctime,
                };
                out.insert(Key::Local(*local), file);
            }
            if let Step::Download { node, .. } = step
                && let Some(row) = db.remote_row(*node)?
            {
                let file = File {
                    size: row.size,
                    changed: row.modified_ms.unwrap_or_default(),
                };
                out.insert(Key::Node(*node), file);
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

    fn task(size: u64) -> upload::Task {
        upload::Task {
            local: LocalId(1),
            over: None,
            to: ParentAndName {
                parent: Parent::Root,
                name: Name::new("n".to_owned()).unwrap(),
            },
            size,
        }
    }

    fn uploads(tasks: impl Iterator<Item = (i64, u64)>) -> Queue {
        let tasks = tasks.map(|(changed, size)| (changed, task(size))).collect();
        let up = lane(tasks, |task| task.size, Work::Upload, Work::Uploads);
        Queue::new(up, Lane::default())
    }

    fn queue(sizes: &[u64]) -> Queue {
        uploads(sizes.iter().map(|size| (0, *size)))
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
        all.put_before(queue(&[SMALL + 7]));
        check(&all);
        while all.pop(TransferDirection::Up, false).is_some() {
            check(&all);
        }
        assert_eq!(all.amount(), Amount::default());
    }

    #[test]
    fn a_further_part_goes_first_and_takes_the_place_of_what_it_plans_again() {
        let upload = |local: i64, size: u64| {
            let local = LocalId(local);
            (
                0,
                upload::Task {
                    local,
                    ..task(size)
                },
            )
        };
        let queue = |tasks: Vec<(i64, upload::Task)>| {
            let up = lane(tasks, |task| task.size, Work::Upload, Work::Uploads);
            Queue::new(up, Lane::default())
        };
        let mut all = queue(vec![upload(1, 1), upload(2, 2), upload(3, 2 * SMALL)]);
        all.remove(&[Key::Local(LocalId(2)), Key::Local(LocalId(9))].into());
        assert_eq!((all.len(), all.small_files()), (2, 1));
        all.put_before(queue(vec![upload(2, 5), upload(4, SMALL + 1)]));
        let sum = Amount {
            files: 4,
            bytes: 1 + 2 * SMALL + 5 + SMALL + 1,
        };
        assert_eq!(all.amount(), sum);
        let mut keys = Vec::new();
        while let Some(work) = all.pop(TransferDirection::Up, false) {
            keys.extend(work.keys());
        }
        assert_eq!(keys, [2, 1, 4, 3].map(|local| Key::Local(LocalId(local))));
    }

    #[test]
    fn the_latest_change_goes_first_and_the_oldest_does_not_wait_for_ever() {
        let batch = BATCH_FILES as u64;
        let files = 5 * batch;
        let mut queue = uploads((0..files).map(|n| (n as i64, 1 + n)));
        let mut sizes = Vec::new();
        while let Some(work) = queue.pop(TransferDirection::Up, true) {
            let Work::Uploads(batch) = work else {
                panic!("{work:?} is large");
            };
            sizes.extend(batch.iter().map(|task| task.size));
        }
        let mut expected: Vec<u64> = (1..=files).rev().collect();
        // The fourth batch is that of the oldest changes.
        expected[3 * BATCH_FILES..].rotate_left(BATCH_FILES);
        assert_eq!(sizes, expected);
    }
}
