//! Executable bits: a device whose disk keeps none (as FAT) must not clear those on the server.

use axum::http::Method;
use cairn_index::FolderSettings;
use cairn_model::{Name, SyncMode};
use cairn_sim::device::{Device, ROOT, path};
use cairn_sim::time::{simulate, until};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(300);

fn is_executable(device: &Device, below: &str) -> Option<bool> {
    let path = path(below);
    device.disk.look(|files| files.get(&path).ok()?.executable)
}

/// Returns two simulated devices and a server. The second device's disk keeps no executable bits; the first device
/// runs, and has synced an executable file.
async fn world() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("run", b"#!");
    world.devices[0].user("run", |files, path| {
        let now = files.tick();
        files.get_mut(path)?.set_executable(true, now);
        Ok(())
    });
    world.devices[1].disk.keep_no_modes();
    world.devices[0].start();
    assert!(world.devices[0].settle().await);
    world
}

#[test]
fn an_upload_only_folder_on_a_disk_without_bits_clears_none() {
    simulate(async {
        let mut world = world().await;
        let sender = &world.devices[1];
        let settings = FolderSettings {
            mode: SyncMode::Upload,
            ..FolderSettings::default()
        };
        sender
            .index()
            .write(|db| {
                let old = db.folders()?.remove(0).id;
                db.remove_folder(old)?;
                db.add_folder(ROOT, "/", &settings)
            })
            .expect("the index takes it");
        sender.write("run", b"#!");
        world.settle().await.expect("they settle");
        assert_eq!(is_executable(&world.devices[0], "run"), Some(true));
    });
}

#[test]
fn a_file_that_was_made_again_on_a_disk_without_bits_keeps_the_bit_on_the_server() {
    simulate(async {
        let mut world = world().await;
        world.settle().await.expect("they settle");
        let device = &world.devices[1];
        device.line.fail_next(usize::MAX, Method::DELETE);
        device.user("run", |files, path| files.remove(path).map(drop));
        let name = Name::new("run").expect("a name");
        let is_known = || {
            let row = device.index().read(|db| {
                let folder = db.folders()?.remove(0).id;
                db.child(folder, None, &name)
            });
            row.expect("the index answers").is_some()
        };
        assert!(until(|| !is_known(), A_WHILE).await, "it is gone");
        device.write("run", b"#!/bin/sh");
        assert!(until(is_known, A_WHILE).await, "it is there");
        device.line.fail_next(0, Method::DELETE);
        world.settle().await.expect("they settle");
        let tree = tree_of(&world.devices[0]);
        assert_eq!(tree["run"].as_deref(), Some(b"#!/bin/sh".as_slice()));
        assert_eq!(is_executable(&world.devices[0], "run"), Some(true));
    });
}
