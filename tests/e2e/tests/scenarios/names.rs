//! Names that are hard on some file system (scenarios S150–S156; S158 needs Windows).

use anyhow::{Result, ensure};
use cairn_e2e::{Scenario, Tree, World};

/// "é" as one character and as two.
const COMPOSED: &str = "\u{e9}.txt";
const DECOMPOSED: &str = "e\u{301}.txt";

#[test]
fn s150_a_change_of_case_is_a_rename() {
    Scenario::new("S150")
        .base("abc/test/t=t; a1=1")
        .a("mv abc/test abc/TEST; mv abc ABC; mv a1 A1")
        .expect("ABC/TEST/t=t; A1=1")
        .transfers(0, 0)
        .run();
}

#[test]
fn s151_a_change_of_case_while_the_daemon_is_off_is_a_rename() -> Result<()> {
    let mut world = World::with_base("folder/f=f")?;
    let id = world.server.service().node("folder")?.id;
    world.a.stop()?;
    world.a.files().run("mv folder FOLDER")?;
    world.a.start()?;
    world.settle()?;
    world.expect(&Tree::literal("FOLDER/f=f"))?;
    assert_eq!(world.server.service().node("FOLDER")?.id, id);
    world.finish()
}

#[test]
fn s153_two_spellings_of_one_name_lose_no_content() {
    Scenario::new("S153")
        .a_does(|files| files.write(COMPOSED, "1"))
        .b_does(|files| files.write(DECOMPOSED, "22"))
        .expect_contents(&["1", "22"])
        .swapped()
        .run();
}

#[test]
fn s155_a_decomposed_name_arrives_byte_for_byte() -> Result<()> {
    let world = World::two_devices()?;
    let names = ["a\u{308}", "Ba\u{308}/b"];
    let mut expected = Tree::default();
    for name in names {
        world.a.files().write(name, name)?;
        expected = expected.with_file(name, name);
    }
    world.settle()?;
    world.expect(&expected)?;
    world.finish()
}

#[test]
fn s156_names_in_every_script_arrive_byte_for_byte() -> Result<()> {
    let long = "n".repeat(255);
    let names = [
        "Русский",
        "測試",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦 family",
        " leading space",
        "trailing space ",
        "a'\"$&.txt",
        ".hidden",
        "semi;colon=equals",
        "back\\slash",
        "new\nline",
        "-rf",
        "100%.txt",
        "a#b?c",
        "con",
        &long,
    ];
    let world = World::two_devices()?;
    let mut expected = Tree::default();
    for name in names {
        world.a.files().write(name, format!("content of {name}"))?;
        expected = expected.with_file(name, format!("content of {name}"));
    }
    world.settle()?;
    world.expect(&expected)?;
    world.finish()
}

#[test]
fn a_conflict_copy_of_a_long_name_is_still_a_name() {
    let name = format!("{}.txt", "é".repeat(125));
    let (for_a, for_b) = (name.clone(), name);
    Scenario::new("conflict of a long name")
        .a_does(move |files| files.write(&for_a, "of a"))
        .b_does(move |files| files.write(&for_b, "of b!"))
        .expect_contents(&["of a", "of b!"])
        .run();
}

#[test]
fn a_name_that_is_no_text_stays_and_is_reported() -> Result<()> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = World::with_base("ok=1")?;
    let odd = OsStr::from_bytes(b"odd-\xff-name");
    world.a.files().write(odd, "kept here")?;
    world.a.files().write("ok2", "2")?;
    let status = world.a.wait_status("the odd name is reported", |status| {
        status
            .problems()
            .any(|problem| problem.path.contains("odd-"))
    })?;
    let problem = status
        .problems()
        .find(|problem| problem.path.contains("odd-"));
    ensure!(
        problem.is_some_and(|p| !p.hint.is_empty() && !p.message.is_empty()),
        "{status:?}"
    );
    world.settle()?;
    ensure!(world.a.files().read(odd)? == b"kept here");
    let on_b = Tree::literal("ok=1; ok2=2").difference(&world.b.tree()?);
    ensure!(on_b.is_none(), "{on_b:?}");
    world.finish()
}
