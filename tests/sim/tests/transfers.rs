//! Transfers that don't hold up other work, and files that change all the time.

use cairn_engine::WaitResult;
use cairn_sim::device::path;
use cairn_sim::random::noise;
use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

fn has(world: &World, at: usize, name: &str) -> bool {
    tree_of(&world.devices[at]).contains_key(name)
}

#[test]
fn big_uploads_delay_a_small_file_in_neither_direction() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.settle().await.expect("calm");
        let first = world.devices[0].engine().expect("it runs");
        first.transfer().limits().set_up(Some(2_000_000));
        let videos = ["1.mp4", "2.mp4", "3.mp4"];
        for (number, video) in videos.iter().enumerate() {
            world.devices[0].write(video, &noise(number as u32, 12_000_000));
        }
        let limit = Instant::now() + Duration::from_secs(60);
        while first.status().transfers.len() < videos.len() {
            assert!(Instant::now() < limit, "{:?}", first.status());
            pass(Duration::from_millis(100)).await;
        }
        world.devices[0].write("contract.txt", &[1; 1000]);
        world.devices[1].write("answer.txt", &[2; 1000]);
        while !(has(&world, 1, "contract.txt") && has(&world, 0, "answer.txt")) {
            assert!(Instant::now() < limit, "{:?}", first.status());
            for device in &world.devices {
                device.engine().expect("it runs").rescan(None);
            }
            pass(Duration::from_millis(500)).await;
        }
        // Both have overtaken all three.
        for video in videos {
            assert!(!has(&world, 1, video), "{video} came first");
        }
        assert_eq!(first.status().counters.uploads, 1);
        first.transfer().limits().set_up(None);
        world.settle().await.expect("calm");
        assert!(has(&world, 1, "3.mp4"));
    });
}

#[test]
fn a_file_that_is_never_still_is_sent_from_time_to_time() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.settle().await.expect("calm");
        let mut number = 0;
        while !has(&world, 1, "disk.img") {
            number += 1;
            let status = world.devices[0].engine().expect("it runs").status();
            assert!(number < 20_000, "it is never sent: {status:?}");
            world.devices[0].write("disk.img", &noise(number, 300_000));
            if number % 500 == 0 {
                world.devices[1].engine().expect("it runs").rescan(None);
            }
            pass(Duration::from_millis(3)).await;
        }
        world.settle().await.expect("calm");
        let last = Some(noise(number, 300_000));
        assert_eq!(tree_of(&world.devices[1]).get("disk.img"), Some(&last));
    });
}

#[test]
fn a_pause_ends_a_list_of_steps_that_is_being_carried_out() {
    const FOLDERS: usize = 2_000;
    simulate(async {
        let mut world = World::new(1, 1).await;
        world.settle().await.expect("calm");
        for number in 0..FOLDERS {
            let dir = path(&format!("d{number}"));
            world.devices[0]
                .disk
                .user(&dir, false, |files| files.mkdir(&dir))
                .expect("the disk takes it");
        }
        let device = &world.devices[0];
        let engine = device.engine().expect("it runs");
        let begun = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&begun);
        device.line.lie(Some(Box::new(move |path, status, body| {
            seen.fetch_or(path.ends_with("/nodes/batch"), Ordering::Relaxed);
            (status, body)
        })));
        engine.rescan(None);
        let limit = Instant::now() + Duration::from_secs(60);
        while !begun.load(Ordering::Relaxed) {
            assert!(Instant::now() < limit, "no folder is created");
            pass(Duration::from_millis(1)).await;
        }
        engine.pause(None, None).expect("the index takes it");
        let waiting = engine.wait_until_idle().await.expect("it runs");
        assert_eq!(waiting, WaitResult::Paused);
        let made = node_count(&world).await;
        assert!((1..FOLDERS).contains(&made), "{made} were made");
        engine.resume(None).expect("the index takes it");
        assert!(device.settle().await);
        assert_eq!(self::node_count(&world).await, FOLDERS);
    });
}

/// Returns the number of nodes that the service has.
async fn node_count(world: &World) -> usize {
    let mut count = 0;
    let mut after = None;
    loop {
        let page = world.api.snapshot(after.as_deref()).await.expect("a page");
        count += page.nodes.len();
        after = page.next;
        if after.is_none() {
            return count;
        }
    }
}
