//! Files and folders that exchange their names: other devices see the exchange or nothing of it.

use axum::http::{Method, StatusCode};
use bytes::Bytes;
use cairn_sim::device::Device;
use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Enough for a change to be sent and to arrive, with all retries of what fails.
const LONG: Duration = Duration::from_secs(120);

fn exchange(device: &Device, one: &str, other: &str) {
    device.rename(one, "aside");
    device.rename(other, one);
    device.rename("aside", other);
}

fn is_within(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|w| w == part.as_bytes())
}

fn broken() -> (StatusCode, Bytes) {
    (StatusCode::INTERNAL_SERVER_ERROR, Bytes::new())
}

/// Lets nothing through any more once the service has given a temporary name.
fn break_within_an_exchange(device: &Device) -> Arc<AtomicBool> {
    let is_broken = Arc::new(AtomicBool::new(false));
    let (line, broke) = (Arc::clone(&device.line), Arc::clone(&is_broken));
    device.line.lie(Some(Box::new(move |_, status, body| {
        if is_within(&body, ".cairn-detour-") {
            broke.store(true, Ordering::Relaxed);
            line.fail_next(usize::MAX, Method::PUT);
        }
        match broke.load(Ordering::Relaxed) {
            true => broken(),
            false => (status, body),
        }
    })));
    is_broken
}

fn mend(device: &Device) {
    device.line.lie(None);
    device.line.fail_next(0, Method::PUT);
}

fn names(device: &Device) -> Vec<String> {
    tree_of(device).into_keys().collect()
}

const BEFORE: [&str; 4] = ["a", "a/in a", "b", "b/in b"];
const AFTER: [&str; 4] = ["a", "a/in b", "b", "b/in a"];

async fn with_two_folders() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("a/in a", b"a");
    world.devices[0].write("b/in b", b"b");
    world.settle().await.expect("calm");
    world
}

#[test]
fn a_device_that_ends_within_an_exchange_has_sent_all_of_it() {
    for dies in [false, true] {
        simulate(async {
            let mut world = with_two_folders().await;
            let is_broken = break_within_an_exchange(&world.devices[0]);
            exchange(&world.devices[0], "a", "b");
            pass(LONG).await;
            assert!(is_broken.load(Ordering::Relaxed), "else nothing was tested");
            assert_eq!(names(&world.devices[1]), AFTER, "dies: {dies}");
            if dies {
                world.devices[0].kill(false).await;
            }
            mend(&world.devices[0]);
            world.settle().await.expect("calm");
            for device in &world.devices {
                assert_eq!(names(device), AFTER, "{}, dies: {dies}", device.name);
            }
        });
    }
}

#[test]
fn an_exchange_with_a_file_that_another_device_changes_is_sent_as_a_whole_later() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("a", b"a");
        world.devices[0].write("b", b"b");
        world.settle().await.expect("calm");
        // The first device does not learn of the change.
        world.devices[0]
            .line
            .lie(Some(Box::new(|path, status, body| {
                match path.starts_with("/api/v1/changes") {
                    true => broken(),
                    false => (status, body),
                }
            })));
        world.devices[1].write("b", b"changed");
        pass(LONG).await;
        exchange(&world.devices[0], "a", "b");
        pass(LONG).await;
        assert_eq!(names(&world.devices[1]), ["a", "b"]);
        mend(&world.devices[0]);
        world.settle().await.expect("calm");
        for device in &world.devices {
            assert_eq!(names(device), ["a", "b"], "{}", device.name);
            let content = tree_of(device).remove("a").flatten();
            assert_eq!(content.as_deref(), Some(&b"changed"[..]), "{}", device.name);
        }
    });
}

#[test]
fn a_part_of_an_exchange_that_fails_leaves_the_names_as_they_were() {
    simulate(async {
        let mut world = with_two_folders().await;
        world.devices[0].line.fail_next(usize::MAX, Method::POST);
        exchange(&world.devices[0], "a", "b");
        pass(LONG).await;
        assert_eq!(names(&world.devices[1]), BEFORE);
        world.devices[0].line.fail_next(0, Method::POST);
        world.settle().await.expect("calm");
        assert_eq!(names(&world.devices[1]), AFTER);
    });
}
