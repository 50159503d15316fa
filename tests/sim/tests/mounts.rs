//! File systems that are mounted and unmounted within a synced folder, and get other device numbers.

use cairn_engine::EngineError;
use cairn_model::RelPath;
use cairn_sim::device::{ROOT, path};
use cairn_sim::disk::{Files, Node};
use cairn_sim::time::{simulate, until};
use cairn_sim::world::{World, tree_of};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
        world.devices[0].write("doc", b"doc");
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
        world.devices[1].write("photos/new", b"new");
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
        world.devices[0].write("a", b"a");
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
        world.devices[0].write("b", b"b");
        world.settle().await.expect("calm");
        assert!(tree_of(&world.devices[1]).contains_key("b"));
        assert_eq!(world.devices[0].transfers(), 1, "only what is new");
    });
}

/// Two devices in sync, the first of which has a file system mounted on `photos`, with these files in it.
async fn with_mounted(files: &[&str]) -> World {
    let mut world = World::new(1, 2).await;
    let photos = path("photos");
    world.devices[0]
        .disk
        .user(&photos, true, |disk| {
            disk.mkdir(&photos)?;
            for file in files {
                write_below(disk, &photos.join(file))?;
            }
            disk.get_mut(&photos)?.put_on(7, 7);
            Ok(())
        })
        .expect("the disk takes it");
    world.devices[0].write("doc", b"doc");
    world.settle().await.expect("calm");
    world
}

/// Writes a file with its own name as content, and makes the directory above it.
fn write_below(disk: &mut Files, path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent()
        && disk.get(parent).is_err()
    {
        disk.mkdir(parent)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    disk.write(path, name.as_bytes())
}

#[test]
fn nothing_is_put_below_a_disk_that_was_unmounted_unseen() {
    simulate(async {
        let mut world = with_mounted(&["p"]).await;
        let (photos, elsewhere) = (path("photos"), Path::new("/unmounted"));
        let device = &world.devices[0];
        let unmount = |files: &mut Files| {
            let disk = files.take(&photos)?;
            files.insert(elsewhere, disk)?;
            files.mkdir(&photos)
        };
        device
            .disk
            .user(&photos, false, unmount)
            .expect("it is there");
        world.devices[1].write("photos/new", b"new");
        world.devices[1].user("photos/folder", |files, path| files.mkdir(path));
        world.devices[1].write("moved", b"moved");
        assert!(world.devices[1].settle().await);
        // Not `settle`: it looks at the disk first.
        let is_below = || {
            tree_of(device)
                .keys()
                .any(|path| path.starts_with("photos/"))
        };
        assert!(!until(is_below, Duration::from_secs(300)).await);

        let mount = |files: &mut Files| {
            files.remove(&photos)?;
            let disk = files.take(elsewhere)?;
            files.insert(&photos, disk)
        };
        device
            .disk
            .user(&photos, false, mount)
            .expect("it is there");
        scan_often(&world).await;
        device.engine().expect("it runs").rescan(None);
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            for file in ["photos/p", "photos/new", "photos/folder"] {
                assert!(
                    tree.contains_key(file),
                    "{} lacks {file}: {tree:?}",
                    device.name
                );
            }
        }
    });
}

#[test]
fn what_came_while_a_disk_was_unmounted_arrives_when_it_is_back() {
    simulate(async {
        let world = with_mounted(&["p", "q"]).await;
        let disk = exchange(&world, None);
        world.devices[1].write("photos/p", b"edited");
        world.devices[1].write("photos/new", b"new");
        world.devices[1].user("photos/q", |files, q| files.remove(q).map(drop));
        assert!(world.devices[1].settle().await);
        let device = &world.devices[0];
        let is_put_there = || tree_of(device).contains_key("photos/new");
        assert!(!until(is_put_there, Duration::from_secs(60)).await);
        exchange(&world, Some(disk));
        // Not `settle`: it looks at everything.
        let has_come = || {
            let tree = tree_of(device);
            is_put_there()
                && tree["photos/p"].as_deref() == Some(&b"edited"[..])
                && !tree.contains_key("photos/q")
        };
        assert!(until(has_come, Duration::from_secs(60)).await);
    });
}

/// Another disk with these files, to be mounted in place of `photos`.
fn other_disk(files: &[&str]) -> Node {
    let mut disk = Files::default();
    // So that its files have other identities.
    for _ in 0..1000 {
        disk.tick();
    }
    let top = Path::new("/other");
    disk.mkdir(top).expect("the disk takes it");
    for file in files {
        write_below(&mut disk, &top.join(file)).expect("the disk takes it");
    }
    let mut node = disk.take(top).expect("it is there");
    node.put_on(8, 8);
    node
}

/// Lets every device scan again and again; whatever was to be deleted is deleted then.
async fn scan_often(world: &World) {
    for _ in 0..3 {
        for device in &world.devices {
            device.settle().await;
        }
    }
}

#[test]
fn another_disk_with_an_equal_name_at_a_mount_point_deletes_nothing() {
    simulate(async {
        let world = with_mounted(&["DCIM/1", "DCIM/2", "album/3"]).await;
        exchange(&world, Some(other_disk(&["DCIM/7", "DCIM/8"])));
        scan_often(&world).await;
        let elsewhere = tree_of(&world.devices[1]);
        for file in ["photos/DCIM/1", "photos/DCIM/2", "photos/album/3"] {
            assert!(elsewhere.contains_key(file), "{file}: {elsewhere:?}");
        }
        assert!(!elsewhere.contains_key("photos/DCIM/7"), "{elsewhere:?}");
        let status = world.devices[0].engine().expect("it runs").status();
        let errors = &status.folders[0].errors;
        assert_eq!(errors[0].path, "photos", "{errors:?}");
    });
}

#[test]
fn the_same_disk_at_a_mount_point_goes_on_under_another_number() {
    simulate(async {
        let mut world = with_mounted(&["a", "b", "c"]).await;
        let mut disk = exchange(&world, None);
        disk.put_on(9, 9);
        exchange(&world, Some(disk));
        world.devices[0].write("photos/d", b"d");
        world.settle().await.expect("calm");
        let elsewhere = tree_of(&world.devices[1]);
        assert_eq!(elsewhere.get("photos/d"), Some(&Some(b"d".to_vec())));
        assert!(elsewhere.contains_key("photos/a"), "{elsewhere:?}");
    });
}

#[test]
fn another_disk_as_the_root_of_a_folder_deletes_nothing() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        for name in ["a", "b", "c", "d"] {
            world.devices[0].write(name, name.as_bytes());
        }
        world.settle().await.expect("calm");
        let root = Path::new(ROOT);
        world.devices[0].kill(false).await;
        world.devices[0]
            .disk
            .user(root, false, |files| {
                // A copy of which one file happens to have the same identity.
                for name in ["b", "c", "d"] {
                    files.remove(&root.join(name))?;
                }
                files.write(&root.join("other"), b"other")?;
                files.get_mut(root)?.put_on(2, 0);
                Ok(())
            })
            .expect("it is there");
        world.devices[0].start();
        scan_often(&world).await;
        let elsewhere = tree_of(&world.devices[1]);
        assert_eq!(
            elsewhere.keys().collect::<Vec<_>>(),
            ["a", "b", "c", "d"],
            "nothing is deleted, and nothing comes from a disk that is another one"
        );
    });
}

/// Lets the first device go on with what lies at a path of its folder now.
async fn accept(world: &World, text: &str) -> Result<(), EngineError> {
    let engine = world.devices[0].engine().expect("it runs");
    let folder = engine.folders().expect("the index answers")[0].id;
    let path = RelPath::parse(text).expect("a path");
    engine.accept_disk(folder, path).await
}

#[test]
fn a_new_disk_that_was_accepted_gets_the_files_of_the_old_one_and_keeps_its_own() {
    simulate(async {
        let mut world = with_mounted(&["DCIM/1", "a"]).await;
        assert!(accept(&world, "photos").await.is_err(), "nothing is held");
        exchange(&world, Some(other_disk(&["DCIM/7"])));
        scan_often(&world).await;
        accept(&world, "photos").await.expect("it is held");
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            for file in ["doc", "photos/DCIM/1", "photos/a", "photos/DCIM/7"] {
                assert!(tree.contains_key(file), "{file}: {tree:?}");
            }
        }
        let status = world.devices[0].engine().expect("it runs").status();
        assert_eq!(status.folders[0].errors, []);
    });
}

#[test]
fn a_mount_that_was_given_up_becomes_a_directory_with_its_files() {
    simulate(async {
        let mut world = with_mounted(&["a", "b"]).await;
        exchange(&world, None);
        scan_often(&world).await;
        accept(&world, "photos").await.expect("it is held");
        world.settle().await.expect("calm");
        let tree = tree_of(&world.devices[0]);
        assert_eq!(tree.get("photos/a"), Some(&Some(b"a".to_vec())));
        // From now on a deletion is one.
        let file = path("photos/a");
        let disk = &world.devices[0].disk;
        disk.user(&file, true, |files| files.remove(&file).map(drop))
            .expect("it is there");
        world.settle().await.expect("calm");
        let elsewhere = tree_of(&world.devices[1]);
        assert!(!elsewhere.contains_key("photos/a"), "{elsewhere:?}");
        assert!(elsewhere.contains_key("photos/b"), "{elsewhere:?}");
    });
}

#[test]
fn a_folder_goes_on_with_another_disk_that_was_accepted() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        for name in ["a", "b", "c"] {
            world.devices[0].write(name, name.as_bytes());
        }
        world.settle().await.expect("calm");
        assert!(accept(&world, "").await.is_err(), "nothing is held");
        let root = Path::new(ROOT);
        world.devices[0]
            .disk
            .user(root, false, |files| {
                files.take(root)?;
                files.mkdir(root)?;
                files.write(&root.join("new"), b"new")?;
                files.get_mut(root)?.put_on(2, 0);
                Ok(())
            })
            .expect("the disk takes it");
        scan_often(&world).await;
        accept(&world, "").await.expect("it is held");
        world.settle().await.expect("calm");
        let elsewhere = tree_of(&world.devices[1]);
        assert_eq!(elsewhere.keys().collect::<Vec<_>>(), ["a", "b", "c", "new"]);
    });
}

#[test]
fn what_was_sent_from_a_disk_that_was_given_up_is_not_deleted() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("old", b"old");
        world.settle().await.expect("calm");
        // It arrives, but the reply is lost, and then the service is out of reach.
        let lost = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&lost);
        world.devices[0]
            .line
            .lie(Some(Box::new(move |path, status, body| {
                if path.contains("/uploads") {
                    flag.store(true, Ordering::Relaxed);
                }
                if flag.load(Ordering::Relaxed) {
                    return (
                        cairn_api::StatusCode::SERVICE_UNAVAILABLE,
                        bytes::Bytes::new(),
                    );
                }
                (status, body)
            })));
        world.devices[0].write("late", b"late");
        let is_lost = || lost.load(Ordering::Relaxed);
        assert!(until(is_lost, Duration::from_secs(60)).await);
        let root = Path::new(ROOT);
        world.devices[0]
            .disk
            .user(root, false, |files| {
                files.take(root)?;
                files.mkdir(root)?;
                files.get_mut(root)?.put_on(2, 0);
                Ok(())
            })
            .expect("the disk takes it");
        accept(&world, "").await.expect("it is held");
        world.devices[0].line.lie(None);
        world.settle().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            assert_eq!(tree.keys().collect::<Vec<_>>(), ["late", "old"]);
        }
    });
}
