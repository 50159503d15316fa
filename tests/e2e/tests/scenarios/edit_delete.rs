//! One device edits what the other deletes (scenarios S040–S048). The edit always wins.

use anyhow::{Result, ensure};
use cairn_e2e::{Scenario, World};

#[test]
fn s040_an_edit_beats_a_deletion() {
    Scenario::new("S040")
        .base("a=v1")
        .a("a=edited-longer")
        .b("rm a")
        .expect("a=edited-longer")
        .swapped()
        .run();
}

#[test]
fn s041_a_file_that_both_delete_is_gone() {
    Scenario::new("S041")
        .base("a=x")
        .a("rm a")
        .b("rm a")
        .expect("")
        .transfers(0, 0)
        .also(|world| {
            for device in [&world.a, &world.b] {
                let status = device.status()?;
                anyhow::ensure!(status.problems().next().is_none(), "{status:?}");
            }
            Ok(())
        })
        .run();
}

#[test]
fn s043_an_edit_of_the_same_size_beats_a_deletion() {
    Scenario::new("S043")
        .base("a=aaaa")
        .a("a=bbbb")
        .b("rm a")
        .expect("a=bbbb")
        .swapped()
        .run();
}

#[test]
fn s045_a_deleted_folder_lives_on_with_the_new_file_alone() {
    Scenario::new("S045")
        .base("A/a1=one; A/a2=two")
        .a("rm -r A")
        .b("A/hello.txt=hello")
        .expect("A/hello.txt=hello")
        .swapped()
        .run();
}

#[test]
fn s046_the_folders_above_a_new_file_survive_a_deletion() {
    Scenario::new("S046")
        .base("a/b/c/f=old")
        .a("rm -r a")
        .b("a/b/c/new=new")
        .expect("a/b/c/new=new")
        .swapped()
        .run();
}

#[test]
fn s048_a_file_made_again_beats_a_deletion() {
    Scenario::new("S048")
        .base("a=v1")
        .a("rm a; a=fresh")
        .b("rm a")
        .expect("a=fresh")
        .run();
}

#[test]
fn a_touch_does_not_beat_a_deletion() {
    Scenario::new("touch against delete")
        .base("a=x; b=y")
        .a("touch a")
        .b("rm a")
        .expect("b=y")
        .transfers(0, 0)
        .swapped()
        .run();
}

#[test]
fn a_deleted_folder_stays_only_where_it_holds_what_was_never_synced() -> Result<()> {
    let world = World::with_base(".cairnignore=*.log; p/a=1; p/q/b=2; p/r/c=3; gone/d=4")?;
    let here = world.a.files();
    here.run("p/q/x.log=only here")?;
    here.symlink("a", "p/link")?;
    here.write("p/.DS_Store", "leftover")?;
    here.write("gone/.DS_Store", "leftover")?;
    world.settle()?;
    world.b.files().run("rm -r p; rm -r gone")?;
    world.settle()?;
    ensure!(here.read("p/q/x.log")? == b"only here");
    ensure!(here.path("p/link").is_symlink());
    for path in ["p/a", "p/q/b", "p/r", "gone"] {
        ensure!(!here.exists(path), "{path} is still there");
    }
    ensure!(!world.b.files().exists("p") && !world.b.files().exists("gone"));
    world.steady()?;
    world.finish()
}
