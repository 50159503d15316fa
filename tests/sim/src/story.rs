//! A random story: users work on all devices, lines fail, power goes; then everything must be equal
//! and nothing lost.

use crate::device::ROOT;
use crate::oracle::Oracle;
use crate::random::Seeded;
use crate::world::{World, tree_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Few names, so that devices meet.
const NAMES: &[&str] = &["a", "b", "c", "d", "e.txt"];

/// The parameters of a story.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    pub devices: usize,
    pub steps: usize,
    pub faults: bool,
    pub crashes: bool,
    /// Only the first device is worked on.
    pub one_editor: bool,
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
    let births = Seeded::new(seed, 3);
    for device in &mut world.devices {
        if births.one_in(4) {
            device.disk.keep_no_births();
        }
        device.start();
    }
    for _ in 0..plot.steps {
        let random = world.random.clone();
        let at = if plot.one_editor {
            0
        } else {
            random.below(world.devices.len())
        };
        match random.below(12) {
            0..=7 => {
                if let Some(deed) = work(&world, at, &mut oracle) {
                    deeds.push(deed);
                }
            }
            8 => {
                let pause = [1, 50, 400, 3_000, 70_000][random.below(5)];
                deeds.push(format!("{pause} ms pass"));
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            9 => {
                let device = &world.devices[random.below(plot.devices)];
                if let Some(engine) = device.engine() {
                    deeds.push(format!("{} looks", device.name));
                    engine.rescan(None);
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
    }
    finish(&mut world, &oracle, plot)
        .await
        .map_err(|law| format!("seed {seed}: {law}\n{}", deeds.join("\n")))?;
    Ok(Ending {
        tree: tree_of(&world.devices[0]),
        deeds,
    })
}

async fn finish(world: &mut World, oracle: &Oracle, plot: Plot) -> Result<(), String> {
    world.settle().await?;
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
    let after: Vec<u64> = world.devices.iter().map(|d| d.transfers()).collect();
    if before == after {
        Ok(())
    } else {
        Err(format!(
            "two more cycles transferred: {before:?} -> {after:?}"
        ))
    }
}

/// One deed of a user; `None` if there was nothing to do it to.
fn work(world: &World, at: usize, oracle: &mut Oracle) -> Option<String> {
    let random = &world.random;
    let device = &world.devices[at];
    let tree = tree_of(device);
    let root = Path::new(ROOT);
    let paths: Vec<&String> = tree.keys().collect();
    let files: Vec<&String> = tree
        .iter()
        .filter(|(_, v)| v.is_some())
        .map(|(k, _)| k)
        .collect();
    let mut dirs: Vec<String> = tree
        .iter()
        .filter(|(_, v)| v.is_none())
        .map(|(k, _)| k.clone())
        .collect();
    dirs.push(String::new());
    // Some changes are not noticed by the watcher; a later look finds them.
    let noticed = !random.one_in(5);
    let new_path = || -> Option<PathBuf> {
        let dir = random.pick(&dirs)?;
        Some(root.join(dir).join(random.pick(NAMES)?))
    };
    let name = &device.name;
    match random.below(9) {
        0..=2 => {
            let path = new_path()?;
            if device.disk.look(|f| f.get(&path).is_ok()) {
                return None;
            }
            let content = oracle.write(name);
            device
                .disk
                .user(&path, noticed, |f| f.write(&path, &content))
                .ok()?;
            Some(format!(
                "{name}: create {} = {}",
                path.display(),
                String::from_utf8_lossy(&content)
            ))
        }
        3 => {
            let path = root.join(random.pick(&files)?);
            let old = device
                .disk
                .look(|f| f.get(&path).map(|n| n.data.to_vec()))
                .ok()?;
            oracle.put_away(&old);
            let content = oracle.write(name);
            device
                .disk
                .user(&path, noticed, |f| f.write(&path, &content))
                .ok()?;
            Some(format!(
                "{name}: edit {} = {}",
                path.display(),
                String::from_utf8_lossy(&content)
            ))
        }
        4 => {
            // As editors save: a new file takes the name.
            let path = root.join(random.pick(&files)?);
            let old = device
                .disk
                .look(|f| f.get(&path).map(|n| n.data.to_vec()))
                .ok()?;
            oracle.put_away(&old);
            let content = oracle.write(name);
            device
                .disk
                .user(&path, noticed, |f| {
                    f.remove(&path)?;
                    f.write(&path, &content)
                })
                .ok()?;
            Some(format!(
                "{name}: save {} = {}",
                path.display(),
                String::from_utf8_lossy(&content)
            ))
        }
        5 => {
            let path = root.join(random.pick(&paths)?);
            for content in device
                .disk
                .look(|f| f.listing(&path))
                .into_values()
                .flatten()
            {
                oracle.put_away(&content);
            }
            let node = device.disk.user(&path, noticed, |f| f.remove(&path)).ok()?;
            oracle.put_away(&node.data);
            Some(format!("{name}: remove {}", path.display()))
        }
        6 => {
            let path = new_path()?;
            device.disk.user(&path, noticed, |f| f.mkdir(&path)).ok()?;
            Some(format!("{name}: mkdir {}", path.display()))
        }
        7 | 8 => {
            let from = root.join(random.pick(&paths)?);
            let to = new_path()?;
            device
                .disk
                .user(&from, noticed, |f| f.rename(&from, &to))
                .ok()?;
            if noticed {
                device.disk.user(&to, true, |_| Ok(())).ok()?;
            }
            Some(format!("{name}: move {} {}", from.display(), to.display()))
        }
        _ => None,
    }
}
