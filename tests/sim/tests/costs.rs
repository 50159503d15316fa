//! The cost of everyday changes in a folder that is in sync, in requests and files read: it grows with what has
//! changed, not with how much there is. The counts are the same on any machine.

use axum::http::Method;
use cairn_engine::Settings;
use cairn_sim::device::path;
use cairn_sim::random::noise;
use cairn_sim::requests::{listen, of_content, take_requests};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};
use std::path::PathBuf;

const FOLDERS: usize = 20;
const FILES: usize = 40;

fn file(folder: usize, file: usize) -> PathBuf {
    path(&format!("top/d{folder}/f{file}"))
}

/// Two devices in sync, with many files below one folder.
async fn in_sync() -> World {
    let mut world = World::new(1, 2).await;
    let top = path("top");
    world.devices[0]
        .disk
        .user(&top, false, |files| {
            files.mkdir(&top)?;
            for folder in 0..FOLDERS {
                files.mkdir(&top.join(format!("d{folder}")))?;
                for number in 0..FILES {
                    let path = file(folder, number);
                    files.write(&path, path.to_string_lossy().as_bytes())?;
                }
            }
            Ok(())
        })
        .expect("the disk takes it");
    world.settle().await.expect("calm");
    world
}

#[test]
fn a_rename_of_the_top_folder_is_one_request_and_reads_no_file() {
    simulate(async {
        let mut world = in_sync().await;
        let sent = listen(&world.devices[0]);
        let received = listen(&world.devices[1]);
        let reads = [0, 1].map(|at| world.devices[at].disk.reads());
        let (from, to) = (path("top"), path("renamed"));
        world.devices[0]
            .disk
            .user(&to, true, |files| files.rename(&from, &to))
            .expect("the disk takes it");
        world.settle().await.expect("calm");
        assert_eq!(take_requests(&sent).len(), 1);
        assert_eq!(take_requests(&received), Vec::<String>::new());
        assert_eq!([0, 1].map(|at| world.devices[at].disk.reads()), reads);
        assert!(tree_of(&world.devices[1]).contains_key("renamed/d7/f7"));
    });
}

#[test]
fn a_restart_without_a_change_sends_nothing_and_reads_no_file() {
    simulate(async {
        let mut world = in_sync().await;
        let device = &mut world.devices[0];
        device.kill(false).await;
        let requests = listen(device);
        let reads = device.disk.reads();
        device.start();
        assert!(device.settle().await);
        assert_eq!(take_requests(&requests), Vec::<String>::new());
        assert_eq!(device.disk.reads(), reads);
    });
}

#[test]
fn single_deletions_travel_together_and_none_is_repeated() {
    simulate(async {
        let mut world = in_sync().await;
        let sent = listen(&world.devices[0]);
        let received = listen(&world.devices[1]);
        let top = path("top");
        world.devices[0]
            .disk
            .user(&top, true, |files| {
                for folder in 0..FOLDERS {
                    // Some stay, so that no folder goes as a whole.
                    for number in 10..FILES {
                        files.remove(&file(folder, number))?;
                    }
                }
                Ok(())
            })
            .expect("they are there");
        world.settle().await.expect("calm");
        let sent = take_requests(&sent);
        // 500 go in one request.
        assert_eq!(
            sent.len(),
            (FOLDERS * (FILES - 10)).div_ceil(500),
            "{sent:?}"
        );
        assert_eq!(take_requests(&received), Vec::<String>::new());
        let left = tree_of(&world.devices[1]);
        assert_eq!(left.len(), 1 + FOLDERS * 11);
    });
}

#[test]
fn a_copy_of_a_large_file_is_neither_sent_nor_fetched() {
    simulate(async {
        let content = noise(1, 3_000_000);
        let mut world = World::new(1, 2).await;
        world.devices[0].write("d/original", &content);
        world.settle().await.expect("calm");
        let sent = listen(&world.devices[0]);
        let received = listen(&world.devices[1]);
        let reads = world.devices[0].disk.reads();
        world.devices[0].write("e/copy", &content);
        world.settle().await.expect("calm");
        assert_eq!(of_content(&sent), ["/api/v1/uploads/batch"]);
        assert_eq!(
            world.devices[0].disk.reads(),
            reads + 1,
            "it is hashed once"
        );
        // The list of the chunks; each chunk is in the original.
        let fetched = of_content(&received);
        assert_eq!(fetched.len(), 1, "{fetched:?}");
        let tree = tree_of(&world.devices[1]);
        assert_eq!(tree["e/copy"].as_deref(), Some(content.as_slice()));

        // The copy lives on, and takes edits, without the original.
        world.devices[0].user("d", |files, path| files.remove(path).map(drop));
        let mut edited = content.clone();
        edited[1_000_000..1_000_016].fill(7);
        world.devices[1].write("e/copy", &edited);
        world.settle().await.expect("calm");
        let tree = tree_of(&world.devices[0]);
        assert_eq!(tree["e/copy"].as_deref(), Some(edited.as_slice()));
    });
}

#[test]
fn an_edit_of_a_large_file_asks_for_no_list_that_is_known() {
    simulate(async {
        let mut content = noise(1, 3_000_000);
        let mut world = World::new(1, 2).await;
        world.devices[0].write("f", &content);
        world.settle().await.expect("calm");
        let devices = [0, 1].map(|at| listen(&world.devices[at]));
        for (sender, receiver) in [(0, 1), (1, 0)] {
            content[1_000_000..1_000_016].fill(7 + sender as u8);
            world.devices[sender].write("f", &content);
            world.settle().await.expect("calm");
            let sent = take_requests(&devices[sender]);
            assert!(
                sent.iter().all(|path| path.contains("/uploads")),
                "{sent:?}"
            );
            // The beginning, the chunk and the list, and the end.
            assert_eq!(sent.len(), 4, "{sent:?}");
            // The record, the list, and the chunk.
            let received = take_requests(&devices[receiver]);
            assert_eq!(received.len(), 3, "{received:?}");
        }
        let tree = tree_of(&world.devices[0]);
        assert_eq!(tree["f"].as_deref(), Some(content.as_slice()));
    });
}

#[test]
fn equal_sizes_are_compared_and_a_new_size_is_read_once() {
    simulate(async {
        let mut world = World::new(1, 1).await;
        world.devices[0].write("a", &noise(1, 600_000));
        world.settle().await.expect("calm");
        let device = &world.devices[0];
        let sent = listen(device);
        for (name, content, read) in [
            ("equal size", noise(2, 600_000), 3),
            ("new size", noise(3, 700_000), 2),
        ] {
            let reads = device.disk.reads();
            device.write(name, &content);
            assert!(device.settle().await);
            assert!(of_content(&sent).len() > 1, "{name} is sent");
            assert_eq!(device.disk.reads() - reads, read, "{name}");
        }
    });
}

#[test]
fn a_copy_that_the_service_fails_to_make_is_sent() {
    simulate(async {
        let content = noise(1, 600_000);
        let mut world = World::new(1, 1).await;
        world.devices[0].write("a", &content);
        world.settle().await.expect("calm");
        let device = &world.devices[0];
        let sent = listen(device);
        // Each try of the one request.
        device.line.fail_next(3, Method::POST);
        device.write("b", &content);
        assert!(device.settle().await);
        let sent = of_content(&sent);
        assert!(
            sent.iter().any(|path| path == "/api/v1/uploads"),
            "{sent:?}"
        );
    });
}

#[test]
fn without_server_copies_everything_is_sent() {
    simulate(async {
        let content = noise(1, 600_000);
        let mut world = World::new(1, 1).await;
        world.devices[0].write("a", &content);
        world.settle().await.expect("calm");
        let device = &world.devices[0];
        device.engine().expect("it runs").tune(Settings {
            server_copies: false,
            ..Settings::default()
        });
        let sent = listen(device);
        device.write("b", &content);
        assert!(device.settle().await);
        assert!(of_content(&sent).len() > 1);
    });
}
