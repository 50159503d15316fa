//! Both devices move, edit and delete at once (scenarios S090–S123). Moves of different files and
//! folders combine; of two moves of one of them, the first that reaches the server wins.

use anyhow::Result;
use cairn_e2e::{First, Scenario, Tree, World};

#[test]
fn s090_a_rename_beats_a_deletion() {
    Scenario::new("S090")
        .base("a=data")
        .a("mv a b")
        .b("rm a")
        .expect("b=data")
        .swapped()
        .run();
}

#[test]
fn s091_a_rename_and_an_edit_both_apply() {
    Scenario::new("S091")
        .base("f=old")
        .a("mv f g")
        .b("f=new")
        .expect("g=new")
        .swapped()
        .run();
}

#[test]
fn s093_the_same_move_twice_is_one_move() {
    Scenario::new("S093")
        .base("f=x; d/")
        .a("mv f d/f")
        .b("mv f d/f")
        .expect("d/f=x")
        .transfers(0, 0)
        .run();
}

#[test]
fn s095_a_new_file_and_a_rename_to_its_name_are_both_kept() {
    Scenario::new("S095")
        .base("m=M")
        .a("n=N")
        .b("mv m n")
        .expect_any_if_first(First::A, &["n=N; CC(n)=M", "n=N; m=M"])
        .expect_if_first(First::B, "n=M; CC(n)=N")
        .swapped()
        .run();
}

#[test]
fn s096_two_folders_moved_into_each_other_make_no_cycle() {
    Scenario::new("S096")
        .base("X/x=1; Y/y=2")
        .a("mv X Y/X")
        .b("mv Y X/Y")
        .expect_if_first(First::A, "Y/y=2; Y/X/x=1")
        .expect_if_first(First::B, "X/x=1; X/Y/y=2")
        .swapped()
        .run();
}

#[test]
fn s098_a_file_deleted_in_a_renamed_folder_is_gone() {
    Scenario::new("S098")
        .base("d/f=f; d/g=g")
        .a("mv d e")
        .b("rm d/f")
        .expect("e/g=g")
        .swapped()
        .run();
}

#[test]
fn s100_edits_and_deletions_follow_a_renamed_folder() {
    Scenario::new("S100")
        .base("d/a=a; d/b=b; d/c=c")
        .a("mv d e")
        .b("d/a=N; rm d/b")
        .expect("e/a=N; e/c=c")
        .swapped()
        .run();
}

#[test]
fn s101_a_conflict_in_a_renamed_folder_stands_in_the_folder() {
    Scenario::new("S101")
        .base("d/f=0")
        .a("mv d e; e/f=A")
        .b("d/f=BB")
        .expect("e/f=A; CC(e/f)=BB")
        .run();
}

#[test]
fn s103_renames_of_a_folder_and_of_one_in_it_compose() {
    Scenario::new("S103")
        .base("a/b/f=0")
        .a("mv a A2; A2/b/f=E")
        .b("mv a/b a/B2")
        .expect("A2/B2/f=E")
        .swapped()
        .run();
}

#[test]
fn s105_a_file_moved_out_of_a_renamed_folder_is_out() {
    Scenario::new("S105")
        .base("dir/a=a; dir/keep=k")
        .a("mv dir dir2")
        .b("mv dir/a a")
        .expect("a=a; dir2/keep=k")
        .swapped()
        .run();
}

#[test]
fn s106_what_is_moved_into_a_renamed_folder_follows_it() {
    Scenario::new("S106")
        .base("d/f=f; o=o; s/t=t")
        .a("mv d e")
        .b("mv o d/o; mv s d/s")
        .expect("e/f=f; e/o=o; e/s/t=t")
        .swapped()
        .run();
}

#[test]
fn s108_two_renames_of_a_folder_keep_both_edits_in_it() {
    Scenario::new("S108")
        .base("p/a=AAA; p/b=BBB")
        .a("mv p PL; PL/a=A2")
        .b("mv p PR; PR/b=B2")
        .expect("PL/a=A2; PL/b=B2")
        .run();
}

#[test]
fn s110_a_file_renamed_over_one_that_moves_away() {
    Scenario::new("S110")
        .base("a=AAAA; b=BBBBBB")
        .a("mv a b")
        .b("mv b c")
        .expect("b=AAAA; c=BBBBBB")
        .swapped()
        .run();
}

#[test]
fn s111_a_renamed_folder_survives_a_deletion() {
    Scenario::new("S111")
        .base("D/c=c")
        .a("rm -r D")
        .b("mv D E")
        .expect("E/c=c")
        .swapped()
        .run();
}

#[test]
fn s113_a_file_moved_out_survives_its_folders_deletion() {
    Scenario::new("S113")
        .base("d/a=a")
        .a("rm -r d")
        .b("mv d/a a")
        .expect("a=a")
        .swapped()
        .run();
}

#[test]
fn s115_a_renamed_inner_folder_survives_the_deletion_of_the_outer() {
    Scenario::new("S115")
        .base("a/b/c=c; a/b/d=d; a/other=o")
        .a("mv a/b a/B")
        .b("rm -r a")
        .expect("a/B/c=c; a/B/d=d")
        .swapped()
        .run();
}

#[test]
fn s116_a_deleted_inner_folder_is_gone_from_the_renamed_outer() {
    Scenario::new("S116")
        .base("a/b/f=f; a/g=g")
        .a("mv a A2")
        .b("rm -r a/b")
        .expect("A2/g=g")
        .swapped()
        .run();
}

#[test]
fn s118_a_file_renamed_over_a_deleted_one() {
    Scenario::new("S118")
        .base("a=AAAA; b=BB")
        .a("mv a b")
        .b("rm b")
        .expect("b=AAAA")
        .swapped()
        .run();
}

#[test]
fn s120_renames_of_two_files_in_a_renamed_folder() {
    Scenario::new("S120")
        .base("p/a=a; p/b=b")
        .a("mv p P2; mv P2/a P2/a2")
        .b("mv p/b p/b2")
        .expect("P2/a2=a; P2/b2=b")
        .transfers(0, 0)
        .swapped()
        .run();
}

#[test]
fn s121_an_edit_and_a_renamed_edit_are_both_kept() {
    Scenario::new("S121")
        .base("a=orig")
        .a("a=LOCAL")
        .b("mv a b; b=REMOTE-2")
        .expect_if_first(First::A, "b=LOCAL; CC(b)=REMOTE-2")
        .expect_if_first(First::B, "b=REMOTE-2; CC(b)=LOCAL")
        .swapped()
        .run();
}

#[test]
fn s123_an_edited_and_moved_folder_loses_nothing_later() -> Result<()> {
    let world = World::with_base("f1/f=old; f2/")?;
    world.a.files().run("f1/f=new; mv f1 f2/f1")?;
    world.settle()?;
    world.expect(&Tree::literal("f2/f1/f=new"))?;
    world.expect(&Tree::literal("f2/f1/f=new"))?;
    world.finish()
}
