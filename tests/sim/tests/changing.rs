//! A file that is written all the time.

use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

/// The time between two lines.
const STEP: Duration = Duration::from_millis(50);
/// The longest time that another device may lag behind.
const LAG: Duration = Duration::from_secs(75);

#[test]
fn a_small_file_to_which_a_program_appends_all_the_time_arrives_again_and_again() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("app.log", b"start\n");
        world.settle().await.expect("calm");
        for device in &mut world.devices {
            device.start();
        }
        let mut lines = b"start\n".to_vec();
        let mut lengths = Vec::new();
        for n in 0..6_000 {
            lines.extend(format!("line {n}\n").bytes());
            world.devices[0].write("app.log", &lines);
            lengths.push(lines.len());
            pass(STEP).await;
            let lag = usize::try_from(LAG.as_millis() / STEP.as_millis()).expect("few");
            if n % 100 == 0
                && let Some(due) = lengths.len().checked_sub(lag)
            {
                let there = tree_of(&world.devices[1])["app.log"].clone();
                let there = there.expect("a file").len();
                assert!(
                    there >= lengths[due],
                    "{there} bytes after line {n}, {} are due",
                    lengths[due]
                );
            }
        }
        world.settle().await.expect("it rests in the end");
        assert_eq!(tree_of(&world.devices[1])["app.log"], Some(lines));
    });
}
