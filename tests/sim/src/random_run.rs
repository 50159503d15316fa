//! One random run of the simulator: users work on all devices, connections fail, power goes; in the end all devices
//! must hold the same and nothing may be lost.

use crate::device::Device;
use crate::entries::Entries;
use crate::oracle::Oracle;
use crate::random::Seeded;
use crate::run_options::RunOptions;
use crate::world::{SpaceKind, Tree, World, tree_of};
use crate::{actions, checks, damage, keyless, persons, removals, rules, spelling, truth, views};
use cairn_model::SyncMode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A user who works between calls of an engine does so about once in so many calls.
const INTERFERENCE: usize = 60;

/// The time after which devices have sent again what the server had lost: they ask every hour, and downloads that
/// failed are repeated as seldom.
const HEALED_AFTER: Duration = Duration::from_secs(4 * 3600);

/// The result of a run: enough to compare two runs byte for byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub tree: Tree,
    /// The log of the run: one line for each event.
    pub events: Vec<String>,
    /// The number of times that a person was asked and decided.
    pub decisions: usize,
}

/// Does one random run, which follows from its seed alone.
///
/// # Errors
/// The property that does not hold, with the events that led there.
pub async fn run_seed(seed: u64, options: RunOptions) -> Result<Outcome, String> {
    let new_devices = usize::from(options.damaged_objects);
    let space = match options.private {
        true => SpaceKind::Private,
        false => SpaceKind::Open,
    };
    let mut world = World::in_space(seed, options.devices + new_devices, space).await;
    let new_devices = world.devices.split_off(options.devices);
    let oracle = world.persons.oracle.clone();
    let mut events = Vec::new();
    let disks = Seeded::new(seed, 3);
    for device in &mut world.devices {
        if disks.one_in(4) {
            device.disk.keep_no_births();
        }
        if disks.one_in(4) {
            device.disk.keep_no_modes();
        }
        device.plan_in_parts();
    }
    if options.coarse_times {
        world.devices[1].disk.keep_coarse_times();
    }
    if options.ignores_case {
        world.names = spelling::NAMES;
        world.devices[1].disk.ignore_case();
        if disks.one_in(2) {
            world.devices[1].disk.number_spellings();
        }
    }
    if options.mode != SyncMode::TwoWay {
        world.devices[1].set_mode(options.mode);
        world.is_one_way = true;
    }
    if options.gate {
        let all = world.devices.iter().chain(&new_devices);
        all.for_each(|device| device.set_gate(persons::GATE));
    }
    if options.checkpoints {
        world.compare_views().await;
    }
    world.devices.iter_mut().for_each(Device::start);
    if options.gate {
        removals::begin(&mut world).await?;
    }
    let meanwhile: Arc<Mutex<Vec<String>>> = Arc::default();
    if options.interference {
        for device in &world.devices {
            let users = (&world.random, world.names);
            actions::interfere(device, INTERFERENCE, users, &oracle, &meanwhile);
        }
    }
    for _ in 0..options.steps {
        // Users who work at any moment do so in each step.
        let untouched = options.untouched().filter(|_| !options.interference);
        let before = untouched.map(|at| Entries::of(&world.devices[at]));
        let stepped = step(&mut world, options, &oracle, &mut events).await;
        let mut meanwhile = meanwhile.lock().unwrap_or_else(PoisonError::into_inner);
        events.append(&mut meanwhile);
        events.append(&mut world.persons.events);
        let checked = stepped.and_then(|worked_at| {
            if let (Some(before), Some(at)) = (before, untouched)
                && worked_at != Some(at)
            {
                before.check_untouched(&world.devices[at])?;
            }
            world.devices.iter().try_for_each(truth::check_status)
        });
        checked.map_err(|failure| format!("seed {seed}: {failure}\n{}", events.join("\n")))?;
    }
    let mut finished = finish(&mut world, new_devices, &oracle, options).await;
    let decisions = world.persons.decisions;
    if finished.is_ok() && options.gate && !options.has_rules() && !world.may_differ() {
        finished = removals::remove_and_decide(&mut world, options).await;
    }
    events.append(&mut world.persons.events);
    finished.map_err(|failure| format!("seed {seed}: {failure}\n{}", events.join("\n")))?;
    Ok(Outcome {
        tree: tree_of(&world.devices[0]),
        events,
        decisions,
    })
}

/// Lets one thing happen. Returns the device whose user may have worked on its files.
async fn step(
    world: &mut World,
    options: RunOptions,
    oracle: &Oracle,
    events: &mut Vec<String>,
) -> Result<Option<usize>, String> {
    let random = world.random.clone();
    let at = if options.one_editor {
        0
    } else {
        random.below(world.devices.len())
    };
    let has_more = options.bad_disks || options.damaged_objects;
    match random.below(if has_more { 14 } else { 12 }) {
        0..=7 => {
            if options.keyless && random.one_in(6) {
                events.extend(keyless::work(world, oracle).await);
            } else if options.rules && random.one_in(8) {
                let is_noticed = options.unprompted || !random.one_in(5);
                events.extend(rules::work(&world.devices[at], &random, is_noticed));
            } else if options.nested_rules && random.one_in(6) {
                let is_noticed = options.unprompted || !random.one_in(5);
                events.extend(rules::work_below(&world.devices[at], &random, is_noticed));
            } else if options.choice && random.one_in(8) {
                events.extend(rules::choose(&world.devices[1], &random));
            } else if options.gate && random.one_in(4) {
                world.persons.decide(&world.devices, at, &random);
                return Ok(None);
            } else if options.gate && random.one_in(6) {
                let is_noticed = options.unprompted || !random.one_in(5);
                events.extend(removals::work(world, at, is_noticed));
            } else if options.ignores_case && random.one_in(8) {
                let is_noticed = options.unprompted || !random.one_in(5);
                let tree = actions::without_rules(tree_of(&world.devices[at]));
                events.extend(spelling::work(
                    &world.devices[at],
                    &tree,
                    &random,
                    is_noticed,
                ));
            } else {
                let is_noticed = options.unprompted || !random.one_in(5);
                events.extend(actions::work(world, at, is_noticed, oracle));
            }
            return Ok(Some(at));
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
                    if !options.unprompted {
                        engine.rescan(None);
                    }
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
        12 | 13 if options.bad_disks => {
            let n = [0, 20, 5][random.below(3)];
            let device = &world.devices[at];
            events.push(format!(
                "{}: one call of the disk in {n} fails",
                device.name
            ));
            device.disk.fault_one_in(n, &random);
        }
        12 | 13 if options.damaged_objects => events.extend(damage::work(world).await),
        _ if options.unprompted => {
            events.push("20 s pass".to_owned());
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
        _ if world.is_one_way => {
            events.push(format!("{} rests", world.devices[at].name));
            let rest = world.devices[at].rest();
            drop(tokio::time::timeout(Duration::from_secs(20), rest).await);
        }
        _ => {
            events.push(format!("{} settles", world.devices[at].name));
            truth::settle_briefly(world, at).await?;
        }
    }
    Ok(None)
}

async fn finish(
    world: &mut World,
    new_devices: Vec<Device>,
    oracle: &Oracle,
    options: RunOptions,
) -> Result<(), String> {
    for device in &world.devices {
        if let Some(engine) = device.engine() {
            engine.resume(None).expect("the index takes it");
        }
    }
    world.end_faults();
    let untouched = options.untouched();
    let before = untouched.map(|at| (at, Entries::of(&world.devices[at])));
    if options.damaged_objects {
        tokio::time::sleep(HEALED_AFTER).await;
        world.devices.extend(new_devices);
        world.devices.iter_mut().for_each(Device::start);
        tokio::time::sleep(HEALED_AFTER).await;
    }
    if options.unprompted {
        world.calm().await?;
    }
    let quiet: Vec<_> = world.devices.iter().map(Entries::of).collect();
    world.settle().await?;
    if options.unprompted {
        for (device, quiet) in world.devices.iter().zip(quiet) {
            quiet.check_unchanged(device)?;
        }
    }
    if let Some((at, before)) = before {
        before.check_untouched(&world.devices[at])?;
    }
    checks::check_contents(world, oracle, options).await?;
    checks::check_names(world, options)?;
    let before: Vec<u64> = world.devices.iter().map(|d| d.transfers()).collect();
    for _ in 0..2 {
        world.settle().await?;
    }
    // After further cycles, because `settle` ends when the trees are equal.
    checks::check_executable_bits(world, options).await?;
    views::check_views(world)?;
    if options.checkpoints {
        world.wait_for_comparisons().await;
        views::check_agreement(world)?;
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
