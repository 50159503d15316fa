//! The cost of a small change in a large folder stays the same after hundreds of them.

use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};
use std::time::Duration;
use tokio::time::Instant;

const FILES: usize = 10_000;
const EDITS: usize = 300;

/// The cost of one edit on both devices together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    disk_calls: u64,
    requests: u64,
    time: Duration,
}

fn total(world: &World) -> (u64, u64) {
    let of_disks = world.devices.iter().map(|device| device.disk.calls());
    let of_lines = world.devices.iter().map(|device| {
        let engine = device.engine().expect("it runs");
        engine.status().counters.remote_calls
    });
    (of_disks.sum(), of_lines.sum())
}

fn name(number: usize) -> String {
    format!("{:02}/{number:05}", number % 100)
}

async fn edit(world: &World, number: usize) -> Cost {
    let (calls, requests) = total(world);
    let begin = Instant::now();
    let content = format!("edit {number}");
    world.devices[0].write(&name(number * 33 % FILES), content.as_bytes());
    for device in &world.devices {
        assert!(device.settle().await, "{} comes to rest", device.name);
    }
    let after = total(world);
    Cost {
        disk_calls: after.0 - calls,
        requests: after.1 - requests,
        time: begin.elapsed(),
    }
}

/// Returns the cost that half of the edits stay below, for each part of it.
fn median(costs: &[Cost]) -> Cost {
    fn middle<T: Ord + Copy>(costs: &[Cost], part: fn(&Cost) -> T) -> T {
        let mut parts: Vec<T> = costs.iter().map(part).collect();
        parts.sort();
        parts[parts.len() / 2]
    }
    Cost {
        disk_calls: middle(costs, |cost| cost.disk_calls),
        requests: middle(costs, |cost| cost.requests),
        time: middle(costs, |cost| cost.time),
    }
}

#[test]
fn s235_three_hundred_edits_in_ten_thousand_files_cost_the_same_each() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        for device in &world.devices {
            device.disk.never_crashes();
        }
        world.devices[0].user("", |files, root| {
            for folder in 0..100 {
                files.mkdir(&root.join(format!("{folder:02}")))?;
            }
            (0..FILES).try_for_each(|number| files.write(&root.join(name(number)), b"first"))
        });
        world.settle().await.expect("they become equal");
        assert_eq!(tree_of(&world.devices[1]).len(), FILES + 100);

        let mut costs = Vec::with_capacity(EDITS);
        for number in 0..EDITS {
            costs.push(edit(&world, number).await);
        }
        let (early, late) = (median(&costs[..50]), median(&costs[EDITS - 50..]));
        assert!(late.disk_calls <= early.disk_calls, "{early:?}, {late:?}");
        assert!(late.requests <= early.requests, "{early:?}, {late:?}");
        // Each way of a request takes up to 20 ms, at random.
        let noise = Duration::from_millis(20);
        assert!(late.time <= early.time + noise, "{early:?}, {late:?}");
        // An edit looks at its file and the hundred in its folder, not at the tree.
        assert!(late.disk_calls < 1_000, "{late:?}");
        let last = tree_of(&world.devices[1]);
        let edited = last
            .values()
            .flatten()
            .filter(|bytes| bytes.starts_with(b"edit"));
        assert_eq!(edited.count(), EDITS);
    });
}
