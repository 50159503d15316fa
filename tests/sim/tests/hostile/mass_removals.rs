//! Files that disappear from their places through statements that no device has sealed: many of them wait for a person,
//! whichever way they go.

use super::*;
use cairn_index::FolderSettings;
use cairn_model::{DeletionDecision, DeletionGate, FolderId, Kind, NodeId};
use cairn_sim::time::until;
use cairn_wire::Sealed;
use cairn_wire::nodes::{CopyNode, CreateNode, Node, UpdateNode};

/// Half of the files, and at least five.
const GATE: DeletionGate = DeletionGate {
    percent: 50,
    files: 5,
    most: 1000,
};
const A_WHILE: Duration = Duration::from_secs(120);

/// Ten files at the top of both devices, and the folder `d` with sixteen more. The second device asks before it deletes
/// more than half of them.
async fn gated_world() -> World {
    let mut world = World::new(1, 2).await;
    for device in &world.devices {
        let settings = FolderSettings {
            gate: Some(GATE),
            exclude: vec!["/out/".into()],
            ..FolderSettings::default()
        };
        let set = device.index().write(|db| {
            let old = db.folders()?.remove(0).id;
            db.remove_folder(old)?;
            db.add_folder(ROOT, "/", &settings)
        });
        set.expect("the index takes it");
    }
    for number in 0..10 {
        world.devices[0].write(&format!("a{number}"), b"content");
    }
    for number in 0..16 {
        world.devices[0].write(&format!("d/{number}"), b"content");
    }
    let folder = CreateNode {
        id: None,
        parent_id: None,
        kind: Kind::Folder,
        name: "out".into(),
        seal: None,
    };
    let made = world.api.create_folder(&folder).await;
    made.expect("it is made");
    world.settle().await.expect("they settle");
    world
}

async fn node(world: &World, name: &str, parent: Option<NodeId>) -> Node {
    let mut after: Option<String> = None;
    loop {
        let page = world.api.snapshot(after.as_deref()).await.expect("a page");
        let mut nodes = page.nodes.into_iter();
        if let Some(found) = nodes.find(|node| node.name == name && node.parent_id == parent) {
            return found;
        }
        after = Some(page.next.expect("it is there"));
    }
}

/// Moves the files at the top into a folder, without keys.
async fn move_into(world: &World, folder: NodeId) {
    for number in 0..10 {
        let file = node(world, &format!("a{number}"), None).await;
        put_into(world, file.id, folder).await;
    }
}

async fn put_into(world: &World, node: NodeId, folder: NodeId) {
    let change = UpdateNode {
        parent_id: Some(Some(folder)),
        ..UpdateNode::default()
    };
    let moved = world.api.update_node(node, None, &change).await;
    assert_eq!(moved.expect("it is moved").parent_id, Some(folder));
}

async fn asks(device: &Device, files: u64) -> bool {
    let engine = device.engine().expect("it runs");
    let waiting = || engine.status().folders[0].waiting_local_deletions == files;
    until(waiting, A_WHILE).await
}

fn count(device: &Device) -> usize {
    tree_of(device).values().flatten().count()
}

#[test]
fn files_that_are_moved_into_a_folder_and_deleted_with_it_are_asked_about() {
    simulate(async {
        let world = gated_world().await;
        let d = node(&world, "d", None).await.id;
        let folder = CreateNode {
            id: None,
            parent_id: None,
            kind: Kind::Folder,
            name: "new".into(),
            seal: None,
        };
        let folder = world.api.create_folder(&folder).await.expect("it is made");
        move_into(&world, folder.id).await;
        for number in 0..10 {
            let inside = node(&world, &number.to_string(), Some(d)).await;
            put_into(&world, inside.id, folder.id).await;
        }
        pass(&world).await;
        assert_eq!(count(&world.devices[1]), 26);
        let gone = world.api.delete_node(folder.id, None, None).await;
        gone.expect("it is deleted");
        assert!(asks(&world.devices[1], 20).await);
        assert_eq!(count(&world.devices[1]), 26);
    });
}

/// Deletes the folder `d` on the first device, for a person who agrees.
async fn delete_confirmed(world: &World) {
    let device = &world.devices[0];
    device.user("d", |files, path| files.remove(path).map(drop));
    let engine = device.engine().expect("it runs");
    let waits = || engine.status().folders[0].waiting_remote_deletions == 16;
    assert!(until(waits, A_WHILE).await, "the person is asked");
    let folder = FolderId(engine.status().folders[0].id);
    let confirmed = engine.confirm(folder, DeletionDecision::Delete);
    confirmed.expect("somebody is asked");
    assert!(device.settle().await, "it is deleted");
}

#[test]
fn a_deletion_that_a_person_confirmed_is_asked_about_once() {
    simulate(async {
        let world = gated_world().await;
        delete_confirmed(&world).await;
        pass(&world).await;
        assert_eq!(count(&world.devices[1]), 10);
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn what_a_device_has_put_into_a_folder_goes_with_it() {
    simulate(async {
        let world = gated_world().await;
        rename(&world.devices[0], "a0", "d/a0");
        pass(&world).await;
        let device = &world.devices[0];
        device.user("d", |files, path| files.remove(path).map(drop));
        let engine = device.engine().expect("it runs");
        let waits = || engine.status().folders[0].waiting_remote_deletions == 17;
        assert!(until(waits, A_WHILE).await, "the person is asked");
        let folder = FolderId(engine.status().folders[0].id);
        engine
            .confirm(folder, DeletionDecision::Delete)
            .expect("somebody is asked");
        pass(&world).await;
        assert_eq!(count(&world.devices[1]), 9);
    });
}

#[test]
fn what_a_person_confirmed_is_not_what_the_server_has_put_into_the_folder() {
    simulate(async {
        let world = gated_world().await;
        let folder = node(&world, "d", None).await.id;
        about_nodes(&world.devices[1], move |node| {
            if node["name"]
                .as_str()
                .is_some_and(|name| name.starts_with('a'))
            {
                node["parent_id"] = json!(folder);
                node["seal"] = Value::Null;
            }
        });
        for number in 0..10 {
            world.devices[0].write(&format!("a{number}"), b"edited");
        }
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "d/a0").as_deref(), Some("edited"));
        delete_confirmed(&world).await;
        assert!(asks(victim, 10).await, "nobody agreed to these");
        pass(&world).await;
        assert_eq!(content(victim, "d/a0").as_deref(), Some("edited"));
    });
}

#[test]
fn a_confirmed_deletion_is_not_served_again_for_what_was_put_there_since() {
    simulate(async {
        let world = gated_world().await;
        delete_confirmed(&world).await;
        pass(&world).await;
        let trashed = world.api.trash().await.expect("the trash");
        let folder = trashed.into_iter().find(|node| node.name == "d");
        let folder = folder.expect("it is there");
        let confirmed = folder.seal.clone().expect("a device has sealed it");
        world
            .api
            .restore_node(folder.id)
            .await
            .expect("it is restored");
        move_into(&world, folder.id).await;
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "d/a0").as_deref(), Some("content"));
        let gone = world
            .api
            .delete_node(folder.id, None, Some(&Sealed(confirmed.0)))
            .await;
        gone.expect("it is deleted");
        pass(&world).await;
        assert!(content(victim, "d/a0").is_some(), "it waits, or is refused");
    });
}

#[test]
fn copies_that_the_server_adds_make_a_deletion_no_smaller() {
    simulate(async {
        let world = gated_world().await;
        let one = node(&world, "a0", None).await.id;
        for number in 0..40 {
            let copy = CopyNode {
                parent_id: None,
                name: Some(format!("copy{number}")),
                id: None,
                seal: None,
            };
            let made = world.api.copy_node(one, None, &copy).await;
            made.expect("it is copied");
        }
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(count(victim), 66);
        let folder = node(&world, "d", None).await.id;
        let gone = world.api.delete_node(folder, None, None).await;
        gone.expect("it is deleted");
        assert!(asks(victim, 16).await);
        assert_eq!(count(victim), 66);
    });
}

#[test]
fn files_that_are_moved_out_of_what_is_selected_are_asked_about() {
    simulate(async {
        let world = gated_world().await;
        let out = node(&world, "out", None).await.id;
        move_into(&world, out).await;
        for number in 0..10 {
            let d = node(&world, "d", None).await.id;
            let inside = node(&world, &number.to_string(), Some(d)).await;
            put_into(&world, inside.id, out).await;
        }
        let victim = &world.devices[1];
        assert!(asks(victim, 20).await);
        assert_eq!(count(victim), 26);
    });
}
