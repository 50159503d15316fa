//! Users who act in the very instant in which the engine changes the disk.

use cairn_sim::device::ROOT;
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
