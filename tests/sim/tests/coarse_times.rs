//! Disks that keep times in steps of two seconds: an edit has the time of the one before it.

use cairn_sim::time::{pass, simulate, until};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

/// Between two edits: several share a step, and each is read before the next one comes.
const PAUSE: Duration = Duration::from_millis(600);
/// The longest time after which the other device asks for changes.
const LONG: Duration = Duration::from_secs(150);

/// Starts two devices, of which the first one's disk keeps coarse times.
async fn start() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].disk.keep_coarse_times();
    for device in &mut world.devices {
        device.start();
    }
    world.rest().await;
    world
}

#[test]
fn the_last_of_several_edits_with_one_time_arrives() {
    simulate(async {
        let mut world = start().await;
        for round in 0..10 {
            let mut last = Vec::new();
            for edit in 0..4 {
                last = format!("{round} {edit}").into_bytes();
                world.devices[0].write("f", &last);
                pass(PAUSE).await;
            }
            world.rest().await;
            assert_eq!(tree_of(&world.devices[1])["f"], Some(last), "{round}");
        }
    });
}

#[test]
fn an_edit_in_the_moment_of_a_download_is_kept() {
    simulate(async {
        let mut world = start().await;
        for round in 0..10 {
            let theirs = format!("b{round}").into_bytes();
            let mine = format!("a{round}").into_bytes();
            world.devices[1].write("f", &theirs);
            let has_come = || {
                tree_of(&world.devices[0])
                    .get("f")
                    .is_some_and(|f| f.as_deref() == Some(&theirs))
            };
            assert!(until(has_come, LONG).await, "{round}");
            world.devices[0].write("f", &mine);
            world.rest().await;
            assert_eq!(tree_of(&world.devices[1])["f"], Some(mine), "{round}");
        }
    });
}

#[test]
fn a_file_that_is_never_quiet_arrives_all_the_same() {
    simulate(async {
        let mut world = start().await;
        let mut last = Vec::new();
        for edit in 0..400 {
            last = format!("{edit:04}").into_bytes();
            world.devices[0].write("f", &last);
            pass(PAUSE).await;
            if edit == 300 {
                assert!(tree_of(&world.devices[1]).contains_key("f"));
            }
        }
        world.rest().await;
        assert_eq!(tree_of(&world.devices[1])["f"], Some(last));
    });
}
