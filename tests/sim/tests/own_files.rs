//! Places in a synced folder in which an installation keeps its own files: nothing leaves them, and
//! nothing is put there.

use cairn_sim::device::{Device, path};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};

const INDEX: &str = "data/own/index.db";

/// Lets all devices work until nothing more happens.
async fn work(world: &mut World) {
    for _ in 0..3 {
        for device in &mut world.devices {
            device.start();
            // What is left out on one device may wait there for ever, which is right.
            device.rest().await;
        }
    }
}

fn content(device: &Device, path: &str) -> Option<Vec<u8>> {
    tree_of(device).get(path).cloned().flatten()
}

/// Returns the names that the service has.
async fn on_the_service(world: &World) -> Vec<String> {
    let page = world.api.snapshot(None).await.expect("a page");
    page.nodes.into_iter().map(|node| node.name).collect()
}

#[test]
fn an_installations_own_files_do_not_leave_it() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write(INDEX, b"the index of the first");
        world.devices[0].write("data/doc", b"a document");
        world.devices[0].own_places.push(path("data/own"));
        work(&mut world).await;
        let names = on_the_service(&world).await;
        assert!(names.contains(&"doc".to_owned()), "{names:?}");
        assert!(!names.contains(&"index.db".to_owned()), "{names:?}");
        assert_eq!(content(&world.devices[1], INDEX), None);
    });
}

#[test]
fn what_comes_from_the_service_is_not_put_among_an_installations_own_files() {
    simulate(async {
        let mut world = World::new(2, 2).await;
        for (device, text) in world.devices.iter().zip(["first", "second"]) {
            device.write(INDEX, text.as_bytes());
        }
        world.devices[1].write("data/own/account.json", b"of the second");
        world.devices[0].own_places.push(path("data/own"));
        work(&mut world).await;
        let first = &world.devices[0];
        assert_eq!(content(first, INDEX).as_deref(), Some(&b"first"[..]));
        let own = tree_of(first);
        let own: Vec<_> = own.keys().filter(|path| path.contains("own/")).collect();
        assert_eq!(own, [INDEX], "nothing came, and nothing was renamed");
        let second = content(&world.devices[1], INDEX);
        assert_eq!(second.as_deref(), Some(&b"second"[..]));
    });
}

#[test]
fn a_place_that_was_synced_before_stays_on_both_sides_as_it_is() {
    simulate(async {
        let mut world = World::new(3, 2).await;
        world.devices[0].write(INDEX, b"old");
        work(&mut world).await;
        assert_eq!(
            content(&world.devices[1], INDEX).as_deref(),
            Some(&b"old"[..])
        );
        for device in &mut world.devices {
            device.kill(false).await;
            device.own_places.push(path("data/own"));
        }
        for (device, text) in world.devices.iter().zip(["first", "second"]) {
            device.write(INDEX, text.as_bytes());
        }
        work(&mut world).await;
        for (device, text) in world.devices.iter().zip(["first", "second"]) {
            assert_eq!(content(device, INDEX).as_deref(), Some(text.as_bytes()));
        }
        let names = on_the_service(&world).await;
        let copies = names
            .iter()
            .filter(|name| name.starts_with("index"))
            .count();
        assert_eq!(copies, 1, "nothing was deleted or added there: {names:?}");
    });
}

#[test]
fn another_installations_files_are_known_by_their_mark() {
    simulate(async {
        let mut world = World::new(4, 2).await;
        world.devices[0].write("data/own/.cairn-home", b"a mark");
        world.devices[0].write(INDEX, b"first");
        world.devices[1].write(INDEX, b"second");
        world.devices[1].write("data/own/account.json", b"of the second");
        work(&mut world).await;
        let first = &world.devices[0];
        assert_eq!(content(first, INDEX).as_deref(), Some(&b"first"[..]));
        assert_eq!(content(first, "data/own/account.json"), None);
        let names = on_the_service(&world).await;
        assert!(!names.contains(&".cairn-home".to_owned()), "{names:?}");
        let second = tree_of(&world.devices[1]);
        assert!(!second.contains_key("data/own/.cairn-home"), "{second:?}");
        let index = second.get(INDEX).cloned().flatten();
        assert_eq!(index.as_deref(), Some(&b"second"[..]));
    });
}

#[test]
fn a_folder_that_becomes_an_installations_is_left_alone_on_both_sides() {
    simulate(async {
        let mut world = World::new(5, 2).await;
        world.devices[0].write(INDEX, b"old");
        work(&mut world).await;
        world.devices[0].write("data/own/.cairn-home", b"a mark");
        work(&mut world).await;
        world.devices[0].write(INDEX, b"first");
        world.devices[1].write(INDEX, b"second");
        work(&mut world).await;
        let [first, second] = [0, 1].map(|n| content(&world.devices[n], INDEX));
        assert_eq!(first.as_deref(), Some(&b"first"[..]));
        assert_eq!(second.as_deref(), Some(&b"second"[..]));
    });
}
