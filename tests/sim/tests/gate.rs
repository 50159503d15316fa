//! The deletion gate, which lets a mass deletion wait until a person confirms it: what is asked, and which files the
//! answer is about.

use cairn_index::{FolderRow, FolderSettings};
use cairn_model::{DeletionDecision, DeletionGate};
use cairn_sim::device::{Device, ROOT, path};
use cairn_sim::random::noise;
use cairn_sim::time::{simulate, until};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

/// Half of the files, and at least five.
const GATE: DeletionGate = DeletionGate {
    percent: 50,
    files: 5,
    most: 1000,
};
const A_WHILE: Duration = Duration::from_secs(120);

fn pair(device: &Device) -> FolderRow {
    let folders = device.index().read(|db| db.folders());
    folders.expect("the index is readable").remove(0)
}

/// Joins the device's folder with another one of the service, and sets its gate. The device must not run yet.
fn join(device: &Device, remote: &str) {
    join_with(device, remote, GATE);
}

fn join_with(device: &Device, remote: &str, gate: DeletionGate) {
    let settings = FolderSettings {
        gate: Some(gate),
        ..FolderSettings::default()
    };
    let old = pair(device).id;
    device
        .index()
        .write(|db| {
            db.remove_folder(old)?;
            db.add_folder(ROOT, remote, &settings)
        })
        .expect("the index takes it");
}

/// Waits until so many deletions on its own disk wait for the device's person.
async fn asks(device: &Device, files: u64) -> bool {
    let engine = device.engine().expect("it runs");
    let waiting = || engine.status().folders[0].waiting_local_deletions == files;
    until(waiting, A_WHILE).await
}

fn decide(device: &Device, decision: DeletionDecision) {
    let engine = device.engine().expect("it runs");
    engine
        .confirm(pair(device).id, decision)
        .expect("somebody is asked");
}

fn files_below(device: &Device, dir: &str) -> usize {
    let tree = tree_of(device);
    let inside = |(path, bytes): &(&String, &Option<Vec<u8>>)| {
        bytes.is_some() && path.starts_with(&format!("{dir}/"))
    };
    tree.iter().filter(inside).count()
}

#[test]
fn what_is_kept_though_it_left_the_pair_is_asked_about_once() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].user("docs", |files, path| files.mkdir(path));
        for number in 0..10 {
            world.devices[0].write(&format!("docs/all/{number}"), b"content");
        }
        world.devices[0].user("archive", |files, path| files.mkdir(path));
        join(&world.devices[1], "/docs");
        for device in &mut world.devices {
            device.start();
            assert!(device.settle().await);
        }
        assert_eq!(files_below(&world.devices[1], "all"), 10);

        let (from, to) = (path("docs/all"), path("archive/all"));
        let rename = |files: &mut cairn_sim::disk::Files| files.rename(&from, &to);
        world.devices[0]
            .disk
            .user(&from, true, rename)
            .expect("the disk does it");
        assert!(world.devices[0].settle().await);
        assert!(asks(&world.devices[1], 10).await);
        decide(&world.devices[1], DeletionDecision::Keep);
        for at in [1, 0, 1] {
            assert!(world.devices[at].settle().await, "nobody is asked again");
        }
        assert_eq!(files_below(&world.devices[0], "docs/all"), 10);
        assert_eq!(files_below(&world.devices[0], "archive/all"), 10);
        assert_eq!(files_below(&world.devices[1], "all"), 10);
    });
}

#[test]
fn a_question_is_gone_from_the_status_when_its_files_are_back() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        for number in 0..10 {
            world.devices[0].write(&format!("docs/all/{number}"), b"content");
        }
        join(&world.devices[1], "/docs");
        for device in &mut world.devices {
            device.start();
            assert!(device.settle().await);
        }
        let device = &world.devices[1];
        let waiting =
            || device.engine().expect("it runs").status().folders[0].waiting_remote_deletions;
        let taken = device.user("all", |files, path| files.take(path));
        assert!(until(|| waiting() == 10, A_WHILE).await);
        device.user("all", |files, path| files.insert(path, taken));
        assert!(device.settle().await, "nobody is asked any more");
        assert_eq!(waiting(), 0);
        assert_eq!(files_below(&world.devices[0], "docs/all"), 10);
    });
}

#[test]
fn a_decision_ends_though_one_of_its_deletions_can_not_be_made() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        for number in 0..12 {
            world.devices[0].write(&format!("first/{number}"), b"content");
            world.devices[0].write(&format!("second/{number}"), b"content");
        }
        join(&world.devices[1], "/");
        world.settle().await.expect("calm");

        // Nothing can be moved out of this directory.
        world.devices[1].disk.refuse(&path("first"), true);
        for number in 0..12 {
            let name = format!("first/{number}");
            world.devices[0].user(&name, |files, path| files.remove(path).map(drop));
        }
        for number in 0..2 {
            let name = format!("second/{number}");
            world.devices[0].user(&name, |files, path| files.remove(path).map(drop));
        }
        assert!(world.devices[0].settle().await);
        assert!(asks(&world.devices[1], 14).await);
        decide(&world.devices[1], DeletionDecision::Delete);
        let second_is_gone = || files_below(&world.devices[1], "second") == 10;
        assert!(until(second_is_gone, A_WHILE).await);
        assert_eq!(files_below(&world.devices[1], "first"), 12);

        world.devices[0].user("second", |files, path| files.remove(path).map(drop));
        assert!(world.devices[0].settle().await);
        assert!(asks(&world.devices[1], 10).await, "nobody agreed to these");
        assert_eq!(files_below(&world.devices[1], "second"), 10);
    });
}

#[test]
fn a_number_of_deletions_waits_whatever_its_share_and_moves_do_not() {
    simulate(async {
        let mut world = World::new(1, 1).await;
        let gate = DeletionGate { most: 10, ..GATE };
        join_with(&world.devices[0], "/", gate);
        let device = &mut world.devices[0];
        for number in 0..100 {
            device.write(&format!("docs/{number}"), b"content");
        }
        device.start();
        assert!(device.settle().await);

        let moved = device.user("docs", |files, path| files.take(path));
        device.user("moved", |files, path| files.insert(path, moved));
        assert!(device.settle().await, "nobody is asked");
        assert_eq!(device.transfers(), 100, "nothing is sent again");

        for number in 0..10 {
            let name = format!("moved/{number}");
            device.user(&name, |files, path| files.remove(path).map(drop));
        }
        let engine = device.engine().expect("it runs");
        let asks = || engine.status().folders[0].waiting_remote_deletions == 10;
        assert!(until(asks, A_WHILE).await);
    });
}

#[test]
fn rules_count_while_their_deletion_waits() {
    simulate(async {
        let mut world = World::new(1, 1).await;
        join(&world.devices[0], "/");
        let device = &mut world.devices[0];
        device.write(".cairnignore", b"*.key\n");
        for number in 0..10 {
            device.write(&format!("{number}"), b"content");
        }
        device.write("id.key", b"secret");
        device.start();
        assert!(device.settle().await);

        device.user(".cairnignore", |files, path| files.remove(path).map(drop));
        for number in 0..10 {
            let name = format!("{number}");
            device.user(&name, |files, path| files.remove(path).map(drop));
        }
        let engine = device.engine().expect("it runs");
        let asks = || engine.status().folders[0].waiting_remote_deletions == 11;
        assert!(until(asks, A_WHILE).await);
        assert!(!device.settle().await, "a person is to decide");
        assert_eq!(device.transfers(), 11, "what was ignored is not sent");

        decide(device, DeletionDecision::Delete);
        assert!(device.settle().await);
        assert_eq!(device.transfers(), 12, "no rule forbids it any more");
    });
}

/// Waits until it is known of all files in sync what their first bytes are like.
async fn has_looked_at_heads(device: &Device) -> bool {
    let folder = pair(device).id;
    let is_known = || {
        let left = device
            .index()
            .read(|db| db.synced_without_head(folder, None, 1));
        left.expect("the index is readable").is_empty()
    };
    until(is_known, A_WHILE).await
}

fn text(number: u32) -> Vec<u8> {
    format!("{number}: It was a bright cold day in April.\n")
        .repeat(20)
        .into_bytes()
}

/// Two devices with thirty texts in sync. On the first, which has a gate, 25 of them have turned into noise, and it
/// asks.
async fn asking_about_noise() -> World {
    let mut world = World::new(1, 2).await;
    join(&world.devices[0], "/");
    for number in 0..30 {
        world.devices[0].write(&format!("docs/{number}.txt"), &text(number));
    }
    world.settle().await.expect("calm");
    let device = &world.devices[0];
    assert!(has_looked_at_heads(device).await);
    for number in 0..25 {
        device.write(&format!("docs/{number}.txt"), &noise(number, 3000));
    }
    device.write("docs/new.txt", b"new");
    let engine = device.engine().expect("it runs");
    let asks = || engine.status().folders[0].waiting_overwrites == 25;
    assert!(until(asks, A_WHILE).await);
    assert!(!device.settle().await, "a person is to decide");
    assert!(world.devices[1].settle().await);
    let tree = tree_of(&world.devices[1]);
    assert_eq!(tree["docs/0.txt"], Some(text(0)));
    assert_eq!(
        tree["docs/new.txt"],
        Some(b"new".to_vec()),
        "all else goes on"
    );
    world
}

#[test]
fn contents_that_look_encrypted_wait_and_keeping_loses_neither_version() {
    simulate(async {
        let mut world = asking_about_noise().await;
        decide(&world.devices[0], DeletionDecision::Keep);
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            for number in 0..30 {
                assert_eq!(tree[&format!("docs/{number}.txt")], Some(text(number)));
            }
            for number in 0..25 {
                let bytes = Some(noise(number, 3000));
                let copies = tree.values().filter(|content| **content == bytes);
                assert_eq!(copies.count(), 1, "{number}");
            }
        }
    });
}

#[test]
fn contents_that_a_person_has_encrypted_are_sent_and_nobody_is_asked_again() {
    simulate(async {
        let mut world = asking_about_noise().await;
        decide(&world.devices[0], DeletionDecision::Overwrite);
        world.settle().await.expect("calm");
        let tree = tree_of(&world.devices[1]);
        assert_eq!(tree["docs/24.txt"], Some(noise(24, 3000)));
        assert_eq!(tree["docs/25.txt"], Some(text(25)));
        assert_eq!(files_below(&world.devices[1], "docs"), 31);
    });
}
