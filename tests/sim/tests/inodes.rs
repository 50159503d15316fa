//! File systems that give the inode of a removed file to the next new one, with and without birth
//! times.

use cairn_model::NodeId;
use cairn_sim::device::{Device, path};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};
use std::path::Path;

/// Two devices in sync with one file `x`; the first one's disk keeps birth times or does not.
async fn with_x(births: bool) -> World {
    let mut world = World::new(1, 2).await;
    if !births {
        world.devices[0].disk.keep_no_births();
    }
    world.devices[0].write("x", b"x");
    world.settle().await.expect("calm");
    world
}

fn inode(device: &Device, below: &str) -> u64 {
    let at = path(below);
    device
        .disk
        .look(|files| files.get(&at).map(|node| node.inode))
        .expect("it is there")
}

/// Returns the id of the one node of this name.
async fn node_id(world: &World, name: &str) -> NodeId {
    let page = world.api.snapshot(None).await.expect("a page");
    let mut nodes = page.nodes.iter();
    nodes
        .find(|node| node.name == *name)
        .expect("it is there")
        .id
}

#[test]
fn s080_a_folder_that_got_a_deleted_files_inode_is_a_new_node() {
    for births in [true, false] {
        simulate(async move {
            let mut world = with_x(births).await;
            let of_x = node_id(&world, "x").await;
            let before = inode(&world.devices[0], "x");
            // One step of the user: the engine sees both at once.
            world.devices[0].user("y", |files, y| {
                files.remove(&path("x"))?;
                files.mkdir(y)?;
                files.write(&y.join("child"), b"c")
            });
            assert_eq!(inode(&world.devices[0], "y"), before, "births: {births}");
            world.settle().await.expect("calm");
            for device in &world.devices {
                let tree = tree_of(device);
                assert_eq!(tree.keys().collect::<Vec<_>>(), ["y", "y/child"]);
            }
            assert_ne!(of_x, node_id(&world, "y").await, "births: {births}");
        });
    }
}

#[test]
fn a_new_file_with_the_inode_of_a_removed_one_replaces_nothing() {
    for births in [true, false] {
        simulate(async move {
            let mut world = with_x(births).await;
            let before = inode(&world.devices[0], "x");
            world.devices[0].user("y", |files, y| {
                files.remove(&path("x"))?;
                files.write(y, b"another content")
            });
            assert_eq!(inode(&world.devices[0], "y"), before, "births: {births}");
            world.settle().await.expect("calm");
            for device in &world.devices {
                let tree = tree_of(device);
                assert_eq!(tree.len(), 1, "{tree:?}");
                assert_eq!(tree["y"].as_deref(), Some(&b"another content"[..]));
            }
        });
    }
}

#[test]
fn a_new_file_in_another_folder_with_the_inode_of_a_removed_one_arrives() {
    for births in [true, false] {
        simulate(async move {
            let mut world = with_x(births).await;
            world.devices[0].write("keep/z", b"z");
            world.settle().await.expect("calm");
            // `x` goes, and a new file with its inode takes the name of a file that moves away.
            world.devices[0].user("keep/z", |files, z| {
                files.remove(&path("x"))?;
                files.rename(z, Path::new("/home/keep/moved"))?;
                files.write(z, b"new")
            });
            world.settle().await.expect("calm");
            for device in &world.devices {
                let tree = tree_of(device);
                let names: Vec<_> = tree.keys().collect();
                assert_eq!(names, ["keep", "keep/moved", "keep/z"], "births: {births}");
                assert_eq!(tree["keep/z"].as_deref(), Some(&b"new"[..]));
                assert_eq!(tree["keep/moved"].as_deref(), Some(&b"z"[..]));
            }
        });
    }
}
