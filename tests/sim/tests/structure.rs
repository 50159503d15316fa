//! Folders, moves and deletions don't wait for transfers, and don't hold them up.

use axum::http::Method;
use cairn_engine::WaitResult;
use cairn_model::{RelPath, SyncState};
use cairn_sim::device::{Device, ROOT, path};
use cairn_sim::time::{pass, simulate, until};
use cairn_sim::world::{World, tree_of};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// More than go in one request.
const FOLDERS: usize = 2_000;

/// Makes many folders, and one file beside them, without a notification from the file watcher.
fn make(device: &Device) {
    let root = Path::new(ROOT);
    device
        .disk
        .user(root, false, |files| {
            for number in 0..FOLDERS {
                files.mkdir(&root.join(format!("d{number}")))?;
            }
            files.write(&root.join("first.txt"), b"first")
        })
        .expect("the disk takes it");
}

/// Records the paths of all requests of a device from now on.
fn listen(device: &Device) -> Arc<Mutex<Vec<String>>> {
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = Arc::clone(&requests);
    device.line.lie(Some(Box::new(move |path, status, body| {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(path.to_owned());
        (status, body)
    })));
    requests
}

#[test]
fn a_file_does_not_wait_for_folders_that_it_does_not_need() {
    simulate(async {
        let mut world = World::new(1, 1).await;
        world.settle().await.expect("calm");
        let device = &world.devices[0];
        let requests = listen(device);
        make(device);
        assert!(device.settle().await);
        let requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = requests.iter().position(|path| path.contains("/uploads"));
        let last = requests
            .iter()
            .rposition(|path| path.ends_with("/nodes/batch"));
        let (sent, last) = (sent.expect("the file went"), last.expect("folders went"));
        assert!(sent < last, "{requests:?}");
    });
}

#[test]
fn a_command_is_answered_while_steps_are_carried_out() {
    simulate(async {
        let mut world = World::new(1, 1).await;
        world.settle().await.expect("calm");
        let device = &world.devices[0];
        let requests = listen(device);
        let engine = device.engine().expect("it runs");
        make(device);
        engine.rescan(None);
        let begun = || {
            let requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.iter().any(|path| path.ends_with("/nodes/batch"))
        };
        let limit = Instant::now() + Duration::from_secs(60);
        while !begun() {
            assert!(Instant::now() < limit, "no folder is created");
            pass(Duration::from_millis(1)).await;
        }
        let asked = Instant::now();
        let folder = engine.folders().expect("the index answers")[0].id;
        let response = engine.accept_disk(folder, RelPath::root()).await;
        assert!(response.is_err(), "no disk is missing");
        assert!(asked.elapsed() < Duration::from_millis(2), "it had to wait");
        let before = requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len();
        assert!(device.settle().await);
        let after = requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len();
        assert!(before < after, "all was done when the answer came");
    });
}

#[test]
fn many_folders_are_made_durable_together() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.settle().await.expect("calm");
        make(&world.devices[0]);
        assert!(world.devices[0].settle().await);
        let before = world.devices[1].disk.flushes();
        assert!(world.devices[1].settle().await);
        let flushes = world.devices[1].disk.flushes() - before;
        assert_eq!(tree_of(&world.devices[1]).len(), FOLDERS + 1);
        assert!(flushes < 20, "{flushes} flushes");
    });
}

#[test]
fn a_service_that_can_do_nothing_is_not_asked_for_one_list_after_the_other() {
    simulate(async {
        let mut world = World::new(1, 1).await;
        world.settle().await.expect("calm");
        let device = &world.devices[0];
        let tries = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&tries);
        device.line.lie(Some(Box::new(move |path, status, body| {
            if path.ends_with("/nodes/batch") {
                counted.fetch_add(1, Ordering::Relaxed);
                return (
                    cairn_api::StatusCode::SERVICE_UNAVAILABLE,
                    bytes::Bytes::new(),
                );
            }
            (status, body)
        })));
        make(device);
        device.engine().expect("it runs").rescan(None);
        let begun = || tries.load(Ordering::Relaxed) > 0;
        assert!(until(begun, Duration::from_secs(10)).await);
        pass(Duration::from_secs(10)).await;
        // Pauses double, from a quarter of a second with the least jitter, and each list has one request, which
        // is tried twice.
        let tries = tries.load(Ordering::Relaxed);
        assert!(tries <= 24, "{tries} requests in ten seconds");
        device.line.lie(None);
        assert!(device.settle().await);
    });
}

/// Lets the user rename something on a device.
#[test]
fn a_rename_that_the_service_fails_alone_is_tried_again_soon() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("a", b"a");
        world.settle().await.expect("calm");
        let device = &world.devices[0];
        // Each try sends it twice.
        device.line.fail_next(4, Method::PUT);
        device.rename("a", "b");
        let began = Instant::now();
        assert!(device.settle().await);
        assert!(began.elapsed() < Duration::from_secs(30), "{began:?}");
        world.settle().await.expect("calm");
        assert!(tree_of(&world.devices[1]).contains_key("b"));
    });
}

#[test]
fn a_directory_that_takes_nothing_is_tried_again_without_a_scan() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("d/g", b"g");
        world.settle().await.expect("calm");
        world.devices[0].disk.refuse(&path("d"), true);
        world.devices[1].rename("d/g", "d/h");
        assert!(world.devices[1].settle().await);
        let engine = world.devices[0].engine().expect("it runs");
        let result = tokio::time::timeout(Duration::from_secs(60), engine.wait_until_idle()).await;
        assert_eq!(
            result.expect("nobody waits for it").expect("it runs on"),
            WaitResult::NeedsPerson
        );
        let status = engine.status();
        assert_eq!((status.state, status.pending), (SyncState::Attention, 1));
        world.devices[0].disk.refuse(&path("d"), false);
        let moved = || tree_of(&world.devices[0]).contains_key("d/h");
        assert!(until(moved, Duration::from_secs(400)).await);
    });
}

/// Two devices with `x/f` and the folder `y`.
async fn with_a_file_and_a_folder() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("x/f", b"v1");
    world.devices[0].user("y", |files, path| files.mkdir(path));
    world.settle().await.expect("calm");
    world
}

/// Moves `x/f` into `y` and removes `x`, as one change of the user.
fn move_and_remove(device: &Device) {
    device.user("x", |files, x| {
        files.rename(&x.join("f"), &path("y/f"))?;
        files.remove(x).map(drop)
    });
    device.user("y", |_, _| Ok(()));
}

/// Checks that an edit has ended at `y/f` on all devices.
async fn check_edit(world: &mut World) {
    world.settle().await.expect("calm");
    for device in &world.devices {
        let tree = tree_of(device);
        let names: Vec<_> = tree.keys().collect();
        assert_eq!(names, ["y", "y/f"], "{}", device.name);
        assert_eq!(tree["y/f"].as_deref(), Some(&b"edit"[..]));
    }
}

#[test]
fn a_folder_stays_until_what_is_to_leave_it_has_left() {
    simulate(async {
        let mut world = with_a_file_and_a_folder().await;
        world.devices[1].kill(false).await;
        world.devices[1].write("x/f", b"edit");
        world.devices[1].disk.refuse(&path("y"), true);
        move_and_remove(&world.devices[0]);
        assert!(world.devices[0].settle().await);
        world.devices[1].start();
        pass(Duration::from_secs(60)).await;
        let tree = tree_of(&world.devices[1]);
        assert_eq!(tree.get("x/f"), Some(&Some(b"edit".to_vec())), "{tree:?}");
        world.devices[1].disk.refuse(&path("y"), false);
        check_edit(&mut world).await;
    });
}

#[test]
fn a_folder_stays_on_the_service_until_what_is_to_leave_it_has_left() {
    simulate(async {
        let mut world = with_a_file_and_a_folder().await;
        world.devices[0].kill(false).await;
        move_and_remove(&world.devices[0]);
        world.devices[1].write("x/f", b"edit");
        assert!(world.devices[1].settle().await);
        // Each try sends it twice.
        world.devices[0].line.fail_next(8, Method::PUT);
        world.devices[0].start();
        pass(Duration::from_secs(60)).await;
        check_edit(&mut world).await;
    });
}

#[test]
fn a_folder_stays_while_an_edit_in_it_can_not_be_sent() {
    simulate(async {
        let mut world = with_a_file_and_a_folder().await;
        world.devices[1].line.fail_next(10_000, Method::POST);
        world.devices[1].write("x/f", b"edit");
        pass(Duration::from_secs(30)).await;
        move_and_remove(&world.devices[0]);
        assert!(world.devices[0].settle().await);
        pass(Duration::from_secs(600)).await;
        world.devices[1].line.fail_next(0, Method::POST);
        check_edit(&mut world).await;
    });
}

#[test]
fn what_comes_into_a_folder_that_is_just_being_renamed_is_sent_without_a_look() {
    simulate(async {
        let mut world = World::new(10, 2).await;
        world.devices[0].write("x/doc", b"doc");
        world.settle().await.expect("calm");
        let disk = world.devices[0].disk.clone();
        let mut is_there = false;
        world.devices[0].disk.interfere(move || {
            if !std::mem::replace(&mut is_there, true) {
                let new = path("x/new");
                disk.user(&new, true, |files| files.write(&new, b"new"))
                    .expect("it is not renamed yet");
            }
        });
        world.devices[1].rename("x", "y");
        world.calm().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            assert!(tree.contains_key("y/new"), "{}: {tree:?}", device.name);
        }
    });
}
