//! The status that a device reports: something that waits for a person is neither "syncing" nor "up to date".

use cairn_engine::{Status, WaitResult};
use cairn_model::{ProblemCode, SyncState};
use cairn_sim::device::ROOT;
use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn path(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

fn write(world: &World, device: usize, name: &str, content: &[u8]) {
    let path = path(name);
    world.devices[device]
        .disk
        .user(&path, true, |files| files.write(&path, content))
        .expect("the disk takes it");
}

fn status(world: &World, device: usize) -> Status {
    world.devices[device].engine().expect("it runs").status()
}

/// Waits as `cairn status --wait` does. Simulated time passes quickly.
async fn wait(world: &World, device: usize) -> (WaitResult, Duration) {
    let began = tokio::time::Instant::now();
    let engine = world.devices[device].engine().expect("it runs");
    let result = engine.wait_until_idle().await.expect("it runs on");
    (result, began.elapsed())
}

#[test]
fn a_file_that_can_not_be_read_needs_attention_and_nobody_waits_for_it() {
    simulate(async {
        let mut world = World::new(3, 2).await;
        world.settle().await.expect("calm");
        world.devices[0].disk.refuse(&path("secret"), true);
        write(&world, 0, "secret", b"mode 600");
        write(&world, 0, "other", b"readable");

        let (result, took) = wait(&world, 0).await;
        assert_eq!(result, WaitResult::NeedsPerson);
        assert!(took < Duration::from_secs(10), "{took:?}");
        let blocked = status(&world, 0);
        assert_eq!(blocked.state, SyncState::Attention, "{blocked:#?}");
        assert_eq!(blocked.folders[0].state, SyncState::Attention);
        assert_eq!(blocked.pending, 1);
        assert_eq!(blocked.folders[0].problems[0].code, ProblemCode::Unreadable);
        // It stays so, also in the moments in which it is tried again.
        for _ in 0..2_000 {
            pass(Duration::from_millis(50)).await;
            assert_eq!(status(&world, 0).state, SyncState::Attention);
        }

        world.devices[0].disk.refuse(&path("secret"), false);
        world.settle().await.expect("calm");
        assert_eq!(status(&world, 0).state, SyncState::Idle);
        assert_eq!(tree_of(&world.devices[1]).len(), 2);
    });
}

#[test]
fn a_full_disk_needs_attention_with_files_bytes_and_room() {
    const SIZE: usize = 3 << 20;
    simulate(async {
        let mut world = World::new(4, 2).await;
        world.settle().await.expect("calm");
        world.devices[1].disk.set_room(Some(1_000));
        for name in ["a", "b", "c"] {
            write(&world, 0, name, &vec![name.as_bytes()[0]; SIZE]);
        }
        assert_eq!(wait(&world, 0).await.0, WaitResult::InSync);
        assert_eq!(wait(&world, 1).await.0, WaitResult::NeedsPerson);
        let full = status(&world, 1);
        assert_eq!(full.state, SyncState::Attention, "{full:#?}");
        let folder = &full.folders[0];
        let group = &folder.problems[0];
        assert_eq!(
            (group.code, group.count, group.bytes, folder.free),
            (ProblemCode::DiskFull, 3, 3 * SIZE as u64, Some(1_000))
        );
        let message = &group.examples[0].message;
        assert!(
            !message.contains(".cairn-tmp") && !message.contains("os error"),
            "{message}"
        );

        world.devices[1].disk.set_room(None);
        world.settle().await.expect("calm");
        assert_eq!(status(&world, 1).state, SyncState::Idle);
    });
}

#[test]
fn the_progress_of_all_transfers_never_falls() {
    simulate(async {
        let mut world = World::new(5, 2).await;
        world.settle().await.expect("calm");
        for number in 0..200u32 {
            let name = format!("f{number}");
            let content = vec![number as u8; 20_000 * (number as usize % 7 + 1)];
            write(&world, 0, &name, &content);
        }
        let (mut last, mut seen) = (0.0, 0);
        // A request takes some milliseconds of simulated time.
        for _ in 0..600_000 {
            pass(Duration::from_millis(1)).await;
            let now = status(&world, 0);
            if let Some(progress) = now.progress {
                assert!(progress.fraction >= last, "{progress:?} after {last}");
                assert!(progress.files_done <= progress.files_total, "{progress:?}");
                assert!(progress.bytes_done <= progress.bytes_total, "{progress:?}");
                last = progress.fraction;
                seen += 1;
            }
            if now.counters.uploads == 200 {
                break;
            }
        }
        assert_eq!(status(&world, 0).counters.uploads, 200);
        assert!(seen > 0, "no progress was shown");
        world.settle().await.expect("calm");
        assert_eq!(status(&world, 0).progress, None);
    });
}
