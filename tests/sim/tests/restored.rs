//! Files and folders that one device deletes and another one, not yet aware of that, changes: each comes back as the
//! node (file or folder on the server) that it was.

use axum::http::StatusCode;
use bytes::Bytes;
use cairn_model::{Name, NodeId};
use cairn_sim::device::{Device, path};
use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use cairn_wire::nodes::NodeState;
use serde_json::Value;
use std::time::Duration;

fn rename(device: &Device, from: &str, to: &str) {
    device.user(to, |files, to| files.rename(&path(from), to));
}

fn remove(device: &Device, below: &str) {
    device.user(below, |files, path| files.remove(path).map(drop));
}

fn node(device: &Device, below: &str) -> Option<NodeId> {
    let find = |parent: Option<NodeId>, name: &str| {
        let name = Name::new(name.to_owned()).expect("a name");
        let rows = device
            .index()
            .read(|db| db.remote_children_by_key(parent, &name));
        rows.expect("the index answers").first().map(|row| row.node)
    };
    let mut names = below.split('/');
    let top = find(None, names.next()?)?;
    names.try_fold(top, |above, name| find(Some(above), name))
}

/// Devices that have these files. All but the first are off.
async fn world(devices: usize, files: &[&str]) -> World {
    let mut world = World::new(1, devices).await;
    for below in files {
        world.devices[0].write(below, b"old");
    }
    world.settle().await.expect("calm");
    for device in &mut world.devices[1..] {
        device.kill(false).await;
    }
    world
}

/// Lets all devices come to rest, and checks what they have.
async fn check(world: &mut World, expected: &[(&str, &str)]) {
    world.settle().await.expect("calm");
    let expected: Vec<(String, Option<Vec<u8>>)> = expected
        .iter()
        .map(|(below, text)| ((*below).to_owned(), Some(text.as_bytes().to_vec())))
        .collect();
    for device in &world.devices {
        let mut tree = tree_of(device);
        tree.retain(|_, bytes| bytes.is_some());
        assert_eq!(Vec::from_iter(tree), expected, "{}", device.name);
    }
}

#[test]
fn an_edit_and_a_rename_elsewhere_meet_in_a_file_that_a_third_device_deletes() {
    simulate(async {
        let mut world = world(3, &["f", "g"]).await;
        let former = node(&world.devices[0], "f");
        remove(&world.devices[0], "f");
        assert!(world.devices[0].settle().await);
        world.devices[1].write("f", b"edited");
        rename(&world.devices[2], "f", "renamed");
        check(&mut world, &[("g", "old"), ("renamed", "edited")]).await;
        assert_eq!(node(&world.devices[0], "renamed"), former);
        let revisions = world.api.revisions(former.expect("it was there")).await;
        assert_eq!(revisions.expect("the server answers").len(), 2);
    });
}

#[test]
fn a_renamed_folder_comes_back_whole_and_nothing_is_sent_again() {
    simulate(async {
        let mut world = world(2, &["d/a", "d/in/b"]).await;
        let former = ["d", "d/a", "d/in/b"].map(|below| node(&world.devices[1], below));
        remove(&world.devices[0], "d");
        assert!(world.devices[0].settle().await);
        rename(&world.devices[1], "d", "e");
        check(&mut world, &[("e/a", "old"), ("e/in/b", "old")]).await;
        let now = ["e", "e/a", "e/in/b"].map(|below| node(&world.devices[0], below));
        assert_eq!(now, former);
        assert_eq!(world.devices[1].transfers(), 0);
    });
}

#[test]
fn what_was_deleted_in_a_folder_before_it_does_not_come_back_with_it() {
    simulate(async {
        let mut world = world(2, &["d/a", "d/b", "d/in/c"]).await;
        for below in ["d/b", "d/in", "d"] {
            remove(&world.devices[0], below);
            assert!(world.devices[0].settle().await);
        }
        rename(&world.devices[1], "d", "e");
        check(&mut world, &[("e/a", "old")]).await;
    });
}

#[test]
fn of_a_deleted_folder_only_the_edited_file_comes_back() {
    simulate(async {
        let mut world = world(2, &["d/a", "d/b"]).await;
        remove(&world.devices[0], "d");
        assert!(world.devices[0].settle().await);
        world.devices[1].write("d/a", b"edited");
        check(&mut world, &[("d/a", "edited")]).await;
    });
}

#[test]
fn a_file_that_is_gone_for_good_becomes_a_new_one() {
    simulate(async {
        let mut world = world(2, &["f", "d/a"]).await;
        let former = node(&world.devices[0], "f");
        remove(&world.devices[0], "f");
        remove(&world.devices[0], "d");
        assert!(world.devices[0].settle().await);
        world.api.empty_trash().await.expect("it is emptied");
        world.devices[1].write("f", b"edited");
        rename(&world.devices[1], "d", "e");
        check(&mut world, &[("e/a", "old"), ("f", "edited")]).await;
        assert_ne!(node(&world.devices[0], "f"), former);
    });
}

#[test]
fn a_server_that_restores_nothing_makes_no_difference_to_what_is_kept() {
    simulate(async {
        for status in [
            StatusCode::OK,
            StatusCode::NOT_FOUND,
            StatusCode::INTERNAL_SERVER_ERROR,
        ] {
            let mut world = world(2, &["f", "d/a"]).await;
            remove(&world.devices[0], "f");
            remove(&world.devices[0], "d");
            assert!(world.devices[0].settle().await);
            world.devices[1].write("f", b"edited");
            rename(&world.devices[1], "d", "e");
            // Says that nothing is in the trash, or fails: nothing is restored, as nothing is asked for.
            let first = format!(
                "/api/v1/nodes/{}",
                node(&world.devices[1], "f").expect("known")
            );
            let second = format!(
                "/api/v1/nodes/{}",
                node(&world.devices[1], "d").expect("known")
            );
            world.devices[1]
                .line
                .lie(Some(Box::new(move |path, known, body| {
                    match path == first || path == second {
                        true => (status, Bytes::from_static(b"{}")),
                        false => (known, body),
                    }
                })));
            check(&mut world, &[("e/a", "old"), ("f", "edited")]).await;
        }
    });
}

#[test]
fn a_lost_response_and_a_crash_in_between_make_no_second_file() {
    simulate(async {
        let mut world = world(2, &["f", "d/a"]).await;
        let former = ["f", "d", "d/a"].map(|below| node(&world.devices[0], below));
        remove(&world.devices[0], "f");
        remove(&world.devices[0], "d");
        assert!(world.devices[0].settle().await);
        world.devices[1].write("f", b"edited");
        rename(&world.devices[1], "d", "e");
        world.devices[1]
            .line
            .lie(Some(Box::new(|path, status, body| {
                match path == "/api/v1/nodes/batch" {
                    true => (StatusCode::INTERNAL_SERVER_ERROR, Bytes::new()),
                    false => (status, body),
                }
            })));
        world.devices[1].start();
        pass(Duration::from_millis(700)).await;
        for id in former.iter().flatten() {
            let found = world.api.node(*id).await.expect("the server answers");
            assert_eq!(found.state, NodeState::Active, "it was carried out");
        }
        world.devices[1].kill(true).await;
        world.devices[1].line.lie(None);
        check(&mut world, &[("e/a", "old"), ("f", "edited")]).await;
        let now = ["f", "e", "e/a"].map(|below| node(&world.devices[0], below));
        assert_eq!(now, former);
    });
}

#[test]
fn what_a_server_holds_back_of_a_folder_is_kept_though_it_denies_that_the_folder_is_back() {
    simulate(async {
        let mut world = world(2, &["d/a", "d/b"]).await;
        let held_back = node(&world.devices[1], "d/b").expect("known").to_string();
        remove(&world.devices[0], "d");
        assert!(world.devices[0].settle().await);
        rename(&world.devices[1], "d", "e");
        world.devices[1]
            .line
            .lie(Some(Box::new(move |path, status, body: Bytes| {
                if path == "/api/v1/nodes/batch" {
                    return (StatusCode::PRECONDITION_FAILED, Bytes::new());
                }
                if !path.starts_with("/api/v1/changes") || status != StatusCode::OK {
                    return (status, body);
                }
                let mut page: Value = serde_json::from_slice(&body).expect("JSON");
                let changes = page["changes"].as_array_mut().expect("changes");
                changes.retain(|change| {
                    change["kind"] == "trashed" || change["node_id"] != held_back.as_str()
                });
                let page = serde_json::to_vec(&page).expect("JSON");
                (status, Bytes::from(page))
            })));
        world.devices[1].start();
        pass(Duration::from_secs(60)).await;
        let folder = node(&world.devices[1], "e");
        assert!(folder.is_some(), "it has come back, and moved");
        let tree = tree_of(&world.devices[1]);
        let kept = tree.get("e/b").expect("it is still there");
        assert_eq!(kept.as_deref(), Some(&b"old"[..]));
    });
}
