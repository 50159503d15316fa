//! A watcher that fails, and works again.

use cairn_model::{Problem, ProblemCode};
use cairn_sim::time::{simulate, until};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

fn watch_problems(world: &World) -> Vec<Problem> {
    let status = world.devices[0].engine().expect("it runs").status();
    let errors = status.folders[0].errors.iter();
    errors
        .filter(|error| error.code == ProblemCode::Watch)
        .cloned()
        .collect()
}

#[test]
fn exhausted_watches_are_reported_and_tried_again() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].disk.blind(true);
        world.settle().await.expect("calm");
        assert_eq!(watch_problems(&world).len(), 1);

        // Nobody notices the file, but the folder is looked at all the same.
        world.devices[0].write("a", b"a");
        let sent = || {
            let status = world.devices[0].engine().expect("it runs").status();
            status.counters.uploads == 1
        };
        assert!(until(sent, Duration::from_secs(45)).await, "it is not seen");
        assert_eq!(watch_problems(&world).len(), 1);

        world.devices[0].disk.blind(false);
        let healed = || watch_problems(&world).is_empty();
        assert!(
            until(healed, Duration::from_secs(120)).await,
            "not reported any more"
        );
        world.devices[0].write("b", b"b");
        let sent = || {
            let status = world.devices[0].engine().expect("it runs").status();
            status.counters.uploads == 2
        };
        assert!(
            until(sent, Duration::from_secs(5)).await,
            "it is not noticed"
        );
        world.settle().await.expect("calm");
        assert!(tree_of(&world.devices[1]).contains_key("b"));
    });
}
