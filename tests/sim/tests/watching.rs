//! Changes that arrive without anybody asking for a look: a watcher that fails and works again, and pairs of one
//! device that share a remote folder.

use cairn_index::FolderSettings;
use cairn_model::{Problem, ProblemCode};
use cairn_sim::time::{simulate, until};
use cairn_sim::world::{World, tree_of};
use std::path::Path;
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

#[test]
fn what_one_pair_sends_arrives_in_another_of_the_same_device() {
    simulate(async {
        let second = Path::new("/home2");
        let mut world = World::new(1, 1).await;
        let device = &world.devices[0];
        device
            .disk
            .user(second, false, |files| files.mkdir(second))
            .expect("the disk has room");
        device
            .index()
            .write(|db| db.add_folder("/home2", "/", &FolderSettings::default()))
            .expect("the index takes a second folder");
        world.settle().await.expect("calm");

        // The feed brings the device's own changes back, and they are no news.
        let device = &world.devices[0];
        let arrived = |file: &str| {
            let path = second.join(file);
            device.disk.look(|files| files.get(&path).is_ok())
        };
        device.write("f", b"f");
        let soon = Duration::from_secs(30);
        assert!(until(|| arrived("f"), soon).await, "a new file");
        device.user("f", |files, path| {
            files.rename(path, &path.with_file_name("g"))
        });
        device.user("g", |_, _| Ok(()));
        assert!(until(|| arrived("g"), soon).await, "a renamed file");
        device.user("g", |files, path| files.remove(path).map(drop));
        assert!(until(|| !arrived("g"), soon).await, "a deleted file");
    });
}
