//! A file becomes a folder or the other way round (scenarios S130–S143).

use anyhow::ensure;
use cairn_e2e::tree::trash;
use cairn_e2e::{First, Scenario};

#[test]
fn s130_a_file_becomes_a_folder() {
    Scenario::new("S130")
        .base("x=f")
        .a("rm x; mkdir x; x/in=in")
        .expect("x/in=in")
        .run();
}

#[test]
fn s131_a_folder_becomes_a_file_and_its_children_are_in_the_trash() {
    Scenario::new("S131")
        .base("t/a=old a; t/b=old b")
        .a("rm -r t; t=f")
        .expect("t=f")
        .also(|world| {
            let kept = trash(world.b.files().root())?;
            for content in ["old a", "old b"] {
                ensure!(
                    kept.count_of(content.as_bytes()) == 1,
                    "B's trash lacks {content:?}:\n{kept}"
                );
            }
            Ok(())
        })
        .run();
}

#[test]
fn s133_a_new_folder_and_a_new_file_of_one_name() {
    Scenario::new("S133")
        .a("mkdir Z; Z/foo=foo")
        .b("Z=B")
        .expect_if_first(First::A, "Z/foo=foo; CC(Z)=B")
        .expect_if_first(First::B, "Z=B; CC(Z)/foo=foo")
        .swapped()
        .run();
}

#[test]
fn s135_a_folder_replaced_by_a_file_while_a_file_is_added_to_it() {
    Scenario::new("S135")
        .base("B/b1=b1")
        .a("rm -r B; B=file")
        .b("B/zzz=zzz")
        .expect("B=file; CC(B)/zzz=zzz")
        .run();
}

#[test]
fn s136_a_folder_replaced_by_a_file_while_a_file_leaves_it() {
    Scenario::new("S136")
        .base("A/a1=1; A/a2=2")
        .a("rm -r A; A=file")
        .b("mv A/a1 a1")
        .expect("A=file; a1=1")
        .run();
}

#[test]
fn s138_both_replace_a_folder_by_a_file() {
    Scenario::new("S138")
        .base("d/c=c")
        .a("rm -r d; d=A")
        .b("rm -r d; d=BB")
        .expect("d=A; CC(d)=BB")
        .run();
}

#[test]
fn s140_a_renamed_folder_and_a_file_at_its_old_name() {
    Scenario::new("S140")
        .base("d/c=C")
        .a("mv d e")
        .b("rm -r d; d=F")
        .expect("e/c=C; d=F")
        .swapped()
        .run();
}

#[test]
fn s141_a_deleted_file_that_became_a_folder() {
    Scenario::new("S141")
        .base("x=v1")
        .a("rm x")
        .b("rm x; mkdir x; x/inner=inner")
        .expect("x/inner=inner")
        .swapped()
        .run();
}

#[test]
fn s143_a_file_moves_into_the_folder_that_replaces_another() {
    Scenario::new("S143")
        .base("x=f; y=Y")
        .a("rm x; mkdir x/sub; mv y x/sub/child")
        .expect("x/sub/child=Y")
        .run();
}
