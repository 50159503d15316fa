//! A server that says that its history was replaced, as after a restored backup, and shows what was long ago.

use super::*;

const SNAPSHOT: &str = "/api/v1/changes/snapshot";

fn name_of(node: &Value) -> String {
    node["name"].as_str().unwrap_or_default().to_owned()
}

/// Replaces the history of the second device's server: `lie` changes each node of the list.
fn replace_history(device: &Device, lie: impl Fn(&mut Value) + Send + Sync + 'static) {
    let lost: Mutex<Option<String>> = Mutex::default();
    device
        .line
        .lie(Some(Box::new(move |path, status, body: Bytes| {
            if path.starts_with(SNAPSHOT) {
                let mut page: Value = serde_json::from_slice(&body).expect("JSON");
                for node in page["nodes"].as_array_mut().expect("nodes") {
                    lie(node);
                }
                return (status, Bytes::from(page.to_string()));
            }
            let mut lost = lost.lock().expect("no panic");
            if path.starts_with(CHANGES) && lost.get_or_insert_with(|| path.to_owned()) == path {
                let gone = json!({"code": 410, "message": "another history"});
                return (StatusCode::GONE, Bytes::from(gone.to_string()));
            }
            (status, body)
        })));
}

/// Syncs three versions of `f`, and replaces the history by one in which it has the first of them. `lie` changes
/// that.
async fn go_back(world: &World, lie: impl Fn(&mut Value) + Send + Sync + 'static) {
    let seen: Arc<Mutex<Option<Value>>> = Arc::default();
    let remember = Arc::clone(&seen);
    about_nodes(&world.devices[1], move |node| {
        if node["name"] == "f" {
            let mut seen = remember.lock().expect("no panic");
            seen.get_or_insert_with(|| json!(node));
        }
    });
    for text in [&b"v2"[..], b"v3"] {
        world.devices[0].write("f", text);
        pass(world).await;
    }
    assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v3"));
    world.devices[1].line.lie(None);
    world.devices[0].write("new", b"new");
    assert!(world.devices[0].settle().await, "the honest line settles");
    let past = seen.lock().expect("no panic").clone().expect("a node");
    replace_history(&world.devices[1], move |node| {
        if name_of(node) == "f" {
            *node = past.clone();
        }
        lie(node);
    });
}

fn files_with(device: &Device, text: &str) -> usize {
    let tree = tree_of(device);
    let same = |bytes: &&Option<Vec<u8>>| **bytes == Some(text.as_bytes().to_vec());
    tree.values().filter(same).count()
}

async fn accept(world: &World) -> u64 {
    let engine = world.devices[1].engine().expect("it runs");
    let accepted = engine.accept().await.expect("the server answers");
    pass(world).await;
    accepted
}

fn of_the_whole() -> Vec<(ProblemCode, String)> {
    vec![(ProblemCode::Rollback, String::new())]
}

#[test]
fn both_versions_stay_and_the_status_says_so_until_a_person_accepts_it() {
    simulate(async {
        let mut world = world().await;
        go_back(&world, |_| {}).await;
        pass(&world).await;
        let reported = of_the_whole();
        assert_eq!(files_with(&world.devices[1], "v2"), 1);
        assert_eq!(files_with(&world.devices[1], "v3"), 1);
        assert_eq!(problems(&world.devices[1]), reported);

        // Also after a restart, and while the service is honest.
        world.devices[1].line.lie(None);
        world.devices[1].kill(false).await;
        world.devices[1].start();
        pass(&world).await;
        assert_eq!(problems(&world.devices[1]), reported);

        assert_eq!(accept(&world).await, 1);
        assert_eq!(problems(&world.devices[1]), []);
        assert_eq!(files_with(&world.devices[1], "v3"), 1);
        assert_eq!(accept(&world).await, 0);
    });
}

#[test]
fn a_strict_device_takes_nothing_of_it_until_a_person_accepts_it() {
    simulate(async {
        let mut world = strict_world().await;
        go_back(&world, |_| {}).await;
        let before = tree_of(&world.devices[1]);
        pass(&world).await;
        assert_eq!(tree_of(&world.devices[1]), before);
        assert_eq!(problems(&world.devices[1]), of_the_whole());

        world.devices[1].kill(false).await;
        world.devices[1].start();
        pass(&world).await;
        assert_eq!(tree_of(&world.devices[1]), before);
        assert_eq!(problems(&world.devices[1]), of_the_whole());

        assert_eq!(accept(&world).await, 1);
        let victim = &world.devices[1];
        assert_eq!(problems(victim), []);
        assert_eq!(content(victim, "new").as_deref(), Some("new"));
        assert_eq!(files_with(victim, "v2"), 1);
        assert_eq!(files_with(victim, "v3"), 1);
    });
}

#[test]
fn a_strict_device_takes_no_past_without_its_seal_either() {
    simulate(async {
        let world = strict_world().await;
        go_back(&world, |node| node["seal"] = Value::Null).await;
        let before = tree_of(&world.devices[1]);
        pass(&world).await;
        assert_eq!(tree_of(&world.devices[1]), before);
        assert_eq!(problems(&world.devices[1]), of_the_whole());
    });
}

#[test]
fn a_strict_device_goes_on_when_the_former_history_is_back() {
    simulate(async {
        let world = strict_world().await;
        go_back(&world, |_| {}).await;
        pass(&world).await;
        assert_eq!(problems(&world.devices[1]), of_the_whole());
        world.devices[1].line.lie(None);
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(problems(victim), []);
        assert_eq!(content(victim, "f").as_deref(), Some("v3"));
        assert_eq!(content(victim, "new").as_deref(), Some("new"));
    });
}

#[test]
fn a_position_that_the_service_has_forgotten_accuses_nobody() {
    for is_strict in [false, true] {
        simulate(async {
            let world = match is_strict {
                true => strict_world().await,
                false => world().await,
            };
            world.devices[0].write("f", b"v2");
            pass(&world).await;
            world.devices[0].write("new", b"new");
            assert!(world.devices[0].settle().await, "the honest line settles");
            replace_history(&world.devices[1], |_| {});
            pass(&world).await;
            let victim = &world.devices[1];
            assert_eq!(content(victim, "new").as_deref(), Some("new"));
            assert_eq!(content(victim, "f").as_deref(), Some("v2"));
            assert_eq!(tree_of(victim), tree_of(&world.devices[0]));
            assert_eq!(problems(victim), []);
        });
    }
}

#[test]
fn a_list_that_goes_on_for_ever_is_not_read_for_ever() {
    simulate(async {
        let world = world().await;
        let before = tree_of(&world.devices[1]);
        let pages: Arc<Mutex<u64>> = Arc::default();
        let asked = Arc::clone(&pages);
        world.devices[1]
            .line
            .lie(Some(Box::new(move |path, status, body: Bytes| {
                if path.starts_with(CHANGES) {
                    let gone = json!({"code": 410, "message": "another history"});
                    return (StatusCode::GONE, Bytes::from(gone.to_string()));
                }
                if !path.starts_with(SNAPSHOT) {
                    return (status, body);
                }
                let mut asked = asked.lock().expect("no panic");
                *asked += 1;
                let mut page: Value = serde_json::from_slice(&body).unwrap_or_default();
                page["nodes"] = json!([]);
                page["next"] = json!(format!("page {asked}"));
                page["cursor"] = json!("anywhere");
                page["epoch"] = json!("another");
                (StatusCode::OK, Bytes::from(page.to_string()))
            })));
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(tree_of(victim), before);
        let message = victim.engine().expect("it runs").status().message;
        assert!(message.is_some_and(|text| text.contains("does not move on")));
        let asked = *pages.lock().expect("no panic");
        assert!(asked < 100, "{asked} pages");
    });
}
