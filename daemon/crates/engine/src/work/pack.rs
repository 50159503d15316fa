//! Groups the transfers of a plan into work items: small files together, each big one alone.

use super::Work;
use super::queue::{Batch, Lane, Queue};
use crate::key::Key;
use crate::step::{Ctx, download, upload};
use cairn_index::IndexError;
use cairn_plan::Step;
use cairn_wire::transfer::{BATCH_BYTES, BATCH_FILES};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Files up to this size, in bytes, are sent in batches: they are one chunk.
const SMALL: u64 = cairn_crypto::MIN_CHUNK as u64;
/// A change is live for so many milliseconds.
const LIVE_MS: i64 = 60_000;
/// The pause, in milliseconds, behind which changes are no longer those of the moment.
const PAUSE_MS: i64 = 1_000;
/// Room for seals and padding in a batch.
const BATCH_ROOM: u64 = (BATCH_BYTES - BATCH_BYTES / 8) as u64;

/// Packs transfers: small files together, the latest change first, so that what a person has just saved does not wait
/// for a folder that was copied before; each big one alone, smallest first, and so is a small one that is copied before
/// it is sent. Live changes that others follow only after
/// a pause are a batch of their own.
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
    let live_after = ctx.engine.ports.clock.now_ms() - LIVE_MS;
    Ok(Queue::new(
        lane(
            ups,
            live_after,
            |task| task.size,
            |task| upload::needs_copy(ctx, task.local),
            Work::Upload,
            Work::Uploads,
        ),
        lane(
            downs,
            live_after,
            |task| task.size,
            |_| false,
            Work::Download,
            Work::Downloads,
        ),
    ))
}

/// Makes work items of tasks with the times of their changes.
fn lane<T>(
    mut tasks: Vec<(i64, T)>,
    live_after: i64,
    size: impl Fn(&T) -> u64,
    goes_alone: impl Fn(&T) -> bool,
    one: impl Fn(T) -> Work,
    many: impl Fn(Vec<T>) -> Work,
) -> Lane {
    tasks.sort_by_key(|(changed, _)| Reverse(*changed));
    let is_small = |(_, task): &(i64, T)| size(task) <= SMALL && !goes_alone(task);
    let (small, mut big): (Vec<_>, Vec<_>) = tasks.into_iter().partition(is_small);
    big.sort_by_key(|(_, task)| size(task));
    let mut batches: Vec<(i64, Vec<T>)> = Vec::new();
    let (mut bytes, mut last) = (0, i64::MAX);
    for (changed, task) in small {
        bytes += size(&task);
        let is_pause = last > live_after && last.saturating_sub(changed) >= PAUSE_MS;
        let is_live_alone = batches.len() == 1 && is_pause;
        match batches.last_mut() {
            Some((_, batch))
                if batch.len() < BATCH_FILES && bytes <= BATCH_ROOM && !is_live_alone =>
            {
                batch.push(task);
            }
            Some(_) | None => {
                bytes = size(&task);
                batches.push((changed, vec![task]));
            }
        }
        last = changed;
    }
    let small = batches.into_iter().map(|(changed, tasks)| Batch {
        changed,
        work: many(tasks),
    });
    Lane::new(small, big.into_iter().map(|(_, task)| one(task)))
}

/// A file that is to be sent or fetched.
#[derive(Clone, Copy, Default)]
struct File {
    /// Bytes.
    size: u64,
    /// The time of its change in milliseconds since 1970. Of one on the service it is the time that the content was
    /// written: by the time that it was sent, a file would wait for all that come after it.
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
                    changed: row.stat.ctime / 1_000_000,
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
    use super::super::Room;
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
        queue_of(tasks, i64::MAX)
    }

    fn queue_of(tasks: Vec<(i64, upload::Task)>, live_after: i64) -> Queue {
        let size = |task: &upload::Task| task.size;
        let alone = |_: &upload::Task| false;
        let up = lane(tasks, live_after, size, alone, Work::Upload, Work::Uploads);
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
        all.put(queue(&[SMALL + 7]));
        check(&all);
        while all.pop(TransferDirection::Up, Room::Anything).is_some() {
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
        let queue = |tasks| queue_of(tasks, i64::MAX);
        let mut all = queue(vec![upload(1, 1), upload(2, 2), upload(3, 2 * SMALL)]);
        all.remove(&[Key::Local(LocalId(2)), Key::Local(LocalId(9))].into());
        assert_eq!((all.len(), all.small_files()), (2, 1));
        all.put(queue(vec![upload(2, 5), upload(4, SMALL + 1)]));
        let sum = Amount {
            files: 4,
            bytes: 1 + 2 * SMALL + 5 + SMALL + 1,
        };
        assert_eq!(all.amount(), sum);
        let mut keys = Vec::new();
        while let Some(work) = all.pop(TransferDirection::Up, Room::Anything) {
            keys.extend(work.keys());
        }
        assert_eq!(keys, [2, 1, 4, 3].map(|local| Key::Local(LocalId(local))));
    }

    #[test]
    fn live_changes_don_t_wait_for_what_was_changed_before_a_pause() {
        let lengths = |changes: &[i64], live_after: i64| -> Vec<u64> {
            let tasks = changes.iter().map(|changed| (*changed, task(1))).collect();
            queue_of(tasks, live_after).works().map(Work::len).collect()
        };
        let pause = PAUSE_MS;
        assert_eq!(lengths(&[0, 5, 5 + pause, 6 + pause], 0), [2, 2]);
        assert_eq!(lengths(&[0, 5, 4 + pause, 5 + pause], 0), [4]);
        // The pauses behind the first one are of no interest.
        assert_eq!(lengths(&[0, pause, 2 * pause], 0), [1, 2]);
        assert_eq!(lengths(&[0, 5, 5 + pause], 5 + pause), [3], "long ago");
    }

    #[test]
    fn the_latest_change_goes_first_whenever_it_was_planned() {
        let mut all = uploads([(5, 1), (9, SMALL + 1)].into_iter());
        for (changed, size) in [(7, 7), (2, 2), (6, 6)] {
            all.put(uploads([(changed, size)].into_iter()));
        }
        let mut sizes = Vec::new();
        while let Some(work) = all.pop(TransferDirection::Up, Room::Anything) {
            sizes.push(work.amount().bytes);
        }
        // The fourth is the oldest.
        assert_eq!(sizes, [7, 6, 1, 2, SMALL + 1]);
    }

    #[test]
    fn the_latest_change_goes_first_and_the_oldest_does_not_wait_for_ever() {
        let batch = BATCH_FILES as u64;
        let files = 5 * batch;
        let mut queue = uploads((0..files).map(|n| (n as i64, 1 + n)));
        let mut sizes = Vec::new();
        while let Some(work) = queue.pop(TransferDirection::Up, Room::SmallBatches) {
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
