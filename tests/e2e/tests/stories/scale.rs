//! Many files at once (scenarios S230 and S233). The big rows are run by `cargo xtask bench`.

use anyhow::{Result, ensure};
use cairn_e2e::{Tree, World};
use std::time::Instant;

#[test]
fn s230_ten_thousand_small_files_converge() -> Result<()> {
    let world = World::two_devices()?;
    let mut expected = Tree::default();
    for n in 0..10_000 {
        let path = format!("{:02}/{n:05}", n % 100);
        let content = format!("{n:06}");
        world.a.files().write(&path, &content)?;
        expected = expected.with_file(path, content);
    }
    let start = Instant::now();
    world.settle()?;
    let seconds = start.elapsed().as_secs_f64();
    eprintln!(
        "10,000 files from A to B in {seconds:.1} s: {:.0} files/s",
        10_000.0 / seconds
    );
    ensure!(
        10_000.0 / seconds > 23.6,
        "slower than the best that others measured"
    );
    world.expect(&expected)?;
    world.finish()
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
