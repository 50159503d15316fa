//! Files that were deleted and come back: as somebody has restored them, or as a server that lies brings back their
//! past.

use super::*;
use cairn_model::NodeId;

async fn world_of(verify: Verification) -> World {
    match verify {
        Verification::Warn => world().await,
        Verification::Strict => strict_world().await,
    }
}

const BOTH: [Verification; 2] = [Verification::Warn, Verification::Strict];

fn remove(device: &Device, below: &str) {
    device.user(below, |files, path| files.remove(path).map(drop));
}

/// Remembers each node that the second device is told about, as it is first.
fn remember(world: &World) -> Arc<Mutex<BTreeMap<String, Value>>> {
    let seen: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
    let remember = Arc::clone(&seen);
    about_nodes(&world.devices[1], move |node| {
        let name = node["name"].as_str().unwrap_or_default().to_owned();
        let mut seen = remember.lock().expect("no panic");
        seen.entry(name).or_insert_with(|| json!(node));
    });
    seen
}

fn id_of(node: &Value) -> NodeId {
    serde_json::from_value(node["id"].clone()).expect("an id")
}

#[test]
fn a_deleted_file_does_not_come_back_as_it_was_before() {
    for verify in BOTH {
        simulate(async {
            let world = world_of(verify).await;
            let seen = remember(&world);
            world.devices[0].write("f", b"v2");
            pass(&world).await;
            assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v2"));
            remove(&world.devices[0], "f");
            pass(&world).await;
            assert_eq!(content(&world.devices[1], "f"), None);

            let f = seen.lock().expect("no panic")["f"].clone();
            announce(&world, f);
            world.devices[0].write("new", b"new");
            pass(&world).await;
            let victim = &world.devices[1];
            assert_eq!(content(victim, "f"), None);
            assert_eq!(content(victim, "new").as_deref(), Some("new"));
            assert_eq!(problems(victim), [(ProblemCode::Rollback, "f".into())]);
        });
    }
}

#[test]
fn a_file_that_this_device_deleted_does_not_come_back_as_it_was_before() {
    simulate(async {
        let world = strict_world().await;
        let seen = remember(&world);
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        let f = seen.lock().expect("no panic")["f"].clone();
        remove(&world.devices[1], "f");
        pass(&world).await;
        assert!(world.devices[0].settle().await, "the honest line settles");
        assert_eq!(content(&world.devices[0], "f"), None);
        announce(&world, f);
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f"), None);
        assert_eq!(problems(victim), [(ProblemCode::Rollback, "f".into())]);
    });
}

#[test]
fn a_file_that_somebody_restores_comes_back_and_its_next_version_is_vouched_for() {
    for verify in BOTH {
        simulate(async {
            let world = world_of(verify).await;
            let seen = remember(&world);
            world.devices[0].write("f", b"v2");
            pass(&world).await;
            let id = id_of(&seen.lock().expect("no panic")["f"]);
            remove(&world.devices[0], "f");
            pass(&world).await;
            world
                .api
                .restore_node(id)
                .await
                .expect("it is in the trash");
            pass(&world).await;
            let victim = &world.devices[1];
            let (there, reported) = match verify {
                Verification::Warn => (Some("v2"), vec![]),
                Verification::Strict => (None, vec![(ProblemCode::Unverified, "f".into())]),
            };
            assert_eq!(content(victim, "f").as_deref(), there);
            assert_eq!(problems(victim), reported);

            world.devices[0].write("f", b"v3");
            pass(&world).await;
            assert_eq!(content(victim, "f").as_deref(), Some("v3"));
            assert_eq!(problems(victim), []);
        });
    }
}

#[test]
fn what_went_with_a_folder_comes_back_with_it_and_nobody_is_accused() {
    for verify in BOTH {
        simulate(async {
            let world = world_of(verify).await;
            let seen = remember(&world);
            world.devices[0].write("d/in", b"1");
            pass(&world).await;
            world.devices[0].write("d/in", b"2");
            pass(&world).await;
            let id = id_of(&seen.lock().expect("no panic")["d"]);
            remove(&world.devices[0], "d");
            pass(&world).await;
            assert_eq!(content(&world.devices[1], "d/in"), None);
            world
                .api
                .restore_node(id)
                .await
                .expect("it is in the trash");
            pass(&world).await;
            let victim = &world.devices[1];
            if verify == Verification::Strict {
                assert_eq!(problems(victim), [(ProblemCode::Unverified, "d".into())]);
                let engine = victim.engine().expect("it runs");
                assert_eq!(engine.accept().await.expect("the server answers"), 1);
                pass(&world).await;
            }
            assert_eq!(content(victim, "d/in").as_deref(), Some("2"));
            assert_eq!(problems(victim), []);
        });
    }
}

#[test]
fn what_went_with_a_folder_does_not_come_back_as_it_was_before() {
    simulate(async {
        let world = world().await;
        let seen = remember(&world);
        world.devices[0].write("d/in", b"1");
        pass(&world).await;
        world.devices[0].write("d/in", b"2");
        pass(&world).await;
        let (folder, mut past) = {
            let seen = seen.lock().expect("no panic");
            (id_of(&seen["d"]), seen["in"].clone())
        };
        remove(&world.devices[0], "d");
        pass(&world).await;
        past["version"] = json!(past["version"].as_u64().expect("a number") + 100);
        about_nodes(&world.devices[1], move |node| {
            if node["name"] == "in" {
                *node = past.as_object().expect("a node").clone();
            }
        });
        world
            .api
            .restore_node(folder)
            .await
            .expect("it is in the trash");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "d/in"), None);
        assert_eq!(problems(victim), [(ProblemCode::Rollback, "d/in".into())]);
    });
}
