//! Executable bits for which no device vouches: a server makes no file executable, and takes the bit from none.

use super::*;
use cairn_sim::time::until;
use cairn_wire::nodes::{Node, UpdateNode};
use serde_json::Map;

fn is_executable(device: &Device, below: &str) -> Option<bool> {
    let path = path(below);
    device.disk.look(|files| files.get(&path).ok()?.executable)
}

fn set_executable(device: &Device, below: &str, executable: bool) {
    device.user(below, |files, path| {
        let now = files.tick();
        files.get_mut(path)?.set_executable(executable, now);
        Ok(())
    });
}

/// Tells the second device another executable bit of a file than it has, with the seal of the true one.
fn lie_about_bit(world: &World, name: &'static str, executable: bool) {
    about_nodes(&world.devices[1], move |node| {
        if node["name"] == name {
            node["executable"] = json!(executable);
        }
    });
}

/// Returns a node as the service has it.
async fn node(world: &World, name: &str) -> Node {
    let nodes = world.api.snapshot(None).await.expect("a page").nodes;
    let found = nodes.into_iter().find(|node| node.name == name);
    found.expect("it is there")
}

/// Announces a file of both devices again, changed by `lie`.
async fn announce_changed(world: &World, name: &str, lie: impl Fn(&mut Map<String, Value>)) {
    let mut again = serde_json::to_value(node(world, name).await).expect("JSON");
    lie(again.as_object_mut().expect("a node"));
    announce(world, again);
    world.devices[0].write("new", b"new");
    pass(world).await;
    assert_eq!(content(&world.devices[1], "new").as_deref(), Some("new"));
}

#[test]
fn the_bit_of_an_honest_device_arrives() {
    simulate(async {
        let world = world().await;
        about_nodes(&world.devices[1], |_| {});
        world.devices[0].write("new", b"#!");
        set_executable(&world.devices[0], "new", true);
        set_executable(&world.devices[0], "f", true);
        pass(&world).await;
        assert_eq!(is_executable(&world.devices[1], "new"), Some(true));
        assert_eq!(is_executable(&world.devices[1], "f"), Some(true));
        set_executable(&world.devices[0], "f", false);
        pass(&world).await;
        assert_eq!(is_executable(&world.devices[1], "f"), Some(false));
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn a_server_makes_no_file_executable() {
    simulate(async {
        let world = world().await;
        for seal in [true, false] {
            announce_changed(&world, "f", |node| {
                node["executable"] = json!(true);
                if !seal {
                    node["seal"] = Value::Null;
                }
            })
            .await;
            assert_eq!(is_executable(&world.devices[1], "f"), Some(false));
        }
        lie_about_bit(&world, "other", true);
        world.devices[0].write("other", b"v2");
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "other").as_deref(), Some("v2"));
        assert_eq!(is_executable(&world.devices[1], "other"), Some(false));

        lie_about_bit(&world, "letter", true);
        world.devices[0].write("letter", b"Dear");
        pass(&world).await;
        assert_eq!(
            content(&world.devices[1], "letter").as_deref(),
            Some("Dear")
        );
        assert_eq!(is_executable(&world.devices[1], "letter"), Some(false));
    });
}

#[test]
fn a_server_takes_the_bit_from_no_file() {
    simulate(async {
        let world = world().await;
        set_executable(&world.devices[0], "f", true);
        set_executable(&world.devices[0], "other", true);
        pass(&world).await;
        assert_eq!(is_executable(&world.devices[1], "f"), Some(true));
        announce_changed(&world, "f", |node| node["executable"] = json!(false)).await;
        assert_eq!(is_executable(&world.devices[1], "f"), Some(true));
        lie_about_bit(&world, "other", false);
        world.devices[0].write("other", b"v2");
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "other").as_deref(), Some("v2"));
        assert_eq!(is_executable(&world.devices[1], "other"), Some(true));
    });
}

#[test]
fn a_past_seal_fits_no_better_with_the_bit_that_is_known() {
    simulate(async {
        let world = world().await;
        let past = serde_json::to_value(node(&world, "f").await).expect("JSON");
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v2"));
        announce_changed(&world, "f", |node| {
            let version = node["version"].clone();
            *node = past.as_object().expect("a node").clone();
            node["version"] = version;
            node["executable"] = json!(true);
        })
        .await;
        let known = world.devices[1].index().read(|db| db.remote_children(None));
        let known = known.expect("the index answers");
        let known = known.iter().find(|row| row.name.as_str() == "f");
        assert_eq!(
            known.map(|row| (row.executable, row.seal.is_some())),
            Some((false, false))
        );
        let copies = tree_of(&world.devices[1]);
        assert!(
            copies.values().flatten().any(|bytes| bytes == b"v2"),
            "it is kept: {copies:?}"
        );
    });
}

#[test]
fn a_bit_that_somebody_without_keys_has_set_is_not_mirrored() {
    simulate(async {
        let world = world().await;
        let bit = UpdateNode {
            executable: Some(true),
            ..UpdateNode::default()
        };
        let id = node(&world, "f").await.id;
        world
            .api
            .update_node(id, None, &bit)
            .await
            .expect("it is set");
        pass(&world).await;
        for device in &world.devices {
            assert_eq!(is_executable(device, "f"), Some(false));
            assert_eq!(problems(device), []);
        }
        // The next edit seals what the devices have.
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v2"));
        assert!(!node(&world, "f").await.executable);
    });
}

#[test]
fn a_person_who_accepts_a_bit_takes_it() {
    simulate(async {
        let world = strict_world().await;
        let bit = UpdateNode {
            executable: Some(true),
            ..UpdateNode::default()
        };
        let id = node(&world, "f").await.id;
        world
            .api
            .update_node(id, None, &bit)
            .await
            .expect("it is set");
        pass(&world).await;
        let strict = &world.devices[1];
        assert_eq!(problems(strict), [(ProblemCode::Unverified, "f".into())]);
        assert_eq!(is_executable(strict, "f"), Some(false));
        let engine = strict.engine().expect("it runs");
        assert_eq!(engine.accept().await.expect("the server answers"), 1);
        pass(&world).await;
        assert_eq!(is_executable(strict, "f"), Some(true));
        assert_eq!(problems(strict), []);
    });
}

#[test]
fn a_program_that_somebody_without_keys_has_renamed_stays_executable_on_a_new_device() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("f", b"#!");
        set_executable(&world.devices[0], "f", true);
        world.devices[0].start();
        assert!(world.devices[0].settle().await, "it is sent");
        let name = UpdateNode {
            name: Some("g".into()),
            ..UpdateNode::default()
        };
        let id = node(&world, "f").await.id;
        world
            .api
            .update_node(id, None, &name)
            .await
            .expect("it is renamed");
        world.settle().await.expect("they settle");
        for device in &world.devices {
            assert_eq!(is_executable(device, "g"), Some(true));
        }
    });
}

#[test]
fn the_answer_to_a_move_brings_no_bit() {
    simulate(async {
        let world = world().await;
        let victim = &world.devices[1];
        victim.line.lie(Some(Box::new(|asked, status, body: Bytes| {
            if asked.starts_with(CHANGES) {
                return (StatusCode::SERVICE_UNAVAILABLE, Bytes::new());
            }
            let Ok(mut node) = serde_json::from_slice::<Value>(&body) else {
                return (status, body);
            };
            if node["name"] == "g" {
                node["executable"] = json!(true);
                node["seal"] = Value::Null;
            }
            (status, Bytes::from(node.to_string()))
        })));
        rename(victim, "f", "g");
        let answered = || {
            let known = victim.index().read(|db| db.remote_children(None));
            let known = known.expect("the index answers");
            let found = known.into_iter().find(|row| row.name.as_str() == "g");
            found.map(|row| row.executable)
        };
        let minutes = Duration::from_secs(300);
        assert!(until(|| answered().is_some(), minutes).await, "it is sent");
        assert_eq!(answered(), Some(false));
        assert_eq!(is_executable(victim, "g"), Some(false));
    });
}
