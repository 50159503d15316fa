//! File names that one device's disk can't have.

use cairn_model::ProblemCode;
use cairn_sim::device::Device;
use cairn_sim::requests::{listen, take_requests};
use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

fn names(device: &Device) -> Vec<String> {
    tree_of(device).into_keys().collect()
}

fn reported_paths(device: &Device) -> Vec<String> {
    device.problems(ProblemCode::Name)
}

/// Returns the number of nodes that the service has.
async fn on_the_service(world: &World) -> usize {
    let (mut count, mut after) = (0, None);
    loop {
        let page = world.api.snapshot(after.as_deref()).await.expect("a page");
        count += page.nodes.len();
        after = page.next;
        if after.is_none() {
            return count;
        }
    }
}

/// Lets each device come to rest, in turn: their trees stay different.
async fn work(world: &mut World) {
    for _ in 0..2 {
        for device in &mut world.devices {
            device.start();
            assert!(device.settle().await, "{} comes to rest", device.name);
        }
    }
}

#[test]
fn s158_names_that_windows_cannot_have_stay_on_the_service_and_are_reported() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[1].disk.refuse_names_of_windows();
        let all = ["CON", "a:b", "end.", "ok"];
        for name in all {
            world.devices[0].write(name, name.as_bytes());
        }
        world.devices[0].user("aux", |files, path| files.mkdir(path));
        world.devices[0].write("aux/in", b"in");
        work(&mut world).await;
        let everything = ["CON", "a:b", "aux", "aux/in", "end.", "ok"];
        assert_eq!(names(&world.devices[0]), everything);
        assert_eq!(names(&world.devices[1]), ["ok"]);
        assert_eq!(
            reported_paths(&world.devices[1]),
            ["CON", "a:b", "aux", "end."]
        );
        assert_eq!(reported_paths(&world.devices[0]), Vec::<String>::new());
        assert_eq!(on_the_service(&world).await, everything.len());

        // A name that it can have brings the file, and ends the report; a file that it has stays if it
        // gets a name that it can't have.
        world.devices[0].user("a:b", |files, path| {
            files.rename(path, &path.with_file_name("a-b"))
        });
        world.devices[0].user("ok", |files, path| {
            files.rename(path, &path.with_file_name("ok?"))
        });
        work(&mut world).await;
        assert_eq!(names(&world.devices[1]), ["a-b", "ok"]);
        assert_eq!(
            reported_paths(&world.devices[1]),
            ["CON", "aux", "end.", "ok?"]
        );
        // An edit of it there waits for its name, and is no loss on either side.
        world.devices[1].write("ok", b"edited");
        work(&mut world).await;
        assert_eq!(
            tree_of(&world.devices[0])["ok?"].as_deref(),
            Some(&b"ok"[..])
        );
        assert_eq!(names(&world.devices[1]), ["a-b", "ok"]);
        assert_eq!(
            tree_of(&world.devices[1])["ok"].as_deref(),
            Some(&b"edited"[..])
        );
        world.devices[0].user("ok?", |files, path| {
            files.rename(path, &path.with_file_name("fine"))
        });
        work(&mut world).await;
        for device in &world.devices {
            assert_eq!(tree_of(device)["fine"].as_deref(), Some(&b"edited"[..]));
        }
    });
}

#[test]
fn names_that_only_one_disk_of_a_system_cannot_have_wait_without_transfers() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[1].disk.fail_on_names_of_windows();
        for name in ["a:b", "dir/c?", "e:f/in", "ok"] {
            world.devices[0].write(name, name.as_bytes());
        }
        world.rest().await;
        assert_eq!(names(&world.devices[1]), ["dir", "ok"]);
        assert_eq!(reported_paths(&world.devices[1]), ["a:b", "dir/c?", "e:f"]);
        // What waits is tried again, and nothing is fetched for that.
        let received = listen(&world.devices[1]);
        pass(Duration::from_secs(3600)).await;
        assert_eq!(take_requests(&received), [""; 0]);
        for (name, new) in [("a:b", "a-b"), ("dir/c?", "c"), ("e:f", "e")] {
            world.devices[0].user(name, |files, path| {
                files.rename(path, &path.with_file_name(new))
            });
        }
        // A name that it has, too, can become one that it can't have.
        world.devices[0].user("ok", |files, path| {
            files.rename(path, &path.with_file_name("ok?"))
        });
        world.rest().await;
        let all = ["a-b", "dir", "dir/c", "e", "e/in", "ok"];
        assert_eq!(names(&world.devices[1]), all);
        assert_eq!(reported_paths(&world.devices[1]).len(), 1);
    });
}
