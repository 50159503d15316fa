//! One random run of the simulator: users work on all devices, connections fail, power goes; in the end all devices
//! must hold the same and nothing may be lost.

use crate::device::{Device, path};
use crate::disk::Node;
use crate::oracle::{Oracle, label};
use crate::random::Seeded;
use crate::world::{World, tree_of};
use crate::{actions, keyless};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// The parameters of a random run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    pub devices: usize,
    /// Events of the run: an action of a user, a pause, a fault, a crash.
    pub steps: usize,
    /// Requests fail now and then.
    pub faults: bool,
    /// Devices are killed, some together with their power.
    pub crashes: bool,
    /// The user works on the first device alone.
    pub one_editor: bool,
    /// Somebody without keys works on the service too, as on its pages.
    pub keyless: bool,
}

/// The result of a run: enough to compare two runs byte for byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub tree: BTreeMap<String, Option<Vec<u8>>>,
    /// The log of the run: one line for each event.
    pub events: Vec<String>,
}

/// Does one random run, which follows from its seed alone.
///
/// # Errors
/// The property that does not hold, with the events that led there.
pub async fn run_seed(seed: u64, options: RunOptions) -> Result<Outcome, String> {
    let mut world = World::new(seed, options.devices).await;
    let mut oracle = Oracle::default();
    let mut events = Vec::new();
    let disks = Seeded::new(seed, 3);
    for device in &mut world.devices {
        if disks.one_in(4) {
            device.disk.keep_no_births();
        }
        if disks.one_in(4) {
            device.disk.keep_no_modes();
        }
        device.start();
    }
    for _ in 0..options.steps {
        let editor = options.one_editor.then(|| Entries::of(&world.devices[0]));
        let did_work = step(&mut world, options, &mut oracle, &mut events).await;
        if let Some(editor) = editor.filter(|_| !did_work) {
            editor
                .check_untouched(&world.devices[0])
                .map_err(|failure| format!("seed {seed}: {failure}\n{}", events.join("\n")))?;
        }
    }
    finish(&mut world, &oracle, options)
        .await
        .map_err(|failure| format!("seed {seed}: {failure}\n{}", events.join("\n")))?;
    Ok(Outcome {
        tree: tree_of(&world.devices[0]),
        events,
    })
}

/// Lets one thing happen. Returns whether somebody has worked on files.
async fn step(
    world: &mut World,
    options: RunOptions,
    oracle: &mut Oracle,
    events: &mut Vec<String>,
) -> bool {
    let random = world.random.clone();
    let at = if options.one_editor {
        0
    } else {
        random.below(world.devices.len())
    };
    match random.below(12) {
        0..=7 => {
            if options.keyless && random.one_in(6) {
                events.extend(keyless::work(world, oracle).await);
            } else {
                events.extend(actions::work(world, at, oracle));
            }
            return true;
        }
        8 => {
            let pause = [1, 50, 400, 3_000, 70_000][random.below(5)];
            events.push(format!("{pause} ms pass"));
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        9 => {
            let device = &world.devices[random.below(options.devices)];
            if let Some(engine) = device.engine() {
                if random.one_in(3) {
                    events.push(format!("{} pauses", device.name));
                    engine.pause(None, None).expect("the index takes it");
                } else {
                    events.push(format!("{} looks", device.name));
                    engine.resume(None).expect("the index takes it");
                    engine.rescan(None);
                }
            }
        }
        10 if options.faults => {
            let n = [0, 3, 10][random.below(3)];
            events.push(format!("{}: one fault in {n}", world.devices[at].name));
            world.devices[at].line.fault_one_in(n);
        }
        11 if options.crashes => {
            let power = random.one_in(2);
            let device = &mut world.devices[at];
            events.push(format!(
                "{} is killed{}",
                device.name,
                if power { ", power gone" } else { "" }
            ));
            device.kill(power).await;
            device.start();
        }
        _ => {
            let device = &world.devices[at];
            events.push(format!("{} settles", device.name));
            drop(tokio::time::timeout(Duration::from_secs(20), device.settle()).await);
        }
    }
    false
}

async fn finish(world: &mut World, oracle: &Oracle, options: RunOptions) -> Result<(), String> {
    for device in &world.devices {
        if let Some(engine) = device.engine() {
            engine.resume(None).expect("the index takes it");
        }
    }
    let editor = options.one_editor.then(|| Entries::of(&world.devices[0]));
    world.settle().await?;
    if let Some(editor) = editor {
        editor.check_untouched(&world.devices[0])?;
    }
    for device in &world.devices {
        let tree = tree_of(device);
        let missing = oracle.missing_contents(&tree);
        if !missing.is_empty() {
            return Err(format!(
                "{} lacks {missing:?}; it has {tree:#?}",
                device.name
            ));
        }
        if options.one_editor && tree.keys().any(|path| path.contains("(conflicted copy ")) {
            return Err(format!(
                "one editor alone made a conflict copy: {:?}",
                tree.keys()
            ));
        }
        if tree.keys().any(|path| path.contains(".cairn-")) {
            return Err(format!(
                "{} has a leftover of ours: {:?}",
                device.name,
                tree.keys()
            ));
        }
    }
    let before: Vec<u64> = world.devices.iter().map(|d| d.transfers()).collect();
    for _ in 0..2 {
        world.settle().await?;
    }
    // After further cycles, because `settle` ends when the trees are equal.
    check_executable_bits(world, &options)?;
    let after: Vec<u64> = world.devices.iter().map(|d| d.transfers()).collect();
    if before == after {
        Ok(())
    } else {
        Err(format!(
            "two more cycles transferred: {before:?} -> {after:?}"
        ))
    }
}

/// Checks what [`World::settle`] does not compare. A bit that is set for a file that somebody without keys has changed
/// goes to other devices with the next edit of its content only: nobody vouches for it before.
fn check_executable_bits(world: &World, options: &RunOptions) -> Result<(), String> {
    if options.keyless {
        return Ok(());
    }
    for (n, one) in world.devices.iter().enumerate() {
        let entries = Entries::of(one);
        for other in &world.devices[..n] {
            let differences = entries.differences(&Entries::of(other));
            if !differences.is_empty() {
                let devices = format!("{} and {}", one.name, other.name);
                return Err(format!("{devices} do not become equal: {differences:#?}"));
            }
        }
    }
    Ok(())
}

/// The files of a device.
struct Entries(BTreeMap<String, Entry>);

/// The bytes of a file, none of a folder, and whether it is executable, where the disk keeps that.
struct Entry(Option<Arc<Vec<u8>>>, Option<bool>);

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        let same_bit = match (self.1, other.1) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => true,
        };
        same_bit && self.0 == other.0
    }
}

impl Entries {
    fn of(device: &Device) -> Self {
        let mut entries = BTreeMap::new();
        device.disk.look(|files| {
            let root = files.get(&path("")).expect("nobody removes it");
            add_entries(root, "", &mut entries);
        });
        Self(entries)
    }

    fn differences(&self, other: &Self) -> Vec<String> {
        let paths: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        paths
            .into_iter()
            .map(|path| (path, self.0.get(path), other.0.get(path)))
            .filter(|(_, one, other)| one != other)
            .map(|(path, one, other)| format!("{path}: {}, {}", describe(one), describe(other)))
            .collect()
    }

    /// Checks that the only device that is worked on is as it was after the latest action of its user. Nobody else
    /// changes anything, so nothing may come back there, go, or be undone.
    fn check_untouched(&self, device: &Device) -> Result<(), String> {
        let changes = self.differences(&Self::of(device));
        if changes.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} is the only one that is worked on, and was changed: {changes:#?}",
            device.name
        ))
    }
}

fn add_entries(dir: &Node, above: &str, entries: &mut BTreeMap<String, Entry>) {
    for (name, node) in dir.children.iter().flatten() {
        // Our own directories are nobody's files.
        if above.is_empty() && name.starts_with(".cairn-t") {
            continue;
        }
        let data = node.children.is_none().then(|| Arc::clone(&node.data));
        entries.insert(format!("{above}{name}"), Entry(data, node.executable));
        add_entries(node, &format!("{above}{name}/"), entries);
    }
}

fn describe(entry: Option<&Entry>) -> String {
    match entry {
        None => "nothing".into(),
        Some(Entry(None, _)) => "a folder".into(),
        Some(Entry(Some(bytes), Some(true))) => format!("{}, executable", label(bytes)),
        Some(Entry(Some(bytes), Some(false) | None)) => label(bytes).into_owned(),
    }
}
