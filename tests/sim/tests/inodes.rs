//! File systems that give the inode of a removed file to the next new one, with and without birth
//! times.

use cairn_model::NodeId;
use cairn_sim::device::{Device, ROOT, path};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};
use std::path::Path;

/// Two devices; the first one's disk keeps birth times or does not.
async fn world(births: bool) -> World {
    let world = World::new(1, 2).await;
    if !births {
        world.devices[0].disk.keep_no_births();
    }
    world
}

/// Two devices in sync with one file `x`.
async fn with_x(births: bool) -> World {
    let mut world = world(births).await;
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
    let mut after = None;
    loop {
        let page = world.api.snapshot(after.as_deref()).await.expect("a page");
        if let Some(node) = page.nodes.iter().find(|node| node.name == *name) {
            return node.id;
        }
        after = Some(page.next.expect("it is there"));
    }
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
            let of_x = node_id(&world, "x").await;
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
            // Its history, its comments and its links are its own.
            assert_ne!(of_x, node_id(&world, "y").await, "births: {births}");
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

/// Mounts the first device's disk again, which numbers two of its files the other way round, as FAT and
/// many network file systems do, while the engine is off.
async fn exchange_inodes(world: &mut World, one: &str, other: &str) {
    world.devices[0].kill(false).await;
    let numbers = [one, other].map(|below| inode(&world.devices[0], below));
    world.devices[0]
        .disk
        .user(Path::new(ROOT), false, |files| {
            files.get_mut(&path(one))?.inode = numbers[1];
            files.get_mut(&path(other))?.inode = numbers[0];
            Ok(())
        })
        .expect("they are there");
    world.devices[0].start();
}

#[test]
fn files_of_one_size_and_time_keep_their_contents_when_their_numbers_change() {
    simulate(async {
        let mut world = world(false).await;
        world.devices[0].user("", |files, root| {
            for name in ["a", "b"] {
                files.write(&root.join(name), name.as_bytes())?;
                let node = files.get_mut(&root.join(name))?;
                (node.mtime, node.ctime) = (1_600_000_000_000_000_000, 1_600_000_000_000_000_000);
            }
            Ok(())
        });
        world.settle().await.expect("calm");
        let ids = [node_id(&world, "a").await, node_id(&world, "b").await];
        exchange_inodes(&mut world, "a", "b").await;
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            assert_eq!(tree["a"].as_deref(), Some(&b"a"[..]), "{}", device.name);
            assert_eq!(tree["b"].as_deref(), Some(&b"b"[..]), "{}", device.name);
        }
        assert_eq!(
            ids,
            [node_id(&world, "a").await, node_id(&world, "b").await]
        );
        assert_eq!(world.devices[0].transfers(), 0, "nothing has changed");
    });
}

#[test]
fn folders_stay_what_they_are_when_their_numbers_change() {
    simulate(async {
        let mut world = world(false).await;
        for name in ["one/a", "one/b", "two/c", "two/d"] {
            world.devices[0].write(name, name.as_bytes());
        }
        world.settle().await.expect("calm");
        let names = ["one", "two", "a", "d"];
        let mut before = Vec::new();
        for name in names {
            before.push(node_id(&world, name).await);
        }
        let tree = tree_of(&world.devices[1]);
        exchange_inodes(&mut world, "one", "two").await;
        world.settle().await.expect("calm");
        assert_eq!(tree_of(&world.devices[1]), tree);
        for (name, before) in names.into_iter().zip(before) {
            assert_eq!(node_id(&world, name).await, before, "{name}");
        }
        assert_eq!(world.devices[0].transfers(), 0, "nothing has changed");
    });
}

#[test]
fn a_renamed_folder_without_birth_times_is_not_sent_again() {
    simulate(async {
        let mut world = world(false).await;
        for name in ["one/a", "one/b"] {
            world.devices[0].write(name, name.as_bytes());
        }
        world.settle().await.expect("calm");
        let before = node_id(&world, "one").await;
        let sent = world.devices[0].transfers();
        world.devices[0].user("", |files, root| {
            files.rename(&root.join("one"), &root.join("renamed"))
        });
        world.settle().await.expect("calm");
        assert_eq!(node_id(&world, "renamed").await, before);
        assert_eq!(world.devices[0].transfers(), sent);
    });
}

#[test]
fn another_disk_with_the_numbers_of_the_first_deletes_and_sends_nothing() {
    for births in [true, false] {
        simulate(async move {
            let mut world = world(births).await;
            let root = Path::new(ROOT);
            world.devices[0].user("", |files, root| {
                // The root of a disk of its own.
                let root = files.get_mut(root)?;
                root.put_on(7, 7);
                root.birth = root.birth.filter(|_| births);
                Ok(())
            });
            for name in ["a", "b", "c", "d"] {
                world.devices[0].write(name, name.as_bytes());
            }
            world.settle().await.expect("calm");
            world.devices[0].kill(false).await;
            world.devices[0]
                .disk
                .user(root, false, |files| {
                    let number = files.get(root)?.inode;
                    files.take(root)?;
                    files.mkdir(root)?;
                    files.get_mut(root)?.inode = number;
                    // An older copy of one, and something else.
                    files.write(&root.join("a"), b"older")?;
                    files.write(&root.join("other"), b"other")?;
                    files.get_mut(root)?.put_on(7, 7);
                    Ok(())
                })
                .expect("it is there");
            world.devices[0].start();
            for _ in 0..3 {
                for device in &world.devices {
                    device.settle().await;
                }
            }
            let elsewhere = tree_of(&world.devices[1]);
            let names: Vec<_> = elsewhere.keys().collect();
            assert_eq!(names, ["a", "b", "c", "d"], "births: {births}");
            assert_eq!(elsewhere["a"].as_deref(), Some(&b"a"[..]));
        });
    }
}

#[test]
fn a_root_without_birth_times_goes_on_after_its_numbers_have_changed() {
    simulate(async {
        let mut world = world(false).await;
        world.devices[0].user("", |files, root| {
            files.get_mut(root)?.birth = None;
            files.write(&root.join("x"), b"x")
        });
        world.settle().await.expect("calm");
        world.devices[0].kill(false).await;
        world.devices[0].user("", |files, root| {
            files.get_mut(root)?.inode += 1_000_000;
            Ok(())
        });
        world.devices[0].start();
        world.devices[0].write("later", b"later");
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            assert_eq!(tree.keys().collect::<Vec<_>>(), ["later", "x"]);
        }
    });
}
