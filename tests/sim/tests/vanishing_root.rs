//! A root that is another directory for a while, from any moment on: its disk was unmounted, or it was moved away.

use cairn_sim::device::{Device, ROOT};
use cairn_sim::disk::Node;
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// More calls to the disk than it takes to fetch what the other device has made.
const CALLS: usize = 400;

type Aside = Arc<Mutex<Option<Node>>>;

/// Puts an empty directory in the place of the root before a call of the engine to the disk, on another device if
/// `device` says so. Returns where the root is kept.
fn vanish_before(device: &Device, call: usize, other_device: bool) -> Aside {
    let aside = Aside::default();
    let (disk, kept) = (device.disk.clone(), Arc::clone(&aside));
    let mut calls = 0;
    device.disk.interfere(move || {
        calls += 1;
        if calls != call {
            return;
        }
        let root = Path::new(ROOT);
        let taken = disk.user(root, false, |files| {
            let taken = files.take(root)?;
            files.mkdir(root)?;
            if other_device {
                files.get_mut(root)?.put_on(7, 7);
            }
            Ok(taken)
        });
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = taken.ok();
    });
    aside
}

/// Puts the root back. Returns false if it never was away.
fn come_back(device: &Device, aside: &Aside) -> bool {
    device.disk.end_interference();
    let kept = aside.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(kept) = kept else { return false };
    let root = Path::new(ROOT);
    let put = device.disk.user(root, false, |files| {
        files.remove(root)?;
        files.insert(root, kept)
    });
    put.expect("the place is free");
    true
}

/// Lets the second device lose its root before a call to its disk, while it fetches. Returns whether there was such a
/// call.
async fn lose_root(call: usize, other_device: bool) -> bool {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("base", b"base");
    world.devices[0].write("d/base", b"base");
    world.settle().await.expect("calm");
    world.devices[0].write("one", b"1");
    world.devices[0].write("d/two", b"2");
    world.devices[0].write("new/three", b"3");
    world.devices[0].write("large", &cairn_sim::random::noise(1, 600_000));
    world.devices[0].user("moved", |files, path| files.mkdir(path));
    let aside = vanish_before(&world.devices[1], call, other_device);
    assert!(world.devices[0].settle().await);
    let rest = world.devices[1].rest();
    drop(timeout(Duration::from_secs(60), rest).await);
    let was_away = come_back(&world.devices[1], &aside);
    world.settle().await.expect("calm");
    for device in &world.devices {
        let paths: Vec<String> = tree_of(device).into_keys().collect();
        let expected = [
            "base",
            "d",
            "d/base",
            "d/two",
            "large",
            "moved",
            "new",
            "new/three",
            "one",
        ];
        assert_eq!(paths, expected, "{}, call {call}", device.name);
    }
    was_away
}

#[test]
fn a_root_that_vanishes_while_files_come_deletes_nothing() {
    // Each call once, to save time.
    for (first, other_device) in [(1, false), (2, true)] {
        let calls = (first..=CALLS).step_by(2);
        let reached = calls.take_while(|call| simulate(lose_root(*call, other_device)));
        let reached = reached.count();
        assert!((25..CALLS / 2).contains(&reached), "{reached} calls");
    }
}
