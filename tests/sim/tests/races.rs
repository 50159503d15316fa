//! Users who act in the very instant in which the engine changes the disk or the service.

use cairn_sim::device::{Device, ROOT};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};
use std::path::Path;

/// Two devices that have the folder `x` with the file `f`.
async fn world() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].user("x", |files, path| files.mkdir(path));
    world.devices[0].user("x/f", |files, path| files.write(path, b"f"));
    world.settle().await.expect("calm");
    world
}

#[test]
fn a_file_that_is_created_while_its_folder_goes_to_the_trash_stays() {
    simulate(async {
        let mut world = world().await;
        world.devices[1].disk.before_rename(
            ".cairn-trash",
            Box::new(|files| files.write(&Path::new(ROOT).join("x/new"), b"new")),
        );
        world.devices[0].user("x", |files, path| files.remove(path).map(drop));
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            assert_eq!(tree.get("x/new"), Some(&Some(b"new".to_vec())), "{tree:?}");
        }
    });
}

#[test]
fn a_file_that_leaves_its_folder_while_that_goes_to_the_trash_stays() {
    simulate(async {
        let mut world = world().await;
        world.devices[1].disk.before_rename(
            ".cairn-trash",
            Box::new(|files| {
                let root = Path::new(ROOT);
                files.rename(&root.join("x/f"), &root.join("g"))
            }),
        );
        world.devices[0].user("x", |files, path| files.remove(path).map(drop));
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            assert_eq!(tree.get("g"), Some(&Some(b"f".to_vec())), "{tree:?}");
        }
    });
}

#[test]
fn files_are_swapped_here_while_one_is_edited_elsewhere() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("x", b"x");
        world.devices[0].write("y", b"y");
        world.settle().await.expect("calm");
        let version = |device: &Device| {
            let rows = device.index().read(|db| db.remote_children(None)).unwrap();
            rows.iter().map(|row| row.version).max()
        };
        let known = version(&world.devices[0]);
        world.devices[1].write("x", b"edited");
        assert!(world.devices[1].settle().await);
        assert!(version(&world.devices[1]) > known);
        // The first of the two moves of `x` is refused; the second one is of the version that this device expects.
        assert_eq!(
            version(&world.devices[0]),
            known,
            "it has heard of the edit"
        );
        world.devices[0].user("x", |files, path| {
            let (y, between) = (path.with_file_name("y"), path.with_file_name("between"));
            files.rename(path, &between)?;
            files.rename(&y, path)?;
            files.rename(&between, &y)
        });
        world.settle().await.expect("both can open what was edited");
        for device in &world.devices {
            let tree = tree_of(device);
            let expected = [("x", "y"), ("y", "edited")];
            let expected = expected.map(|(name, text)| (name.to_owned(), Some(text.into())));
            assert_eq!(tree, expected.into(), "{}", device.name);
        }
    });
}
