//! Directories that a user moves between two looks of a scan at the disk.

use cairn_sim::device::{Device, path};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};

/// More calls to the disk than a scan of the folder and what follows it take.
const CALLS: usize = 200;

/// Turns `a/b` into `b/a` before a call of the engine to the disk, unnoticed.
fn turn_before(device: &Device, call: usize) {
    let disk = device.disk.clone();
    let mut calls = 0;
    device.disk.interfere(move || {
        calls += 1;
        if calls == call {
            let turned = disk.user(&path("a"), false, |files| {
                files.rename(&path("a/b"), &path("b"))?;
                files.rename(&path("a"), &path("b/a"))
            });
            turned.expect("both are there");
        }
    });
}

/// Lets a user move `b` into `a`, and turn them around before a call. Returns whether there was such a call.
async fn turn(call: usize) -> bool {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("a/one", b"1");
    world.devices[0].write("b/two", b"2");
    world.settle().await.expect("calm");
    turn_before(&world.devices[0], call);
    // Hints for both, and for the root.
    world.devices[0].write("b/three", b"3");
    world.devices[0].write("a/four", b"4");
    world.devices[0].user("a/b", |files, to| files.rename(&path("b"), to));
    assert!(world.devices[0].settle().await, "call {call}");
    world.devices[0].disk.end_interference();
    world.settle().await.expect("calm");
    let trees: Vec<Vec<String>> = world
        .devices
        .iter()
        .map(|device| tree_of(device).into_keys().collect())
        .collect();
    let turned = ["b", "b/a", "b/a/four", "b/a/one", "b/three", "b/two"];
    let was_turned = trees[0] == turned;
    let before = ["a", "a/b", "a/b/three", "a/b/two", "a/four", "a/one"];
    assert!(was_turned || trees[0] == before, "call {call}: {trees:?}");
    assert_eq!(trees[0], trees[1], "call {call}");
    was_turned
}

#[test]
fn a_directory_that_is_turned_around_with_its_own_is_never_in_itself() {
    let reached = (1..=CALLS).take_while(|call| simulate(turn(*call))).count();
    assert!((10..CALLS).contains(&reached), "{reached} calls");
}

/// Moves `a/f` on to `b/f` before a call of the engine to the disk.
fn move_on_before(device: &Device, call: usize) {
    let disk = device.disk.clone();
    let mut calls = 0;
    device.disk.interfere(move || {
        calls += 1;
        if calls == call {
            let (from, to) = (path("a/f"), path("b/f"));
            let moved = disk.user(&from, true, |files| files.rename(&from, &to));
            moved.expect("it is there");
            disk.user(&to, true, |_| Ok(())).expect("seen");
        }
    });
}

/// Lets a user move `f` into `a`, and on into `b` before a call. Returns whether there was such a call.
async fn move_twice(call: usize) -> bool {
    let mut world = World::new(1, 2).await;
    for file in ["f", "a/one", "b/two"] {
        world.devices[0].write(file, file.as_bytes());
    }
    world.settle().await.expect("calm");
    let before: Vec<u64> = world.devices.iter().map(Device::transfers).collect();
    move_on_before(&world.devices[0], call);
    world.devices[0].rename("f", "a/f");
    world.devices[0].user("b", |_, _| Ok(()));
    assert!(world.devices[0].settle().await, "call {call}");
    world.devices[0].disk.end_interference();
    world.settle().await.expect("calm");
    let after: Vec<u64> = world.devices.iter().map(Device::transfers).collect();
    assert_eq!(
        after, before,
        "call {call}: a file that is moved keeps its content"
    );
    let was_moved_on = tree_of(&world.devices[0]).contains_key("b/f");
    assert_eq!(tree_of(&world.devices[0]), tree_of(&world.devices[1]));
    was_moved_on
}

#[test]
fn a_file_that_is_moved_twice_is_the_same_file() {
    let reached = (1..=CALLS)
        .take_while(|call| simulate(move_twice(*call)))
        .count();
    assert!((10..CALLS).contains(&reached), "{reached} calls");
}
