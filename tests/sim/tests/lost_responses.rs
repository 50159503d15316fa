//! Responses that are lost: a device does not take its own change on the server for somebody else's.

use axum::http::StatusCode;
use bytes::Bytes;
use cairn_model::RelPath;
use cairn_sim::device::Device;
use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

/// Enough for a change to be seen and sent, and less than the time to the next look at the feed.
const SOON: Duration = Duration::from_secs(2);

/// Loses every response about nodes (files and folders): the server does what it is asked for, and nobody learns that.
fn lose_responses(device: &Device) {
    device.line.lie(Some(Box::new(|path, status, body| {
        match path.starts_with("/api/v1/nodes") {
            true => (StatusCode::INTERNAL_SERVER_ERROR, Bytes::new()),
            false => (status, body),
        }
    })));
}

fn names(device: &Device) -> Vec<String> {
    tree_of(device).into_keys().collect()
}

/// The device goes on, or is killed before anything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    GoesOn,
    IsKilled,
}

const BOTH: [Then; 2] = [Then::GoesOn, Then::IsKilled];

/// Does something on the first device of which the responses are lost, something else after that, and checks
/// what all devices have in the end.
async fn check(
    mut world: World,
    lost: impl Fn(&Device),
    then: Then,
    next: impl Fn(&Device),
    expected: &[&str],
) {
    lose_responses(&world.devices[0]);
    lost(&world.devices[0]);
    pass(SOON).await;
    if then == Then::IsKilled {
        world.devices[0].kill(false).await;
    }
    world.devices[0].line.lie(None);
    next(&world.devices[0]);
    world.settle().await.expect("calm");
    for device in &world.devices {
        assert_eq!(names(device), expected, "{then:?}, {}", device.name);
    }
}

/// Two devices that have the file `a`.
async fn with_a_file() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("a", b"a");
    world.settle().await.expect("calm");
    world
}

/// Two devices in sync without any file.
async fn empty() -> World {
    let mut world = World::new(1, 2).await;
    world.settle().await.expect("calm");
    world
}

#[test]
fn a_rename_whose_response_was_lost_is_not_put_back_over_the_next_one() {
    // To a third name, and back to the first.
    for next in ["c", "a"] {
        for then in BOTH {
            simulate(async {
                let world = with_a_file().await;
                let lost = |device: &Device| device.rename("a", "b");
                let rename_on = |device: &Device| device.rename("b", next);
                check(world, lost, then, rename_on, &[next]).await;
            });
        }
    }
}

#[test]
fn names_that_were_exchanged_without_a_response_are_exchanged_back() {
    for then in BOTH {
        simulate(async {
            let mut world = with_a_file().await;
            world.devices[0].write("b", b"b");
            world.settle().await.expect("calm");
            let swap = |device: &Device| {
                for (from, to) in [("a", "t"), ("b", "a"), ("t", "b")] {
                    device.rename(from, to);
                }
            };
            check(world, swap, then, swap, &["a", "b"]).await;
        });
    }
}

/// Loses the response to a new folder with a file in it, and lets something happen to it.
fn check_new_folder(next: impl Fn(&Device), expected: &[&str]) {
    for then in BOTH {
        simulate(async {
            let world = empty().await;
            check(
                world,
                |device: &Device| device.write("d/f", b"f"),
                then,
                &next,
                expected,
            )
            .await;
        });
    }
}

#[test]
fn a_folder_whose_response_was_lost_does_not_come_back_beside_its_next_name() {
    check_new_folder(|device| device.rename("d", "e"), &["e", "e/f"]);
}

#[test]
fn a_folder_whose_response_was_lost_stays_deleted() {
    check_new_folder(
        |device| device.user("d", |files, path| files.remove(path).map(drop)),
        &[],
    );
}

#[test]
fn folders_in_folders_whose_responses_were_lost_do_not_come_back() {
    for then in BOTH {
        simulate(async {
            let world = empty().await;
            let lost = |device: &Device| {
                for below in ["d", "d/in", "other"] {
                    device.user(below, |files, path| files.mkdir(path));
                }
            };
            let next = |device: &Device| {
                device.rename("d/in", "in");
                device.rename("other", "d/other");
            };
            check(world, lost, then, next, &["d", "d/other", "in"]).await;
        });
    }
}

#[test]
fn what_another_device_does_with_a_place_whose_response_was_lost_counts() {
    for then in BOTH {
        simulate(async {
            let mut world = with_a_file().await;
            lose_responses(&world.devices[0]);
            world.devices[0].rename("a", "b");
            world.devices[0].user("d", |files, path| files.mkdir(path));
            pass(SOON).await;
            if then == Then::IsKilled {
                world.devices[0].kill(false).await;
            }
            world.devices[1].engine().expect("it runs").rescan(None);
            assert!(world.devices[1].settle().await);
            assert_eq!(names(&world.devices[1]), ["b", "d"]);
            world.devices[1].rename("b", "x");
            world.devices[1].rename("d", "y");
            assert!(world.devices[1].settle().await);
            world.devices[0].line.lie(None);
            world.settle().await.expect("calm");
            for device in &world.devices {
                assert_eq!(names(device), ["x", "y"], "{then:?}, {}", device.name);
            }
        });
    }
}

#[test]
fn what_another_device_deletes_at_a_place_whose_response_was_lost_is_gone() {
    simulate(async {
        let mut world = with_a_file().await;
        lose_responses(&world.devices[0]);
        world.devices[0].rename("a", "b");
        world.devices[0].user("d", |files, path| files.mkdir(path));
        pass(SOON).await;
        world.devices[0].kill(false).await;
        assert!(world.devices[1].settle().await);
        for below in ["b", "d"] {
            world.devices[1].user(below, |files, path| files.remove(path).map(drop));
        }
        assert!(world.devices[1].settle().await);
        world.devices[0].line.lie(None);
        world.settle().await.expect("calm");
        for device in &world.devices {
            assert_eq!(names(device), [""; 0], "{}", device.name);
        }
    });
}

#[test]
fn a_folder_that_the_service_has_refused_is_not_waited_for() {
    simulate(async {
        let mut world = empty().await;
        world.devices[1].write("d/f", b"f");
        assert!(world.devices[1].settle().await);
        // The first device has not heard of it yet: the name is taken.
        world.devices[0].write("d/g", b"g");
        pass(SOON).await;
        world.settle().await.expect("calm");
        let device = &world.devices[0];
        assert_eq!(names(device), ["d", "d/f", "d/g"]);
        let folder = device.engine().expect("it runs").folders();
        let folder = folder.expect("the index answers")[0].id;
        let sent = device.index().read(|db| {
            let d = db.local_at(folder, &RelPath::parse("d").expect("a path"))?;
            db.sent_folder(d.expect("it is there").id)
        });
        assert_eq!(sent.expect("the index answers"), None);
    });
}
