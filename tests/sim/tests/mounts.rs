//! File systems that come and go, and get other numbers.

use cairn_sim::device::ROOT;
use cairn_sim::disk::Node;
use cairn_sim::world::{World, tree_of};
use std::path::{Path, PathBuf};

fn simulate(story: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(story);
}

fn path(text: &str) -> PathBuf {
    Path::new(ROOT).join(text)
}

fn write(world: &World, at: usize, text: &str, bytes: &[u8]) {
    let path = path(text);
    let disk = &world.devices[at].disk;
    disk.user(&path, true, |files| files.write(&path, bytes))
        .expect("the disk takes it");
}

/// Puts another directory in the place of `photos` on the first device; returns the one that was there.
fn exchange(world: &World, with: Option<Node>) -> Node {
    let photos = path("photos");
    let disk = &world.devices[0].disk;
    disk.user(&photos, true, |files| {
        let before = files.take(&photos)?;
        match with {
            Some(node) => files.insert(&photos, node)?,
            None => files.mkdir(&photos)?,
        }
        Ok(before)
    })
    .expect("it is there")
}

#[test]
fn what_was_mounted_in_a_folder_and_is_gone_is_deleted_nowhere() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        let photos = path("photos");
        world.devices[0]
            .disk
            .user(&photos, true, |files| {
                files.mkdir(&photos)?;
                files.write(&photos.join("p"), b"p")?;
                files.get_mut(&photos)?.put_on(7, 7);
                Ok(())
            })
            .expect("the disk takes it");
        write(&world, 0, "doc", b"doc");
        world.settle().await.expect("calm");

        let disk = exchange(&world, None);
        for _ in 0..3 {
            for device in &world.devices {
                device.settle().await;
            }
        }
        let elsewhere = tree_of(&world.devices[1]);
        assert_eq!(elsewhere.get("photos/p"), Some(&Some(b"p".to_vec())));
        let status = world.devices[0].engine().expect("it runs").status();
        let errors = &status.folders[0].errors;
        assert_eq!(errors[0].path, "photos", "{errors:?}");

        exchange(&world, Some(disk));
        write(&world, 1, "photos/new", b"new");
        world.settle().await.expect("calm");
        let tree = tree_of(&world.devices[0]);
        assert_eq!(tree.get("photos/p"), Some(&Some(b"p".to_vec())));
        assert_eq!(tree.get("photos/new"), Some(&Some(b"new".to_vec())));
    });
}

#[test]
fn another_device_number_of_the_same_disk_changes_nothing() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        write(&world, 0, "a", b"a");
        world.settle().await.expect("calm");
        let root = Path::new(ROOT);
        world.devices[0].kill(false).await;
        world.devices[0]
            .disk
            .user(root, false, |files| {
                files.get_mut(root)?.put_on(2, 0);
                Ok(())
            })
            .expect("it is there");
        write(&world, 0, "b", b"b");
        world.settle().await.expect("calm");
        assert!(tree_of(&world.devices[1]).contains_key("b"));
        assert_eq!(world.devices[0].transfers(), 1, "only what is new");
    });
}
