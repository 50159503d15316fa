//! Contents that no device has authenticated, on devices that accept unverified changes.

use super::*;
use cairn_wire::nodes::Node;

fn files_with(device: &Device, text: &str) -> usize {
    let tree = tree_of(device);
    let same = |bytes: &&Option<Vec<u8>>| **bytes == Some(text.as_bytes().to_vec());
    tree.values().filter(same).count()
}

async fn node(world: &World, name: &str) -> Node {
    let nodes = world.api.snapshot(None).await.expect("a page").nodes;
    let mut found = nodes.into_iter().filter(|node| node.name == name);
    found.next().expect("it is there")
}

/// Syncs two more versions of `f`. Returns what the service had of the one in the middle.
async fn three_versions(world: &World) -> Node {
    world.devices[0].write("f", b"v2");
    pass(world).await;
    let past = node(world, "f").await;
    world.devices[0].write("f", b"v3");
    pass(world).await;
    assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v3"));
    past
}

#[test]
fn a_past_content_without_its_seal_replaces_nothing() {
    simulate(async {
        let world = world().await;
        let past = three_versions(&world).await;
        let mut past = json!(past);
        past["seal"] = Value::Null;
        announce(&world, past);
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "new").as_deref(), Some("new"));
        assert_eq!(content(victim, "f").as_deref(), Some("v2"));
        assert_eq!(files_with(victim, "v3"), 1, "{:?}", tree_of(victim));
    });
}

#[test]
fn a_version_that_somebody_restores_without_keys_comes_and_the_replaced_one_stays_beside_it() {
    simulate(async {
        let mut world = world().await;
        let past = three_versions(&world).await;
        let revision = past.revision_id.expect("a file has one");
        let restored = world.api.restore_revision(past.id, revision).await;
        restored.expect("the server has it");
        world.settle().await.expect("they settle");
        for device in &world.devices {
            assert_eq!(content(device, "f").as_deref(), Some("v2"));
            // At most one copy for each device.
            let kept = files_with(device, "v3");
            assert!((1..=2).contains(&kept), "{:?}", tree_of(device));
            assert_eq!(problems(device), []);
        }
        world.devices[1].write("f", b"v4");
        world.settle().await.expect("they settle");
        assert_eq!(content(&world.devices[0], "f").as_deref(), Some("v4"));
    });
}

#[test]
fn a_later_version_whose_seal_is_missing_replaces_the_one_before() {
    simulate(async {
        let world = world().await;
        three_versions(&world).await;
        about_nodes(&world.devices[1], |node| {
            if node["name"] == "f" {
                node["seal"] = Value::Null;
            }
        });
        for text in ["v4", "v5"] {
            world.devices[0].write("f", text.as_bytes());
            pass(&world).await;
            let victim = &world.devices[1];
            assert_eq!(content(victim, "f").as_deref(), Some(text));
            assert_eq!(tree_of(victim), tree_of(&world.devices[0]));
        }
    });
}
