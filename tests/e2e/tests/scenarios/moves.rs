//! One device moves and renames while both daemons run (scenarios S060–S083). A move is an attribute
//! of a node: it transfers no content and keeps the node's id on the server.

use anyhow::{Result, ensure};
use cairn_e2e::{Scenario, Tree, World};
use std::fmt::Write as _;

fn numbered_files(dir: &str, count: usize) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ = write!(text, "{dir}/{n}=content {n};");
        text
    })
}

#[test]
fn s060_a_renamed_file_stays_the_same_node() -> Result<()> {
    let world = World::with_base("a=x")?;
    let (before, node) = (world.counters()?, world.server.service().node("a")?);
    world.a.files().run("mv a b")?;
    world.settle()?;
    world.expect(&Tree::literal("b=x"))?;
    let after = world.counters()?;
    ensure!(after.0.uploads == before.0.uploads, "A uploaded {after:?}");
    ensure!(
        after.1.downloads == before.1.downloads,
        "B downloaded {after:?}"
    );
    let renamed = world.server.service().node("b")?;
    assert_eq!(
        (renamed.id, renamed.revision_id),
        (node.id, node.revision_id)
    );
    world.finish()
}

#[test]
fn s061_a_renamed_folder_is_one_move_on_the_server() {
    Scenario::new("S061")
        .base(numbered_files("d", 100))
        .a("mv d e")
        .expect(&numbered_files("e", 100))
        .transfers(0, 0)
        .feed_changes(1)
        .also(|world| {
            let (a, _) = world.counters()?;
            ensure!(a.renames == 1, "A made {} renames", a.renames);
            Ok(())
        })
        .run();
}

#[test]
fn s063_a_folder_moved_into_another_is_one_move() {
    Scenario::new("S063")
        .base("p/a=1; p/deep/b=2; p/deep/er/c=3; q/")
        .a("mv p q/p")
        .expect("q/p/a=1; q/p/deep/b=2; q/p/deep/er/c=3")
        .transfers(0, 0)
        .feed_changes(1)
        .run();
}

#[test]
fn s065_two_files_change_places() {
    Scenario::new("S065")
        .base("a=A; b=BB")
        .a("mv a tmp; mv b a; mv tmp b")
        .expect("a=BB; b=A")
        .transfers(0, 0)
        .run();
}

#[test]
fn s066_two_folders_change_places() {
    Scenario::new("S066")
        .base("a/1=one; b/2=two")
        .a("mv a tmp; mv b a; mv tmp b")
        .expect("a/2=two; b/1=one")
        .transfers(0, 0)
        .run();
}

#[test]
fn s068_a_file_comes_back_to_its_first_name() -> Result<()> {
    let world = World::with_base("a=x")?;
    let before = world.counters()?;
    for step in ["mv a b", "mv b c", "mv c a"] {
        world.a.files().run(step)?;
        world.settle()?;
    }
    let after = world.counters()?;
    ensure!(after.0.uploads == before.0.uploads, "A uploaded {after:?}");
    ensure!(
        after.1.downloads == before.1.downloads,
        "B downloaded {after:?}"
    );
    world.expect(&Tree::literal("a=x"))?;
    world.finish()
}

#[test]
fn s070_a_renamed_and_rewritten_file_has_the_new_content() {
    Scenario::new("S070")
        .base("a=orig")
        .a("mv a b; b=BRAND-NEW")
        .expect("b=BRAND-NEW")
        .run();
}

#[test]
fn s071_a_new_file_at_the_old_name_of_a_moved_one() {
    Scenario::new("S071")
        .base("a=ORIGINAL")
        .a("mv a b; a=FRESH")
        .expect("a=FRESH; b=ORIGINAL")
        .run();
}

#[test]
fn s073_a_file_moved_into_new_folders_is_not_sent_again() {
    Scenario::new("S073")
        .base("a=x")
        .a("mkdir n/m/o; mv a n/m/o/a")
        .expect("n/m/o/a=x")
        .transfers(0, 0)
        .run();
}

#[test]
fn s075_a_nest_of_folders_is_taken_apart() {
    Scenario::new("S075")
        .base(
            "FolA/FileA=a; FolA/FolB/FileB=b; FolA/FolB/FolC/FileC=c; \
             FolA/FolB/FolC/FolD/FileD=d; FolA/FolB/FolC/FolD/FolE/FileE=e",
        )
        .a(
            "FolA/FileA2=a2; FolA/FolB/FileB2=b2; FolA/FolB/FolC/FileC2=c2; \
            FolA/FolB/FolC/FolD/FileD2=d2; FolA/FolB/FolC/FolD/FolE/FileE2=e2; \
            mv FolA FolA_R; mv FolA_R/FolB FolB_R; mv FolB_R/FolC FolA; \
            mv FolA/FolD FolA/FolD_R; mkdir FolB_R/New; mv FolA/FolD_R/FolE FolB_R/New/FolE",
        )
        .expect(
            "FolA_R/FileA=a; FolA_R/FileA2=a2; FolB_R/FileB=b; FolB_R/FileB2=b2; \
             FolB_R/New/FolE/FileE=e; FolB_R/New/FolE/FileE2=e2; FolA/FileC=c; FolA/FileC2=c2; \
             FolA/FolD_R/FileD=d; FolA/FolD_R/FileD2=d2",
        )
        .transfers(5, 5)
        .run();
}

#[test]
fn s076_only_the_edited_file_of_a_renamed_folder_travels() {
    Scenario::new("S076")
        .base("d/f=old; d/g=g")
        .a("mv d e; e/f=new")
        .expect("e/f=new; e/g=g")
        .transfers(1, 1)
        .run();
}

#[test]
fn s078_a_deep_tree_is_flattened_without_a_transfer() {
    let base = "a/1=1; a/2=2; a/b/3=3; a/b/4=4; a/b/c/5=5; a/b/c/6=6; a/b/c/d/7=7; a/b/c/d/8=8; \
                a/b/c/d/9=9; a/b/10=10";
    Scenario::new("S078")
        .base(base)
        .a(
            "mv a/1 1; mv a/2 2; mv a/b/3 3; mv a/b/4 4; mv a/b/c/5 5; mv a/b/c/6 6; \
            mv a/b/c/d/7 7; mv a/b/c/d/8 8; mv a/b/c/d/9 9; mv a/b/10 10; rm -r a",
        )
        .expect("1=1; 2=2; 3=3; 4=4; 5=5; 6=6; 7=7; 8=8; 9=9; 10=10")
        .transfers(0, 0)
        .run();
}

#[test]
fn s081_moving_five_hundred_files_asks_nobody() {
    Scenario::new("S081")
        .base(numbered_files("d", 500))
        .a("mv d e")
        .expect(&numbered_files("e", 500))
        .transfers(0, 0)
        .also(|world| {
            for device in [&world.a, &world.b] {
                let status = device.status()?;
                ensure!(status.state == "idle", "{} asks: {status:?}", device.name());
            }
            Ok(())
        })
        .run();
}

#[test]
fn s083_two_quick_moves_of_a_big_folder_transfer_nothing() -> Result<()> {
    const FILES: u64 = 200;
    let world = World::with_base("q/")?;
    for n in 0..FILES {
        world.a.files().write_random(format!("d/{n}"), 1 << 20, n)?;
    }
    world.settle()?;
    let before = world.counters()?;
    world.a.files().run("mv d q/d; mv q/d q/e")?;
    world.settle()?;
    let after = world.counters()?;
    ensure!(after.0.uploads == before.0.uploads, "A uploaded {after:?}");
    ensure!(
        after.1.downloads == before.1.downloads,
        "B downloaded {after:?}"
    );
    let tree = world.equal()?;
    assert_eq!(
        tree.files()
            .filter(|(path, _)| path.starts_with("q/e"))
            .count() as u64,
        FILES
    );
    assert_eq!(tree.files().count() as u64, FILES);
    world.steady()?;
    world.finish()
}
