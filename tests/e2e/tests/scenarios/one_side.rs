//! One device works while both daemons run: the basics (scenarios S001–S016).

use anyhow::Result;
use cairn_e2e::tree::Content;
use cairn_e2e::world::Setup;
use cairn_e2e::{Scenario, Tree, World, wait};

fn twenty_files(dir: &str) -> String {
    (0..20).map(|n| format!("{dir}/{n}=content {n};")).collect()
}

#[test]
fn s001_a_new_file_reaches_the_other_device() {
    Scenario::new("S001")
        .a("a.txt=x")
        .expect("a.txt=x")
        .transfers(1, 1)
        .run();
}

#[test]
fn s003_an_empty_file_reaches_the_other_device() {
    Scenario::new("S003").a("e=").expect("e=").run();
}

#[test]
fn s005_an_edit_reaches_the_other_device() {
    Scenario::new("S005")
        .base("a=v1")
        .a("a=v2longer")
        .expect("a=v2longer")
        .transfers(1, 1)
        .run();
}

#[test]
fn s006_a_truncated_file_is_empty_on_the_other_device() {
    Scenario::new("S006")
        .base("a=data")
        .a("a=")
        .expect("a=")
        .run();
}

#[test]
fn s008_a_deleted_folder_is_one_deletion_on_the_server() {
    Scenario::new("S008")
        .base(twenty_files("d"))
        .a("rm -r d")
        .expect("")
        .transfers(0, 0)
        .feed_changes(1)
        .also(|world| {
            let tree = world.server.service().tree()?;
            anyhow::ensure!(tree.is_empty(), "the server still has {tree:?}");
            Ok(())
        })
        .run();
}

#[test]
fn s010_a_folder_deleted_and_made_again_at_once_is_there() {
    Scenario::new("S010")
        .a("mkdir t; t/1=aaaaaaaa; rm -r t; mkdir t; t/1=aaaaaaaa")
        .expect("t/1=aaaaaaaa")
        .run();
}

#[test]
fn s011_a_folder_made_again_holds_only_the_new_file() -> Result<()> {
    let world = World::with_base("B/b1=one; B/b2=two")?;
    world.a.files().run("rm -r B")?;
    world.settle()?;
    world.a.files().run("mkdir B; B/b1=new")?;
    world.settle()?;
    world.expect(&Tree::literal("B/b1=new"))?;
    world.finish()
}

#[test]
fn s013_a_file_that_lived_for_a_moment_leaves_nothing() {
    Scenario::new("S013")
        .a("f=short; rm f")
        .expect("")
        .also(|world| {
            for device in [&world.a, &world.b] {
                let status = device.status()?;
                anyhow::ensure!(status.problems().next().is_none(), "{status:?}");
                anyhow::ensure!(status.state == "idle", "{status:?}");
            }
            Ok(())
        })
        .run();
}

#[test]
fn s015_a_file_of_110_mib_arrives_unharmed() -> Result<()> {
    const SIZE: u64 = 110 << 20;
    let world = World::two_devices()?;
    world.a.files().write_random("big", SIZE, 15)?;
    world.settle()?;
    let tree = world.equal()?;
    assert_eq!(tree.file("big").map(|content| content.size), Some(SIZE));
    world.steady()?;
    world.finish()
}

/// The pauses of this row let each step sync alone; waiting until idle does so without a clock.
#[test]
fn s016_a_long_walk_of_files_and_folders_ends_equal() -> Result<()> {
    let world = World::with_base("1.txt=111")?;
    let files = world.a.files();
    files.run("mv 1.txt 2.txt")?;
    world.settle()?;
    files.run("3.txt=222")?;
    world.settle()?;
    files.run("mv 2.txt 3.txt; mkdir test; 4.txt=; mv 3.txt test/3.txt; mv 4.txt test/4.txt")?;
    files.run("mkdir test2; mv test test2/test; mv test2/test test; append test/4.txt=555")?;
    files.run("mv test test2/test; mv test2 test3")?;
    world.settle()?;
    world.expect(&Tree::literal("test3/test/3.txt=111; test3/test/4.txt=555"))?;
    world.finish()
}

#[test]
fn a_quiet_pair_of_devices_asks_the_server_to_change_nothing() -> Result<()> {
    let world = World::with_base("a=1; d/b=2; d/e/c=3; empty/")?;
    world.expect(&Tree::literal("a=1; d/b=2; d/e/c=3; empty/"))?;
    assert_eq!(world.b.tree()?.file("d/b"), Some(&Content::new(b"2")));
    world.finish()
}

#[test]
fn a_folder_added_to_a_running_daemon_is_synced_at_once() -> Result<()> {
    let mut world = World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })?;
    world.a.start()?;
    world.b.start()?;
    world.a.add(&World::remote_folder())?;
    world.b.add(&World::remote_folder())?;
    world.a.files().write("a.txt", "x")?;
    // Nobody asks for a look, as `status --wait` would: well before the feed is polled.
    wait::holds("the file is on the other device", wait::PROCESS, || {
        Ok(world.b.files().exists("a.txt"))
    })?;
    world.finish()
}
