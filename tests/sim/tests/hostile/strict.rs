//! A strict device, which accepts only changes that a device of the account has authenticated, and its user's own
//! changes.

use super::*;
use cairn_model::Kind;
use cairn_wire::nodes::{CreateNode, Node, UpdateNode};

/// Removes the seal, by which devices authenticate a file's state, from everything that is sent about `f`.
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

/// Changes a node on the service without keys.
async fn change(world: &World, name: &str, change: UpdateNode) -> Node {
    let nodes = world.api.snapshot(None).await.expect("a page").nodes;
    let node = nodes
        .iter()
        .find(|node| node.name == name)
        .expect("it is there");
    let changed = world.api.update_node(node.id, None, &change).await;
    changed.expect("nobody else changes it")
}

async fn rename_without_keys(world: &World, from: &str, to: &str) {
    let new_name = UpdateNode {
        name: Some(to.into()),
        ..UpdateNode::default()
    };
    assert_eq!(change(world, from, new_name).await.name, to);
}

async fn accept(world: &World) {
    let engine = world.devices[1].engine().expect("it runs");
    assert_eq!(engine.accept().await.expect("the server answers"), 1);
    pass(world).await;
    assert_eq!(problems(&world.devices[1]), []);
}

fn set_executable(device: &Device, below: &str) {
    device.user(below, |files, path| {
        let now = files.tick();
        files.get_mut(path)?.set_executable(true, now);
        Ok(())
    });
}

fn is_executable(device: &Device, below: &str) -> Option<bool> {
    let path = path(below);
    device.disk.look(|files| files.get(&path).ok()?.executable)
}

#[test]
fn a_strict_device_sends_edits_of_a_file_whose_new_name_it_does_not_take() {
    simulate(async {
        let world = strict_world().await;
        rename_without_keys(&world, "f", "g").await;
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

#[test]
fn a_strict_device_renames_and_moves_what_no_device_has_sealed() {
    simulate(async {
        let world = strict_world().await;
        rename_without_keys(&world, "f", "g").await;
        pass(&world).await;
        accept(&world).await;
        let strict = &world.devices[1];
        rename(strict, "g", "h");
        assert!(strict.settle().await, "a new name");
        set_executable(strict, "h");
        assert!(strict.settle().await, "an executable bit");
        strict.user("d", |files, path| files.mkdir(path));
        rename(strict, "h", "d/h");
        assert!(strict.settle().await, "another folder");
        pass(&world).await;
        for device in &world.devices {
            assert_eq!(content(device, "d/h").as_deref(), Some("v1"));
            assert_eq!(is_executable(device, "d/h"), Some(true));
            assert_eq!(problems(device), []);
        }
    });
}

#[test]
fn a_move_lets_in_nothing_that_waits_for_a_person() {
    simulate(async {
        let world = strict_world().await;
        let bit = UpdateNode {
            executable: Some(true),
            ..UpdateNode::default()
        };
        change(&world, "f", bit).await;
        pass(&world).await;
        let strict = &world.devices[1];
        assert_eq!(problems(strict), [(ProblemCode::Unverified, "f".into())]);
        rename(strict, "f", "g");
        assert!(strict.rest().await, "a new name");
        pass(&world).await;
        assert_eq!(content(&world.devices[0], "g").as_deref(), Some("v1"));
        assert_eq!(content(strict, "g").as_deref(), Some("v1"));
        assert_eq!(is_executable(strict, "g"), Some(false));
        let known = strict.index().read(|db| db.remote_children(None));
        let known = known.expect("the index answers");
        assert!(known.iter().all(|row| !row.executable), "{known:?}");
    });
}

#[test]
fn edits_of_a_file_that_was_moved_into_a_folder_that_waits_go_to_the_service() {
    simulate(async {
        let world = strict_world().await;
        let folder = CreateNode {
            id: None,
            parent_id: None,
            kind: Kind::Folder,
            name: "d".into(),
            seal: None,
        };
        world.api.create_folder(&folder).await.expect("it is made");
        pass(&world).await;
        rename(&world.devices[0], "f", "d/f");
        pass(&world).await;
        let strict = &world.devices[1];
        assert_eq!(problems(strict), [(ProblemCode::Unverified, "d".into())]);
        assert_eq!(content(strict, "f").as_deref(), Some("v1"));
        strict.write("f", b"v2");
        assert!(strict.rest().await, "the edit is sent");
        pass(&world).await;
        assert_eq!(content(&world.devices[0], "d/f").as_deref(), Some("v2"));
        assert_eq!(content(strict, "f").as_deref(), Some("v2"));
    });
}
