//! A disk that refuses one call, whichever it is: nothing is overlooked by a device that scans no more than it has to.

use cairn_sim::device::Device;
use cairn_sim::random::Seeded;
use cairn_sim::time::{simulate, until};
use cairn_sim::world::{World, tree_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// More calls to the disk than it takes to find the change.
const CALLS: usize = 200;
/// Long enough for what was noticed to be sent, and too short for another look by itself.
const SOON: Duration = Duration::from_secs(4);
/// Long enough for another look by itself.
const LATER: Duration = Duration::from_secs(20);

/// Has the disk of a device refuse one call of its engine. Returns the number of calls since.
fn refuse(device: &Device, call: usize) -> Arc<AtomicUsize> {
    let calls = Arc::new(AtomicUsize::new(0));
    let (disk, random, count) = (
        device.disk.clone(),
        Seeded::new(call as u64, 0),
        Arc::clone(&calls),
    );
    device.disk.interfere(move || {
        let is_refused = count.fetch_add(1, Ordering::Relaxed) + 1 == call;
        disk.fault_one_in(usize::from(is_refused), &random);
    });
    calls
}

fn uploads(device: &Device) -> u64 {
    let status = device.engine().expect("it runs").status();
    status.counters.uploads
}

/// Changes a file of the first device while its disk refuses a call, and then another one at `beside`, if any. With
/// `off`, the first is changed while the device is off. Returns whether there was such a call.
async fn change(call: usize, beside: Option<&str>, off: bool) -> bool {
    let mut world = World::new(1, 2).await;
    for device in &mut world.devices {
        device.trust_watcher();
    }
    world.devices[0].write("d/e/f", b"before");
    world.settle().await.expect("calm");
    if off {
        world.devices[0].kill(false).await;
    }
    let calls = refuse(&world.devices[0], call);
    world.devices[0].write("d/e/f", b"after");
    world.devices[0].start();
    let before = uploads(&world.devices[0]);
    let case = format!("call {call}, {beside:?}, {off}");
    if let Some(beside) = beside {
        // What the refused call was for is found or not: nobody asks for another look.
        until(|| uploads(&world.devices[0]) > before, SOON).await;
        world.end_faults();
        let before = uploads(&world.devices[0]);
        world.devices[0].write(beside, b"beside");
        let is_sent = until(|| uploads(&world.devices[0]) > before, SOON).await;
        assert!(is_sent, "{case}");
    } else {
        let is_sent = until(|| uploads(&world.devices[0]) > before, LATER).await;
        assert!(is_sent, "{case}");
    }
    let settled = world.settle().await;
    assert_eq!(settled, Ok(()), "{case}");
    let tree = tree_of(&world.devices[1]);
    let arrived = tree.get("d/e/f").and_then(Option::as_deref);
    assert_eq!(arrived, Some(&b"after"[..]), "{case}");
    calls.load(Ordering::Relaxed) >= call
}

#[test]
fn a_change_is_found_whichever_call_the_disk_refuses() {
    for off in [false, true] {
        for beside in [None, Some("g"), Some("d/g"), Some("d/e/g")] {
            let calls = 1..=CALLS;
            let reached = calls.take_while(|call| simulate(change(*call, beside, off)));
            let reached = reached.count();
            assert!((5..CALLS).contains(&reached), "{reached} calls");
        }
    }
}
