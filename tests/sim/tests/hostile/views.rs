//! A server that shows the devices different files, or hides from one what another has changed: the devices tell by the
//! checkpoints that they leave for one another.

use super::*;

/// Two running devices in sync that compare their views; the second one is lied to later.
async fn comparing_world() -> World {
    let mut world = World::new(1, 2).await;
    world.compare_views().await;
    begin(&mut world).await;
    world
}

/// Lets the honest device change something, and time pass.
async fn change(world: &World) {
    for name in ["new", "newer"] {
        world.devices[0].write(name, name.as_bytes());
        pass(world).await;
    }
    world.wait_for_comparisons().await;
}

/// Returns the other devices that a device has compared its view with, and when both last had the same.
fn comparisons(device: &Device) -> Vec<(String, Option<i64>)> {
    let views = device.index().read(|db| db.other_views());
    let views = views.expect("the index is read");
    views
        .into_iter()
        .map(|view| (view.name, view.same_ms))
        .collect()
}

fn found() -> Vec<(ProblemCode, String)> {
    vec![(ProblemCode::Rollback, String::new())]
}

#[test]
fn devices_of_an_honest_server_agree() {
    simulate(async {
        let world = comparing_world().await;
        change(&world).await;
        for device in &world.devices {
            assert_eq!(problems(device), []);
            let found = comparisons(device);
            assert!(matches!(found[..], [(_, Some(_))]), "{found:?}");
        }
        let before = comparisons(&world.devices[1]);
        change(&world).await;
        world.devices[0].write("f", b"v2");
        change(&world).await;
        assert!(before < comparisons(&world.devices[1]), "they went on");
    });
}

#[test]
fn a_device_from_which_changes_are_hidden_notices_it() {
    simulate(async {
        let world = comparing_world().await;
        let cursor: Mutex<Option<Value>> = Mutex::default();
        about_json(&world.devices[1], CHANGES, move |page| {
            let mut cursor = cursor.lock().expect("no panic");
            page["cursor"] = cursor.get_or_insert(page["cursor"].clone()).clone();
            page["changes"] = json!([]);
            page["has_more"] = json!(false);
        });
        change(&world).await;
        assert_eq!(problems(&world.devices[1]), found());
        assert_eq!(problems(&world.devices[0]), []);
        assert_eq!(content(&world.devices[1], "new"), None);
    });
}

#[test]
fn both_devices_notice_that_one_is_not_shown_a_file() {
    simulate(async {
        let world = comparing_world().await;
        about_json(&world.devices[1], CHANGES, |page| {
            let changes = page["changes"].as_array_mut().expect("changes");
            changes.retain(|change| change["node"]["name"] != "new");
        });
        change(&world).await;
        assert_eq!(content(&world.devices[1], "new"), None);
        assert_eq!(
            content(&world.devices[1], "newer").as_deref(),
            Some("newer")
        );
        for device in &world.devices {
            assert_eq!(problems(device), found(), "{}", device.name);
        }
        // A person has seen it: it is not reported again before something new differs.
        let engine = world.devices[0].engine().expect("it runs");
        assert_eq!(engine.accept().await.expect("the server answers"), 1);
        world.wait_for_comparisons().await;
        assert_eq!(problems(&world.devices[0]), []);
        world.devices[0].write("other", b"changed");
        pass(&world).await;
        world.wait_for_comparisons().await;
        assert_eq!(problems(&world.devices[0]), found());
    });
}

#[test]
fn a_server_that_makes_up_checkpoints_is_not_believed() {
    simulate(async {
        let world = comparing_world().await;
        about_json(&world.devices[1], "/api/v1/checkpoints", |list| {
            for one in list["checkpoints"].as_array_mut().into_iter().flatten() {
                one["sealed"] = json!("AAAAAQE=");
            }
        });
        change(&world).await;
        assert_eq!(problems(&world.devices[1]), []);
        assert_eq!(content(&world.devices[1], "new").as_deref(), Some("new"));
    });
}
