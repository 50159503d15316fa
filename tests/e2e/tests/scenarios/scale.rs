//! Many files at once (scenarios S230, S231 and S233).

use anyhow::{Result, ensure};
use cairn_e2e::{Tree, World};
use std::time::Instant;

/// Writes files of one size on the first device, lets them arrive, and returns how many did in a second.
fn converge(count: usize, content: impl Fn(usize) -> String) -> Result<f64> {
    let world = World::two_devices()?;
    let mut expected = Tree::default();
    for n in 0..count {
        let path = format!("{:02}/{n:06}", n % 100);
        let content = content(n);
        world.a.files().write(&path, &content)?;
        expected = expected.with_file(path, content);
    }
    let start = Instant::now();
    world.settle()?;
    let seconds = start.elapsed().as_secs_f64();
    world.expect(&expected)?;
    world.finish()?;
    let rate = count as f64 / seconds;
    eprintln!("{count} files from A to B in {seconds:.1} s: {rate:.0} files/s");
    Ok(rate)
}

#[test]
fn s230_ten_thousand_small_files_converge() -> Result<()> {
    let rate = converge(10_000, |n| format!("{n:06}"))?;
    ensure!(rate > 23.6, "slower than the best that others measured");
    Ok(())
}

#[test]
#[ignore = "takes minutes: `cargo xtask soak` runs it"]
fn s231_a_hundred_thousand_files_of_4_kib_converge() -> Result<()> {
    let rate = converge(100_000, |n| {
        format!("{n:06} ").repeat(586)[..4096].to_owned()
    })?;
    ensure!(rate > 2.4, "slower than the best that others measured");
    Ok(())
}

#[test]
fn s233_two_hundred_conflicts_keep_every_content() -> Result<()> {
    let world = World::two_devices()?;
    world.a.pause()?;
    world.b.pause()?;
    for n in 0..200 {
        world
            .a
            .files()
            .write(format!("{n}.txt"), format!("a's {n}"))?;
        world
            .b
            .files()
            .write(format!("{n}.txt"), format!("by b: {n}"))?;
    }
    world.a.resume()?;
    world.a.wait_idle()?;
    world.b.resume()?;
    world.settle()?;
    let mut expected = String::new();
    for n in 0..200 {
        expected.push_str(&format!("{n}.txt=a's {n}; CC({n}.txt)=by b: {n};"));
    }
    world.expect(&Tree::literal(&expected))?;
    world.finish()
}
