//! Daemons that are killed at a system call which changes something: on the disk, in the index, or on the service.
//! After the next start everything is as if they had not been. `CAIRN_KILLS=N` tries more calls.

use anyhow::{Context as _, Result, ensure};
use cairn_e2e::device::Device;
use cairn_e2e::{Tree, World};
use std::fmt::Write as _;

/// Calls that are tried, spread evenly over all that a run makes.
const KILLS: usize = 8;

/// More than one chunk.
const LARGE: u64 = 3 << 20;

fn kills() -> usize {
    let asked = std::env::var("CAIRN_KILLS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(KILLS)
}

/// A folder with the files of one round.
fn base(round: usize) -> String {
    format!(
        "r{round}/edited=old {round}; r{round}/moved=same {round}; r{round}/gone/x=x; r{round}/in/y=y {round}"
    )
}

/// Changes of all kinds in it.
fn change(device: &Device, round: usize) -> Result<()> {
    let files = device.files();
    files.run(&format!(
        "r{round}/edited=new {round}; mv r{round}/moved r{round}/in/moved; rm -r r{round}/gone; mkdir r{round}/made; \
         mv r{round}/in r{round}/made/in; r{round}/made/fresh=fresh {round}"
    ))?;
    files.write_random(format!("r{round}/large"), LARGE, round as u64)
}

/// Checks that both devices hold the outcome of all rounds so far, and nothing besides.
fn check(world: &World, rounds: usize) -> Result<()> {
    world.settle()?;
    let tree = world.equal()?;
    let mut expected = String::new();
    for round in 0..rounds {
        write!(
            expected,
            "r{round}/edited=new {round}; r{round}/made/in/moved=same {round}; r{round}/made/in/y=y {round}; \
             r{round}/made/fresh=fresh {round};"
        )?;
    }
    let expected = Tree::literal(&expected);
    for (path, content) in expected.files() {
        ensure!(
            tree.file(path) == Some(content),
            "{} is not as it was made:\n{tree}",
            path.display()
        );
    }
    let large = (0..rounds).filter(|round| {
        let found = tree.file(format!("r{round}/large"));
        found.is_some_and(|content| content.size == LARGE)
    });
    ensure!(large.count() == rounds, "a large file is missing:\n{tree}");
    let files = expected.files().count() + rounds;
    ensure!(
        tree.files().count() == files,
        "there is more than was made:\n{tree}"
    );
    Ok(())
}

/// Runs rounds in which a device does its part of the sync and is killed meanwhile. `prepare` brings it to the point
/// at which it is not running and has everything to do.
fn killed_at_calls(
    prepare: impl Fn(&mut World, usize) -> Result<()>,
    device: impl Fn(&mut World) -> &mut Device,
) -> Result<()> {
    let mut world = World::two_devices()?;
    let kills = kills();
    let (mut calls, mut killed) = (0, 0);
    for round in 0..=kills {
        world.base(&base(round))?;
        prepare(&mut world, round)?;
        let victim = device(&mut world);
        // The first round counts the calls.
        let n = (calls * (2 * round).saturating_sub(1)) / (2 * kills) + 1;
        if round == 0 {
            calls = victim.count_calls()?;
        } else if victim.run_until_killed(n)? {
            killed += 1;
        }
        victim.start()?;
        check(&world, round + 1).with_context(|| format!("killed at call {n} of {calls}"))?;
    }
    ensure!(
        killed > kills / 2,
        "only {killed} of {kills} runs were killed"
    );
    ensure!(
        world.a.conflicts()? + world.b.conflicts()? == 0,
        "there are conflicts"
    );
    world.steady()?;
    world.finish()
}

#[test]
fn a_daemon_that_sends_may_be_killed_at_any_call() -> Result<()> {
    killed_at_calls(
        |world, round| {
            world.a.stop()?;
            change(&world.a, round)
        },
        |world| &mut world.a,
    )
}

#[test]
fn a_daemon_that_receives_may_be_killed_at_any_call() -> Result<()> {
    killed_at_calls(
        |world, round| {
            world.b.stop()?;
            change(&world.a, round)?;
            world.a.wait_idle()
        },
        |world| &mut world.b,
    )
}
