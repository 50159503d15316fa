//! Users who act in the very instant in which the engine changes the disk.

use cairn_sim::device::ROOT;
use cairn_sim::disk::Files;
use cairn_sim::world::{World, tree_of};
use std::path::Path;

fn simulate(story: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(story);
}

/// Two devices that have the folder `x` with the file `f`.
async fn world() -> World {
    let mut world = World::new(1, 2).await;
    user(&world, 0, "x", |files, path| files.mkdir(path));
    user(&world, 0, "x/f", |files, path| files.write(path, b"f"));
    world.settle().await.expect("calm");
    world
}

fn user(
    world: &World,
    at: usize,
    path: &str,
    deed: impl FnOnce(&mut Files, &Path) -> std::io::Result<()>,
) {
    let path = Path::new(ROOT).join(path);
    let disk = &world.devices[at].disk;
    disk.user(&path, true, |files| deed(files, &path))
        .expect("the disk does it");
}

#[test]
fn a_file_that_is_created_while_its_folder_goes_to_the_trash_stays() {
    simulate(async {
        let mut world = world().await;
        world.devices[1].disk.before_rename(
            ".cairn-trash",
            Box::new(|files| files.write(&Path::new(ROOT).join("x/new"), b"new")),
        );
        user(&world, 0, "x", |files, path| files.take(path).map(drop));
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
        user(&world, 0, "x", |files, path| files.take(path).map(drop));
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            assert_eq!(tree.get("g"), Some(&Some(b"f".to_vec())), "{tree:?}");
        }
    });
}
