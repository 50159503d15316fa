//! Files and folders that users rename across what one of two devices leaves out. `CAIRN_SIM_SEEDS=A..B` does other
//! runs.

use cairn_sim::device::Device;
use cairn_sim::random::Seeded;
use cairn_sim::seeds::seeds;
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};

/// Names that a file or folder gets; the second device leaves out the last two, at times.
const NAMES: [&str; 4] = ["a", "b", "out", "out2"];
const CONTENT: &[u8] = b"content";

/// Renames one of the things that a device has, as a line for the log.
fn rename(device: &Device, random: &Seeded) -> Option<String> {
    let tree = tree_of(device);
    let (there, free): (Vec<&str>, Vec<&str>) =
        NAMES.iter().partition(|name| tree.contains_key(**name));
    let (from, to) = (random.pick(&there)?, random.pick(&free)?);
    device.user(from, |files, path| {
        files.rename(path, &path.with_file_name(to))
    });
    Some(format!("{} renames {from} to {to}", device.name))
}

/// Lets users rename a file or a folder, while the second one changes what it leaves out.
async fn walk(seed: u64) -> Result<(), String> {
    let random = Seeded::new(seed, 7);
    let mut world = World::new(seed, 2).await;
    let path = ["a", "a/f"][random.below(2)];
    world.devices[0].write(path, CONTENT);
    world.settle().await?;
    let mut events = vec![path.to_owned()];
    for _ in 0..8 {
        let at = random.below(2);
        let event = match random.below(6) {
            0 => {
                let names = [&[][..], &NAMES[2..]][random.below(2)];
                let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
                let event = format!("leaves out {names:?}");
                world.devices[1].leave_out(names);
                Some(event)
            }
            1 => {
                let device = &mut world.devices[at];
                device.kill(false).await;
                let is_back = random.one_in(2);
                if is_back {
                    device.start();
                }
                Some(format!("{} ends, {is_back}", device.name))
            }
            2 => {
                let device = &mut world.devices[at];
                device.start();
                let is_done = device.settle().await;
                Some(format!("{} settles: {is_done}", device.name))
            }
            _ => rename(&world.devices[at], &random),
        };
        events.extend(event);
    }
    let settled = world.settle().await;
    let events = events.join("\n");
    settled.map_err(|error| format!("seed {seed}: {error}\n{events}"))?;
    let is_there = |device: &Device| {
        let tree = tree_of(device);
        tree.values().flatten().any(|bytes| bytes == CONTENT)
    };
    match world.devices.iter().any(is_there) {
        true => Ok(()),
        false => Err(format!("seed {seed}: it is lost\n{events}")),
    }
}

/// Lets each device come to rest, and then again what the others have done.
async fn rest(world: &mut World) {
    for _ in 0..2 {
        for device in &mut world.devices {
            device.start();
            assert!(device.settle().await);
        }
    }
}

#[test]
fn a_new_file_in_place_of_one_that_is_left_out_is_sent_under_another_name() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[1].leave_out(vec!["p/a".to_owned()]);
        world.devices[0].write("p/a", b"there");
        world.devices[0].write("p/g", b"g");
        rest(&mut world).await;
        // It stays left out, and the pattern is not about its new path.
        world.devices[0].user("p", |files, path| {
            files.rename(path, &path.with_file_name("q"))
        });
        rest(&mut world).await;
        world.devices[1].write("q/a", b"mine");
        rest(&mut world).await;
        let tree = tree_of(&world.devices[0]);
        assert_eq!(tree["q/a"].as_deref(), Some(b"there".as_slice()));
        let is_sent = tree.values().flatten().any(|bytes| bytes == b"mine");
        assert!(is_sent, "{:?}", tree.keys());
    });
}

#[test]
fn what_is_renamed_across_what_a_device_leaves_out_is_in_sync_or_left_out() {
    let mut broken = Vec::new();
    for seed in seeds(60) {
        if let Err(error) = simulate(walk(seed)) {
            eprintln!("{error}\n");
            broken.push(seed);
        }
        if broken.len() > 5 {
            break;
        }
    }
    assert!(broken.is_empty(), "{broken:?}");
}
