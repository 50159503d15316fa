//! A random story: users work on all devices, lines fail, power goes; then everything must be equal
//! and nothing lost.

use crate::device::{Device, path};
use crate::disk::Node;
use crate::oracle::{Oracle, label};
use crate::random::Seeded;
use crate::world::{World, tree_of};
use crate::{deeds, keyless};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// The parameters of a story.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    pub devices: usize,
    pub steps: usize,
    pub faults: bool,
    pub crashes: bool,
    /// Only the first device is worked on.
    pub one_editor: bool,
    /// Somebody without keys works on the service too, as on its pages.
    pub keyless: bool,
}

/// The end of a story: enough to compare two runs byte for byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    pub tree: BTreeMap<String, Option<Vec<u8>>>,
    pub deeds: Vec<String>,
}

/// Runs the story of a seed.
///
/// # Errors
/// The law that was broken, with the deeds that led there.
pub async fn tell(seed: u64, plot: Plot) -> Result<Ending, String> {
    let mut world = World::new(seed, plot.devices).await;
    let mut oracle = Oracle::default();
    let mut deeds = Vec::new();
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
    for _ in 0..plot.steps {
        let editor = plot.one_editor.then(|| Entries::of(&world.devices[0]));
        let did_work = step(&mut world, plot, &mut oracle, &mut deeds).await;
        if let Some(editor) = editor.filter(|_| !did_work) {
            editor
                .check_untouched(&world.devices[0])
                .map_err(|law| format!("seed {seed}: {law}\n{}", deeds.join("\n")))?;
        }
    }
    finish(&mut world, &oracle, plot)
        .await
        .map_err(|law| format!("seed {seed}: {law}\n{}", deeds.join("\n")))?;
    Ok(Ending {
        tree: tree_of(&world.devices[0]),
        deeds,
    })
}

/// Lets one thing happen. Returns whether somebody has worked on files.
async fn step(world: &mut World, plot: Plot, oracle: &mut Oracle, deeds: &mut Vec<String>) -> bool {
    let random = world.random.clone();
    let at = if plot.one_editor {
        0
    } else {
        random.below(world.devices.len())
    };
    match random.below(12) {
        0..=7 => {
            if plot.keyless && random.one_in(6) {
                deeds.extend(keyless::work(world, oracle).await);
            } else {
                deeds.extend(deeds::work(world, at, oracle));
            }
            return true;
        }
        8 => {
            let pause = [1, 50, 400, 3_000, 70_000][random.below(5)];
            deeds.push(format!("{pause} ms pass"));
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        9 => {
            let device = &world.devices[random.below(plot.devices)];
            if let Some(engine) = device.engine() {
                if random.one_in(3) {
                    deeds.push(format!("{} pauses", device.name));
                    engine.pause(None, None).expect("the index takes it");
                } else {
                    deeds.push(format!("{} looks", device.name));
                    engine.resume(None).expect("the index takes it");
                    engine.rescan(None);
                }
            }
        }
        10 if plot.faults => {
            let n = [0, 3, 10][random.below(3)];
            deeds.push(format!("{}: one fault in {n}", world.devices[at].name));
            world.devices[at].line.fault_one_in(n);
        }
        11 if plot.crashes => {
            let power = random.one_in(2);
            let device = &mut world.devices[at];
            deeds.push(format!(
                "{} is killed{}",
                device.name,
                if power { ", power gone" } else { "" }
            ));
            device.kill(power).await;
            device.start();
        }
        _ => {
            let device = &world.devices[at];
            deeds.push(format!("{} settles", device.name));
            drop(tokio::time::timeout(Duration::from_secs(20), device.settle()).await);
        }
    }
    false
}

async fn finish(world: &mut World, oracle: &Oracle, plot: Plot) -> Result<(), String> {
    for device in &world.devices {
        if let Some(engine) = device.engine() {
            engine.resume(None).expect("the index takes it");
        }
    }
    let editor = plot.one_editor.then(|| Entries::of(&world.devices[0]));
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
        if plot.one_editor && tree.keys().any(|path| path.contains("(conflicted copy ")) {
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
    check_executable_bits(world)?;
    let after: Vec<u64> = world.devices.iter().map(|d| d.transfers()).collect();
    if before == after {
        Ok(())
    } else {
        Err(format!(
            "two more cycles transferred: {before:?} -> {after:?}"
        ))
    }
}

/// Checks what [`World::settle`] does not compare.
fn check_executable_bits(world: &World) -> Result<(), String> {
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

    /// Checks that the only device that is worked on is as it was after the latest deed of its user. Nobody else
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
