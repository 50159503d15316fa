//! Ignore rules (`.cairnignore`) that the devices of a folder share.

use cairn_model::ProblemCode;
use cairn_sim::device::path;
use cairn_sim::random::noise;
use cairn_sim::time::{pass, simulate, until};
use cairn_sim::world::{World, tree_of};
use std::collections::BTreeSet;
use std::time::Duration;

/// The names of everything that the service has.
async fn on_the_service(world: &World) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut after = None;
    loop {
        let page = world.api.snapshot(after.as_deref()).await.expect("a page");
        names.extend(page.nodes.into_iter().map(|node| node.name));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}

/// Lets all devices work until nothing is left to do.
async fn work(world: &mut World) {
    for _ in 0..3 {
        for device in &mut world.devices {
            device.start();
            assert!(device.settle().await, "{} comes to rest", device.name);
        }
    }
}

/// A service with rules from one device, and a second device with files that they forbid, not running yet.
async fn before_joining() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].write(".cairnignore", b"node_modules/\n*.key\n");
    world.devices[0].start();
    assert!(world.devices[0].settle().await);
    for name in ["node_modules/m", "id.key", "doc"] {
        world.devices[1].write(name, name.as_bytes());
    }
    world
}

#[test]
fn a_device_that_joins_sends_nothing_that_the_shared_rules_forbid() {
    simulate(async {
        let mut world = before_joining().await;
        work(&mut world).await;
        let names = on_the_service(&world).await;
        assert_eq!(names, [".cairnignore", "doc"].map(str::to_owned).into());
    });
}

#[test]
fn a_device_that_joins_with_rules_of_its_own_obeys_the_shared_ones() {
    simulate(async {
        let mut world = before_joining().await;
        world.devices[1].write(".cairnignore", b"!id.key\n");
        work(&mut world).await;
        let names = on_the_service(&world).await;
        for forbidden in ["node_modules", "m", "id.key"] {
            assert!(!names.contains(forbidden), "{names:?}");
        }
        assert!(names.contains("doc"), "{names:?}");
    });
}

#[test]
fn nothing_is_sent_as_long_as_the_shared_rules_can_not_be_had() {
    simulate(async {
        let mut world = before_joining().await;
        world.devices[1]
            .line
            .lie(Some(Box::new(|path, status, body| {
                if path.contains("chunks") || path.contains("manifest") || path.contains("download")
                {
                    return (cairn_api::StatusCode::FORBIDDEN, bytes::Bytes::new());
                }
                (status, body)
            })));
        world.devices[1].start();
        pass(Duration::from_secs(60)).await;
        let names = on_the_service(&world).await;
        assert_eq!(names, [".cairnignore"].map(str::to_owned).into());
        let status = world.devices[1].engine().expect("it runs").status();
        let errors = &status.folders[0].errors;
        assert!(
            errors.iter().any(|e| e.path == ".cairnignore"),
            "{errors:?}"
        );

        world.devices[1].line.lie(None);
        assert!(world.devices[1].settle().await);
        let names = on_the_service(&world).await;
        assert_eq!(names, [".cairnignore", "doc"].map(str::to_owned).into());
    });
}

#[test]
fn rules_that_can_not_be_read_go_on_as_they_were() {
    simulate(async {
        let mut world = World::new(1, 1).await;
        world.devices[0].write(".cairnignore", b"*.key\n");
        world.devices[0].start();
        assert!(world.devices[0].settle().await);
        world.devices[0].kill(false).await;
        world.devices[0].disk.refuse(&path(".cairnignore"), true);
        world.devices[0].write("id.key", b"secret");
        world.devices[0].write("doc", b"doc");
        world.devices[0].start();
        world.devices[0].settle().await;
        let names = on_the_service(&world).await;
        assert_eq!(names, [".cairnignore", "doc"].map(str::to_owned).into());
        let status = world.devices[0].engine().expect("it runs").status();
        let errors = &status.folders[0].errors;
        assert!(
            errors.iter().any(|e| e.path == ".cairnignore"),
            "{errors:?}"
        );

        world.devices[0].disk.refuse(&path(".cairnignore"), false);
        assert!(world.devices[0].settle().await);
        let status = world.devices[0].engine().expect("it runs").status();
        assert_eq!(status.folders[0].errors, []);
    });
}

#[test]
fn rules_of_the_service_that_are_too_large_are_not_fetched_and_nothing_is_sent() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write(".cairnignore", &vec![b'#'; 9 << 20]);
        world.devices[0].start();
        assert!(world.devices[0].settle().await);
        world.devices[1].write("doc", b"doc");
        world.devices[1].start();
        pass(Duration::from_secs(30)).await;
        let names = on_the_service(&world).await;
        assert_eq!(names, [".cairnignore"].map(str::to_owned).into());
        let status = world.devices[1].engine().expect("it runs").status();
        let errors = &status.folders[0].errors;
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].code, ProblemCode::TooLarge, "{errors:?}");

        world.devices[0].write(".cairnignore", b"*.key\n");
        work(&mut world).await;
        assert!(on_the_service(&world).await.contains("doc"));
    });
}

/// The number of files on the service whose names end so.
async fn count_files(world: &World, ending: &str) -> usize {
    let names = on_the_service(world).await;
    names.iter().filter(|name| name.ends_with(ending)).count()
}

#[test]
fn what_was_planned_is_not_sent_once_new_rules_are_known_and_can_not_be_had() {
    const RUNNING: usize = 3;
    /// One more may have begun before the news came.
    const MOST: usize = RUNNING + 1;
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.settle().await.expect("calm");
        let engine = world.devices[1].engine().expect("it runs");
        engine.transfer().limits().set_up(Some(200_000));
        for number in 0..8 {
            world.devices[1].write(&format!("{number}.big"), &noise(number, 600_000));
        }
        let begun = || engine.status().transfers.len() == RUNNING;
        assert!(until(begun, Duration::from_secs(10)).await);
        world.devices[0].write(".cairnignore", b"*.big\n");
        assert!(world.devices[0].settle().await);
        let line = &world.devices[1].line;
        line.lie(Some(Box::new(|path, status, body| {
            if path.contains("download") || path.contains("manifest") {
                return (cairn_api::StatusCode::FORBIDDEN, bytes::Bytes::new());
            }
            (status, body)
        })));
        engine.rescan(None);
        pass(Duration::from_secs(1)).await;
        engine.transfer().limits().set_up(None);
        pass(Duration::from_secs(60)).await;
        let count = count_files(&world, ".big").await;
        assert!(count <= MOST, "{count} were sent");
        line.lie(None);
        work(&mut world).await;
        assert!(count_files(&world, ".big").await <= MOST);
    });
}

#[test]
fn rules_that_change_unnoticed_count_everywhere_with_the_next_change() {
    simulate(async {
        let mut world = World::new(1, 1).await;
        world.devices[0].write(".cairnignore", b"*.log\n");
        world.devices[0].write("sub/x.log", b"x");
        world.devices[0].start();
        assert!(world.devices[0].settle().await);
        assert_eq!(count_files(&world, ".log").await, 0);
        let rules = path(".cairnignore");
        let disk = &world.devices[0].disk;
        disk.user(&rules, false, |files| files.write(&rules, b"# none\n"))
            .expect("the disk takes it");
        world.devices[0].write("doc", b"doc");
        pass(Duration::from_secs(10)).await;
        assert_eq!(count_files(&world, ".log").await, 1);
    });
}

/// Leaves a folder out on the second device, removes something of it there, and takes it in again.
async fn remove_what_is_left_out(below: &str) {
    let mut world = World::new(1, 2).await;
    let names = ["big/p", "big/deep/q", "doc"];
    world.devices[0].write("big/p", b"big/p");
    for name in &names[1..] {
        world.devices[0].write(name, name.as_bytes());
    }
    world.settle().await.expect("calm");
    world.devices[1].leave_out(vec!["/big".into()]);
    assert!(world.devices[1].settle().await);
    world.devices[1].user(below, |files, path| files.remove(path).map(drop));
    assert!(world.devices[1].settle().await);
    pass(Duration::from_secs(2)).await;
    world.devices[1].leave_out(vec![]);
    world.settle().await.expect("calm");
    for device in &world.devices {
        let tree = tree_of(device);
        for name in names {
            assert!(tree.contains_key(name), "{}: {tree:?}", device.name);
        }
    }
}

#[test]
fn what_was_removed_while_it_was_left_out_comes_back_and_is_deleted_nowhere() {
    for below in ["big", "big/p", "big/deep", "big/deep/q"] {
        simulate(remove_what_is_left_out(below));
    }
}

#[test]
fn a_folder_that_was_removed_while_it_was_left_out_can_be_deleted_elsewhere() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("x/f", b"f");
        world.devices[0].write("x/g", b"g");
        world.settle().await.expect("calm");
        world.devices[1].leave_out(vec!["/x/f".into()]);
        assert!(world.devices[1].settle().await);
        world.devices[1].user("x/f", |files, path| files.remove(path).map(drop));
        assert!(world.devices[1].settle().await);
        world.devices[0].user("x", |files, path| files.remove(path).map(drop));
        world.settle().await.expect("calm");
        for device in &world.devices {
            assert!(tree_of(device).is_empty(), "{:?}", tree_of(device));
        }
    });
}
