//! A server that lies: one device's line changes the honest server's answers. After each lie the files
//! are as they were, what was refused is reported, and everything else syncs on.

use axum::http::StatusCode;
use bytes::Bytes;
use cairn_engine::Settings;
use cairn_model::{ProblemCode, Verification};
use cairn_sim::device::{Device, ROOT, path};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};
use cairn_wire::nodes::UpdateNode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CHANGES: &str = "/api/v1/changes?";

/// Two running devices in sync; the second one is lied to later.
async fn world() -> World {
    let mut world = World::new(1, 2).await;
    begin(&mut world).await;
    world
}

/// The same, but the second device takes nothing that no device vouches for.
async fn strict_world() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[1].verify = Verification::Strict;
    begin(&mut world).await;
    world
}

async fn begin(world: &mut World) {
    world.devices[0].write("f", b"v1");
    world.devices[0].write("other", b"other");
    world.settle().await.expect("they settle");
}

/// Lets the honest device finish, then gives the other one ten minutes with its server.
async fn pass(world: &World) {
    assert!(world.devices[0].settle().await, "the honest line settles");
    let victim = &world.devices[1];
    victim.engine().expect("it runs").rescan(None);
    drop(tokio::time::timeout(Duration::from_secs(600), victim.settle()).await);
}

fn content(device: &Device, path: &str) -> Option<String> {
    tree_of(device)
        .get(path)?
        .as_ref()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn problems(device: &Device) -> Vec<(ProblemCode, String)> {
    let status = device.engine().expect("it runs").status();
    status
        .folders
        .iter()
        .flat_map(|folder| &folder.errors)
        .map(|problem| (problem.code, problem.path.clone()))
        .collect()
}

/// Every node in the feed's pages passes through `lie`.
fn about_nodes(
    device: &Device,
    lie: impl Fn(&mut serde_json::Map<String, Value>) + Send + Sync + 'static,
) {
    about_json(device, CHANGES, move |page| {
        let changes = page["changes"].as_array_mut().into_iter().flatten();
        for change in changes {
            if let Some(node) = change["node"].as_object_mut() {
                lie(node);
            }
        }
    });
}

fn about_json(
    device: &Device,
    path: &'static str,
    lie: impl Fn(&mut Value) + Send + Sync + 'static,
) {
    device
        .line
        .lie(Some(Box::new(move |asked, status, body: Bytes| {
            if !asked.starts_with(path) || status != StatusCode::OK {
                return (status, body);
            }
            let mut page: Value = serde_json::from_slice(&body).expect("JSON");
            lie(&mut page);
            (
                status,
                Bytes::from(serde_json::to_vec(&page).expect("JSON")),
            )
        })));
}

#[test]
fn an_honest_server_is_never_accused() {
    simulate(async {
        let world = world().await;
        about_nodes(&world.devices[1], |_| {});
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v2"));
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn a_past_state_served_as_the_present_one_is_refused() {
    simulate(async {
        let world = world().await;
        let seen: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
        let remember = Arc::clone(&seen);
        about_nodes(&world.devices[1], move |node| {
            let name = node["name"].as_str().unwrap_or_default().to_owned();
            let mut seen = remember.lock().expect("no panic");
            seen.entry(name).or_insert_with(|| json!(node));
        });
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        world.devices[0].write("f", b"v3");
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v3"));

        about_nodes(&world.devices[1], move |node| {
            if node["name"] == "f" {
                let version = node["version"].clone();
                *node = seen.lock().expect("no panic")["f"]
                    .as_object()
                    .expect("a node")
                    .clone();
                node["version"] = version;
            }
        });
        world.devices[0].write("f", b"v4");
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v3"));
        assert_eq!(content(victim, "new").as_deref(), Some("new"));
        assert_eq!(problems(victim), [(ProblemCode::Rollback, "f".into())]);

        victim.line.lie(None);
        world.devices[0].write("f", b"v5");
        pass(&world).await;
        assert_eq!(content(victim, "f").as_deref(), Some("v5"));
        assert_eq!(problems(victim), []);
    });
}

#[test]
fn a_count_of_changes_that_cannot_be_is_refused() {
    simulate(async {
        let world = world().await;
        about_nodes(&world.devices[1], |node| {
            if node["name"] == "f" {
                node["version"] = json!(i64::MAX);
            }
        });
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v1"));
        assert_eq!(problems(victim), [(ProblemCode::Impossible, "f".into())]);

        victim.line.lie(None);
        world.devices[0].write("f", b"v3");
        pass(&world).await;
        assert_eq!(content(victim, "f").as_deref(), Some("v3"));
        assert_eq!(problems(victim), []);
    });
}

#[test]
fn the_content_of_another_file_under_the_same_revision_is_refused() {
    simulate(async {
        let world = world().await;
        let seen: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
        let remember = Arc::clone(&seen);
        about_nodes(&world.devices[1], move |node| {
            let name = node["name"].as_str().unwrap_or_default().to_owned();
            let mut seen = remember.lock().expect("no panic");
            seen.insert(name, json!(node));
        });
        world.devices[0].write("f", b"v2");
        world.devices[0].write("other", b"other, v2");
        pass(&world).await;

        // The next change of the feed announces `f` again, as a copy of `other`.
        about_nodes(&world.devices[1], move |node| {
            if node["name"] == "new" {
                let seen = seen.lock().expect("no panic");
                let (f, other) = (&seen["f"], &seen["other"]);
                let version = f["version"].as_u64().expect("a number") + 1;
                *node = f.as_object().expect("a node").clone();
                node["version"] = json!(version);
                let source = json!({"node_id": other["id"], "revision_id": other["revision_id"]});
                node.insert("content_source".to_owned(), source);
            }
        });
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(problems(victim), [(ProblemCode::Impossible, "f".into())]);
        assert_eq!(content(victim, "f").as_deref(), Some("v2"));

        victim.line.lie(None);
        victim.write("f", b"v3");
        pass(&world).await;
        pass(&world).await;
        assert_eq!(content(&world.devices[0], "f").as_deref(), Some("v3"));
    });
}

#[test]
fn an_old_deletion_served_as_the_present_state_is_refused() {
    simulate(async {
        let world = world().await;
        let deleted: Arc<Mutex<Option<Value>>> = Arc::default();
        let remember = Arc::clone(&deleted);
        about_json(&world.devices[1], CHANGES, move |page| {
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["kind"] == "trashed" {
                    *remember.lock().expect("no panic") = Some(change.clone());
                }
            }
        });
        let root = Path::new(ROOT);
        let path = root.join("f");
        world.devices[0]
            .disk
            .user(&path, true, |files| files.remove(&path))
            .expect("it is there");
        pass(&world).await;
        let trashed = deleted
            .lock()
            .expect("no panic")
            .clone()
            .expect("a deletion");
        let id = serde_json::from_value(trashed["node_id"].clone()).expect("an id");
        world
            .api
            .restore_node(id)
            .await
            .expect("it is in the trash");
        pass(&world).await;
        for text in [&b"v2"[..], b"v3"] {
            world.devices[0].write("f", text);
            pass(&world).await;
        }
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v3"));

        about_json(&world.devices[1], CHANGES, move |page| {
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["node_id"] == trashed["node_id"] {
                    *change = trashed.clone();
                }
            }
        });
        world.devices[0].write("f", b"v4");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v3"));
        assert_eq!(problems(victim), [(ProblemCode::Rollback, "f".into())]);
    });
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_reported() {
    for name in [
        "../x",
        "/etc/x",
        "a/b",
        "a\0b",
        ".",
        "..",
        "",
        &"n".repeat(300),
    ] {
        simulate(async {
            let world = world().await;
            let served_name = name.to_owned();
            about_nodes(&world.devices[1], move |node| {
                if node["name"] == "evil" {
                    node["name"] = json!(served_name);
                }
            });
            world.devices[0].write("evil", b"evil");
            world.devices[0].write("good", b"good");
            pass(&world).await;
            let victim = &world.devices[1];
            assert_eq!(content(victim, "good").as_deref(), Some("good"), "{name:?}");
            let everything = victim.disk.look(|files| files.listing(Path::new("/")));
            let evil = Some(b"evil".to_vec());
            assert!(!everything.values().any(|bytes| *bytes == evil), "{name:?}");
            let codes: Vec<ProblemCode> = problems(victim).into_iter().map(|p| p.0).collect();
            assert_eq!(codes, [ProblemCode::Impossible], "{name:?}");
        });
    }
}

#[test]
fn folders_that_contain_each_other_stay_where_they_are() {
    simulate(async {
        let world = world().await;
        world.devices[0].user("x", |files, path| files.mkdir(path));
        world.devices[0].user("x/y", |files, path| files.mkdir(path));
        world.devices[0].write("x/y/in", b"in");
        pass(&world).await;
        let ids: Arc<Mutex<Option<Value>>> = Arc::default();
        about_json(&world.devices[1], CHANGES, move |page| {
            let mut inner = ids.lock().expect("no panic");
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["node"]["name"] == "y2" {
                    *inner = Some(change["node"]["id"].clone());
                }
            }
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["node"]["name"] == "x2" {
                    change["node"]["parent_id"] = inner.clone().unwrap_or_default();
                }
            }
        });
        let root = Path::new(ROOT);
        let device = &world.devices[0];
        for (from, to) in [("x/y", "x/y2"), ("x", "x2")] {
            let (from, to) = (root.join(from), root.join(to));
            device
                .disk
                .user(&from, true, |files| files.rename(&from, &to))
                .expect("the disk renames");
            device.disk.user(&to, true, |_| Ok(())).expect("seen");
            pass(&world).await;
        }
        device.write("good", b"good");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "good").as_deref(), Some("good"));
        let tree = tree_of(victim);
        let inside = tree
            .values()
            .filter(|bytes| **bytes == Some(b"in".to_vec()))
            .count();
        assert_eq!(inside, 1, "{tree:?}");
        let codes: Vec<ProblemCode> = problems(victim).into_iter().map(|p| p.0).collect();
        assert!(codes.contains(&ProblemCode::Impossible), "{codes:?}");
    });
}

#[test]
fn a_server_that_has_forgotten_everything_deletes_nothing() {
    simulate(async {
        let world = world().await;
        let before = tree_of(&world.devices[1]);
        world.devices[1]
            .line
            .lie(Some(Box::new(|path, status, body: Bytes| {
                if path.starts_with(CHANGES) {
                    let gone = json!({"code": 410, "message": "another history"});
                    (StatusCode::GONE, Bytes::from(gone.to_string()))
                } else if path.starts_with("/api/v1/changes/snapshot") {
                    let mut page: Value = serde_json::from_slice(&body).expect("JSON");
                    page["nodes"] = json!([]);
                    (status, Bytes::from(page.to_string()))
                } else {
                    (status, body)
                }
            })));
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let after = tree_of(&world.devices[1]);
        for (path, bytes) in &before {
            assert_eq!(after.get(path), Some(bytes), "{path}");
        }
    });
}

#[test]
fn content_with_a_flipped_bit_never_reaches_its_place() {
    simulate(async {
        let world = world().await;
        world.devices[1]
            .line
            .lie(Some(Box::new(|path, status, body: Bytes| {
                if !path.contains("/downloads") && !path.contains("/chunks") {
                    return (status, body);
                }
                let mut body = body.to_vec();
                if let Some(last) = body.last_mut() {
                    *last ^= 1;
                }
                (status, Bytes::from(body))
            })));
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v1"));
        assert!(!problems(victim).is_empty());
        victim.line.lie(None);
        pass(&world).await;
        assert_eq!(content(victim, "f").as_deref(), Some("v2"));
        assert_eq!(problems(victim), []);
    });
}

#[test]
fn deletions_that_no_device_vouches_for_leave_the_files_in_the_trash() {
    simulate(async {
        let world = world().await;
        about_json(&world.devices[1], CHANGES, |page| {
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["node"]["name"] == "f" {
                    change["kind"] = json!("deleted");
                    change["node"] = Value::Null;
                }
            }
        });
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f"), None);
        let trashed = victim
            .disk
            .look(|files| files.listing(&Path::new(ROOT).join(".cairn-trash")));
        assert!(
            trashed.values().any(|bytes| *bytes == Some(b"v1".to_vec())),
            "{trashed:?}"
        );
    });
}

/// Removes the seal from everything that is sent about `f`.
fn without_seal(device: &Device) {
    about_nodes(device, |node| {
        if node["name"] == "f" {
            node["seal"] = Value::Null;
        }
    });
}

#[test]
fn a_strict_device_holds_what_no_device_vouches_for_until_a_person_takes_it() {
    simulate(async {
        let mut world = strict_world().await;
        without_seal(&world.devices[1]);
        world.devices[0].write("f", b"v2");
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let held = [(ProblemCode::Unverified, "f".into())];
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v1"));
        assert_eq!(content(&world.devices[1], "new").as_deref(), Some("new"));
        assert_eq!(problems(&world.devices[1]), held);

        world.devices[1].kill(false).await;
        world.devices[1].start();
        pass(&world).await;
        assert_eq!(problems(&world.devices[1]), held);

        let engine = world.devices[1].engine().expect("it runs");
        assert_eq!(engine.accept().await.expect("the server answers"), 1);
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v2"));
        assert_eq!(problems(&world.devices[1]), []);
        let engine = world.devices[1].engine().expect("it runs");
        assert_eq!(engine.accept().await.expect("the server answers"), 0);
    });
}

#[test]
fn a_strict_device_holds_a_deletion_and_lets_go_when_it_is_no_longer_strict() {
    simulate(async {
        let world = strict_world().await;
        without_seal(&world.devices[1]);
        let path = Path::new(ROOT).join("f");
        world.devices[0]
            .disk
            .user(&path, true, |files| files.remove(&path))
            .expect("the disk removes it");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v1"));
        assert_eq!(problems(victim), [(ProblemCode::Unverified, "f".into())]);

        let engine = victim.engine().expect("it runs");
        engine.tune(Settings::default());
        pass(&world).await;
        assert_eq!(content(victim, "f"), None);
        assert_eq!(problems(victim), []);
    });
}

#[test]
fn a_later_change_that_is_vouched_for_ends_the_waiting() {
    simulate(async {
        let world = strict_world().await;
        without_seal(&world.devices[1]);
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(problems(victim), [(ProblemCode::Unverified, "f".into())]);
        victim.line.lie(None);
        world.devices[0].write("f", b"v3");
        pass(&world).await;
        assert_eq!(content(victim, "f").as_deref(), Some("v3"));
        assert_eq!(problems(victim), []);
    });
}

#[test]
fn a_strict_device_sends_edits_of_a_file_whose_new_name_it_does_not_take() {
    simulate(async {
        let world = strict_world().await;
        let nodes = world.api.snapshot(None).await.expect("a page").nodes;
        let node = nodes
            .iter()
            .find(|node| node.name == "f")
            .expect("it is there");
        let change = UpdateNode {
            name: Some("g".into()),
            ..UpdateNode::default()
        };
        let renamed = world.api.update_node(node.id, None, &change).await;
        assert_eq!(renamed.expect("nobody else changes it").name, "g");
        pass(&world).await;
        let strict = &world.devices[1];
        assert_eq!(problems(strict), [(ProblemCode::Unverified, "f".into())]);
        strict.write("f", b"v2");
        pass(&world).await;
        assert!(world.devices[0].settle().await, "the honest line settles");
        assert_eq!(content(strict, "f").as_deref(), Some("v2"));
        assert_eq!(content(&world.devices[0], "g").as_deref(), Some("v2"));
    });
}

/// Lets the user of the first device move something.
fn rename(world: &World, from: &str, to: &str) {
    let device = &world.devices[0];
    let (from, to) = (path(from), path(to));
    device
        .disk
        .user(&from, true, |files| files.rename(&from, &to))
        .expect("the disk does it");
    device.disk.user(&to, true, |_| Ok(())).expect("seen");
}

fn remove(world: &World, below: &str) {
    world.devices[0].user(below, |files, path| files.remove(path).map(drop));
}

/// A strict device that is off, and the folder `d` with the folder `in` and the files `f`, `g` and `in/h`.
async fn strict_world_with_a_folder() -> World {
    let mut world = strict_world().await;
    for below in ["d/f", "d/g", "d/in/h"] {
        world.devices[0].write(below, b"1");
    }
    pass(&world).await;
    world.devices[1].kill(false).await;
    world
}

/// Starts the strict device, and checks what it has then.
async fn check_strict(world: &mut World, expected: &[&str]) {
    assert!(world.devices[0].settle().await, "the honest line settles");
    world.devices[1].start();
    pass(world).await;
    let names: Vec<String> = tree_of(&world.devices[1]).into_keys().collect();
    assert_eq!(names, expected);
}

#[test]
fn what_was_changed_in_a_folder_before_it_was_deleted_is_gone_and_nobody_is_accused() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        world.devices[0].write("d/f", b"2");
        world.devices[0].write("d/in/h", b"2");
        assert!(world.devices[0].settle().await);
        remove(&world, "d");
        check_strict(&mut world, &["f", "other"]).await;
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn what_was_moved_into_a_folder_before_it_was_deleted_is_gone_and_nobody_is_accused() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        world.devices[0].user("d/new", |files, path| files.mkdir(path));
        rename(&world, "other", "d/new/other");
        assert!(world.devices[0].settle().await);
        remove(&world, "d");
        check_strict(&mut world, &["f"]).await;
        assert_eq!(problems(&world.devices[1]), []);
        let held = world.devices[1].index().read(|db| db.unaccepted_nodes());
        assert_eq!(held.expect("the index answers"), []);
    });
}

#[test]
fn a_folder_whose_deletion_comes_pages_later_vouches_for_what_went_with_it() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        rename(&world, "other", "d/in/other");
        assert!(world.devices[0].settle().await);
        for number in 0..8 {
            world.devices[0].write(&format!("d/new{number}"), b"new");
            world.devices[0].write(&format!("stays{number}"), b"stays");
        }
        assert!(world.devices[0].settle().await);
        remove(&world, "d");
        assert!(world.devices[0].settle().await);
        world.devices[0].write("last", b"last");
        let stays: Vec<String> = (0..8).map(|number| format!("stays{number}")).collect();
        let mut expected = vec!["f", "last"];
        expected.extend(stays.iter().map(String::as_str));
        check_strict(&mut world, &expected).await;
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn a_folder_that_is_deleted_takes_along_what_waits_for_a_person_in_it() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        world.devices[1].start();
        about_nodes(&world.devices[1], |node| {
            if node["name"] == "g" {
                node["seal"] = Value::Null;
            }
        });
        world.devices[0].write("d/g", b"2");
        pass(&world).await;
        assert_eq!(
            problems(&world.devices[1]),
            [(ProblemCode::Unverified, "d/g".into())]
        );
        world.devices[1].line.lie(None);
        remove(&world, "d");
        check_strict(&mut world, &["f", "other"]).await;
        assert_eq!(problems(&world.devices[1]), []);
        world.devices[1].kill(false).await;
        check_strict(&mut world, &["f", "other"]).await;
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn the_service_alone_can_not_put_a_file_into_a_folder_that_was_deleted() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        about_json(&world.devices[1], CHANGES, |page| {
            let changes = page["changes"].as_array_mut().expect("changes");
            let deleted = changes.iter().find(|change| change["node"]["name"] == "d");
            let Some(folder) = deleted.map(|change| change["node_id"].clone()) else {
                return;
            };
            for change in changes {
                if change["node"]["name"] == "other" {
                    change["kind"] = json!("trashed");
                    change["node"]["parent_id"] = folder.clone();
                }
            }
        });
        world.devices[0].write("other", b"2");
        assert!(world.devices[0].settle().await);
        remove(&world, "d");
        check_strict(&mut world, &["f", "other"]).await;
        assert_eq!(
            problems(&world.devices[1]),
            [(ProblemCode::Unverified, "other".into())]
        );
    });
}
