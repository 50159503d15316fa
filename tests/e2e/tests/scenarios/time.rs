//! Clocks and modification times that say nothing or lie (scenarios S220–S226).

use anyhow::Result;
use cairn_e2e::device::Options;
use cairn_e2e::{First, Scenario, Tree, World};
use std::path::Path;

/// The paths of the library in Debian's package `faketime`.
const FAKETIME: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
];

/// A device whose clock is a day ahead; the times of files stay as the file system has them.
fn a_day_ahead() -> Options {
    let library = FAKETIME
        .into_iter()
        .find(|path| Path::new(path).exists())
        .expect("install the package `faketime` (`cargo xtask setup` does)");
    let pairs = [
        ("LD_PRELOAD", library),
        ("FAKETIME", "+24h"),
        ("NO_FAKE_STAT", "1"),
    ];
    let monotonic = [
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ];
    Options {
        environment: pairs
            .into_iter()
            .chain(monotonic)
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        ..Options::default()
    }
}

#[test]
fn s220_touching_a_file_on_both_sides_transfers_nothing() {
    Scenario::new("S220")
        .base("f=content")
        .a("touch f")
        .b_does(|files| files.shift_modified("f", 3600))
        .expect("f=content")
        .transfers(0, 0)
        .run();
}

#[test]
fn s221_an_edit_with_an_older_time_is_an_edit() {
    Scenario::new("S221")
        .base("f=aaaa")
        .a_does(|files| {
            files.write("f", "bbbb")?;
            files.shift_modified("f", -86_400)
        })
        .expect("f=bbbb")
        .transfers(1, 1)
        .run();
}

#[test]
fn s223_an_edit_that_hides_behind_size_and_time_is_seen() {
    Scenario::new("S223")
        .base("f=aaaa")
        .a_does(|files| {
            let at = files.modified_time("f")?;
            files.write("f", "bbbb")?;
            files.touch("f", at)
        })
        .expect("f=bbbb")
        .transfers(1, 1)
        .run();
}

#[test]
fn s225_a_clock_a_day_ahead_changes_no_result() {
    let options = a_day_ahead();
    Scenario::new("S225/S022")
        .b_options(options.clone())
        .base("f.txt=v0")
        .a("f.txt=A-edit")
        .b("f.txt=B-edit!!")
        .expect_if_first(First::A, "f.txt=A-edit; CC(f.txt)=B-edit!!")
        .expect_if_first(First::B, "f.txt=B-edit!!; CC(f.txt)=A-edit")
        .swapped()
        .run();
    Scenario::new("S225/S040")
        .b_options(options.clone())
        .base("a=v1")
        .a("a=edited-longer")
        .b("rm a")
        .expect("a=edited-longer")
        .swapped()
        .run();
    Scenario::new("S225/S045")
        .b_options(options)
        .base("A/a1=one; A/a2=two")
        .a("rm -r A")
        .b("A/hello.txt=hello")
        .expect("A/hello.txt=hello")
        .swapped()
        .run();
}

#[test]
fn s226_an_older_file_put_back_reaches_the_other_device() -> Result<()> {
    let world = World::with_base("f=new")?;
    world.a.files().run("f=from the backup")?;
    world.a.files().shift_modified("f", -30 * 86_400)?;
    world.settle()?;
    world.expect(&Tree::literal("f=from the backup"))?;
    world.finish()
}
