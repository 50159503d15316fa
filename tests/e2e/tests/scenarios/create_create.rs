//! Both devices create or edit the same file (scenarios S020–S030).

use anyhow::{Result, ensure};
use cairn_e2e::world::Setup;
use cairn_e2e::{First, Scenario, Tree, World};
use std::time::{Duration, SystemTime};

fn both_edit() -> Scenario {
    Scenario::new("S022")
        .base("f.txt=v0")
        .a("f.txt=A-edit")
        .b("f.txt=B-edit!!")
        .expect_if_first(First::A, "f.txt=A-edit; CC(f.txt)=B-edit!!")
        .expect_if_first(First::B, "f.txt=B-edit!!; CC(f.txt)=A-edit")
}

#[test]
fn s020_the_same_content_twice_is_one_file() {
    Scenario::new("S020")
        .a("f=content")
        .b("f=content")
        .expect("f=content")
        .transfers(1, 0)
        .run();
}

#[test]
fn s021_two_contents_for_one_new_name_are_both_kept() {
    Scenario::new("S021")
        .a("f.txt=A")
        .b("f.txt=BB")
        .expect_if_first(First::A, "f.txt=A; CC(f.txt)=BB")
        .expect_if_first(First::B, "f.txt=BB; CC(f.txt)=A")
        .swapped()
        .run();
}

#[test]
fn s022_two_edits_of_one_file_are_both_kept() {
    both_edit().swapped().run();
}

#[test]
fn s023_the_same_edit_twice_is_uploaded_once() {
    let at = SystemTime::now() - Duration::from_secs(3600);
    Scenario::new("S023")
        .base("f=v0")
        .a_does(move |files| {
            files.write("f", "same")?;
            files.touch("f", at)
        })
        .b_does(move |files| {
            files.write("f", "same")?;
            files.touch("f", at + Duration::from_secs(86_400))
        })
        .expect("f=same")
        .transfers(1, 0)
        .run();
}

#[test]
fn s025_changes_beside_each_other_in_one_folder_all_count() {
    Scenario::new("S025")
        .base("dir/old=o")
        .a("rm dir/old; dir/l=L")
        .b("rm dir/old; dir/r=R")
        .expect("dir/l=L; dir/r=R")
        .run();
}

#[test]
fn s026_two_filled_folders_are_united_when_they_are_linked() -> Result<()> {
    let mut world = World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })?;
    world.a.files().run("f1=a; same=s; onlyA=x")?;
    world.b.files().run("f1=b; same=s; onlyB=y")?;
    world.link_one_after_the_other()?;
    world.expect(&Tree::literal("f1=a; CC(f1)=b; same=s; onlyA=x; onlyB=y"))?;
    let (a, b) = world.counters()?;
    ensure!(
        (a.uploads, b.uploads) == (3, 2),
        "`same` was sent again: {a:?} {b:?}"
    );
    ensure!(
        (a.downloads, b.downloads) == (2, 2),
        "`same` was fetched again: {a:?} {b:?}"
    );
    world.finish()
}

#[test]
fn s028_a_conflict_ends_when_its_copy_is_deleted() {
    both_edit()
        .also(|world| {
            ensure!(
                world.b.conflicts()? == 1,
                "B lists {} conflicts",
                world.b.conflicts()?
            );
            let tree = world.a.tree()?;
            let copy = tree
                .files()
                .find(|(path, _)| path.to_string_lossy().contains("conflicted copy"));
            let copy = copy.map(|(path, _)| path.clone()).unwrap_or_default();
            world.a.files().remove(copy)?;
            world.settle()?;
            world.expect(&Tree::literal("f.txt=A-edit"))?;
            for device in [&world.a, &world.b] {
                let left = device.conflicts()?;
                ensure!(left == 0, "{} still lists {left} conflicts", device.name());
            }
            Ok(())
        })
        .run();
}

#[test]
fn s030_many_different_changes_at_once_each_end_as_alone() {
    Scenario::new("S030")
        .base("f1=v0; f2=v0; f3=v0; f4=v0; f5=v0; f6=v0; f7=v0; f8=v0")
        .a("f2=newer-A; rm f4; f5=five-A; rm f6; f7=seven-A; rm f8; f11=eleven")
        .b("f1=newer-B; rm f3; f5=five-by-B; f6=six-B; rm f7; rm f8; f10=ten")
        .expect(
            "f1=newer-B; f2=newer-A; f5=five-A; CC(f5)=five-by-B; f6=six-B; f7=seven-A; \
             f10=ten; f11=eleven",
        )
        .run();
}
