//! One device changes something, the other follows.

use crate::scenario::{Pair, check, run_alone};
use cairn_plan::{MoveReason, Step};

/// Named rows: base, script, what both have in the end, and the content transfers.
macro_rules! rows {
    ($($name:ident: $base:literal, $script:literal => $want:literal, transfers $t:literal;)+) => {
        $(
            #[test]
            fn $name() {
                let (pair, _) = run_alone($base, $script);
                check(&pair.first, $want);
                check(&pair.second, $want);
                assert_eq!(pair.transfers(), $t, "transfers");
            }
        )+
    };
}

rows! {
    s001_a_new_file: "", "a.txt=x" => "a.txt=x", transfers 2;
    s003_an_empty_file: "", "e=" => "e=", transfers 2;
    s005_an_edit: "a=v1", "a=v2longer" => "a=v2longer", transfers 2;
    s006_a_truncation: "a=data", "a=" => "a=", transfers 2;
    s010_made_removed_and_made_again: "", "mkdir t; t/1=aaaaaaaa; rm t; mkdir t; t/1=aaaaaaaa" => "t/1=aaaaaaaa", transfers 2;
    s011_removed_and_made_with_other_children: "B/b1=1 B/b2=2", "rm B; B/b1=new" => "B/b1=new", transfers 2;
    s060_a_rename: "a=x", "mv a b" => "b=x", transfers 0;
    s063_a_folder_into_another: "p/a=1 p/b/c=2 q/", "mv p q/p" => "q/p/a=1 q/p/b/c=2", transfers 0;
    s065_two_files_swap: "a=A b=BB", "mv a t; mv b a; mv t b" => "a=BB b=A", transfers 0;
    s066_two_folders_swap: "a/1=1 b/2=2", "mv a t; mv b a; mv t b" => "a/2=2 b/1=1", transfers 0;
    s068_there_and_back: "a=x", "mv a b; mv b c; mv c a" => "a=x", transfers 0;
    s070_moved_and_overwritten: "a=orig", "mv a b; b=BRAND-NEW" => "b=BRAND-NEW", transfers 2;
    s071_moved_and_made_anew: "a=ORIGINAL", "mv a b; a=FRESH" => "a=FRESH b=ORIGINAL", transfers 2;
    s073_into_new_folders: "a=x", "mv a n/m/o/a" => "n/m/o/a=x", transfers 0;
    s075_a_deep_reshuffle:
        "FolA/FileA=A FolA/FolB/FileB=B FolA/FolB/FolC/FileC=C FolA/FolB/FolC/FolD/FileD=D FolA/FolB/FolC/FolD/FolE/FileE=E",
        "FolA/FileA2=2; FolA/FolB/FileB2=2; FolA/FolB/FolC/FileC2=2; FolA/FolB/FolC/FolD/FileD2=2; \
         FolA/FolB/FolC/FolD/FolE/FileE2=2; mv FolA FolA_R; mv FolA_R/FolB FolB_R; mv FolB_R/FolC FolA; \
         mv FolA/FolD FolA/FolD_R; mkdir FolB_R/New; mv FolA/FolD_R/FolE FolB_R/New/FolE"
        => "FolA_R/FileA=A FolA_R/FileA2=2 FolB_R/FileB=B FolB_R/FileB2=2 FolA/FileC=C FolA/FileC2=2 \
            FolA/FolD_R/FileD=D FolA/FolD_R/FileD2=2 FolB_R/New/FolE/FileE=E FolB_R/New/FolE/FileE2=2", transfers 10;
    s076_a_renamed_folder_with_an_edit: "d/f=old d/g=1", "mv d e; e/f=new" => "e/f=new e/g=1", transfers 2;
    s078_a_tree_made_flat: "a/1=1 a/b/2=2 a/b/c/3=3 a/b/c/d/4=4", "mv a/1 1; mv a/b/2 2; mv a/b/c/3 3; mv a/b/c/d/4 4; rm a"
        => "1=1 2=2 3=3 4=4", transfers 0;
    s123_an_edit_in_a_folder_that_moves: "f1/f=0 f2/", "f1/f=new; mv f1 f2/f1" => "f2/f1/f=new", transfers 2;
    s016_many_moves_in_a_row: "", "1.txt=111; mv 1.txt 2.txt; 3.txt=222; mv 2.txt 3.txt; mkdir test; 4.txt=4; mv 3.txt test/3.txt; \
        mv 4.txt test/4.txt; mkdir test2; mv test test2/test; mv test2/test test; test/4.txt=4555; mv test test2/test; mv test2 test3"
        => "test3/test/3.txt=111 test3/test/4.txt=4555", transfers 4;
    s185_a_mode_bit: "s.sh=1", "chmod s.sh" => "s.sh=1", transfers 0;
    s220_a_touch: "f=1", "touch f" => "f=1", transfers 0;
    a_folder_becomes_its_own_child: "a/b/f=1", "mv a/b t; mv a t/a" => "t/a/ t/f=1", transfers 0;
    parent_and_child_trade_places: "a/a/f=1", "mv a/a t; mv a t/a; mv t a" => "a/a/ a/f=1", transfers 0;
    a_folder_under_the_name_of_its_content: "a=x", "mv a t; mkdir a; mv t a/a" => "a/a=x", transfers 0;
    a_cycle_of_three: "a=1 b=2 c=3", "mv a t; mv c a; mv b c; mv t b" => "a=3 b=1 c=2", transfers 0;
    cycles_across_folders: "d/x=1 e/x=2", "mv d/x t; mv e/x d/x; mv t e/x" => "d/x=2 e/x=1", transfers 0;
    saved_by_writing_anew: "f=old", "save f=new" => "f=new", transfers 2;
    saved_anew_with_equal_bytes: "f=old", "save f=old" => "f=old", transfers 0;
    moved_over_another: "a=A b=BB", "mv a b" => "b=A", transfers 0;
    moved_out_of_what_is_deleted_into_its_name: "d/s=1 d/x=2", "mv d/s t; rm d; mv t d" => "d=1", transfers 0;
}

#[test]
fn a_program_that_saves_anew_keeps_the_node() {
    let mut pair = Pair::with("f=old");
    let before: Vec<_> = pair.service.nodes.keys().copied().collect();
    pair.first.user("save f=new");
    pair.sync();
    assert_eq!(
        before,
        pair.service.nodes.keys().copied().collect::<Vec<_>>()
    );
    assert!(pair.service.trash.is_empty());
}

#[test]
fn s008_a_deleted_folder_is_one_call() {
    let base: Vec<String> = (0..20).map(|i| format!("d/{i}=x{i}")).collect();
    let (pair, steps) = run_alone(&base.join(" "), "rm d");
    assert_eq!(steps.len(), 1);
    assert_eq!(pair.service.deletions, 1);
    check(&pair.second, "");
}

#[test]
fn s061_a_renamed_folder_is_one_move_on_each_side() {
    let base: Vec<String> = (0..100).map(|i| format!("d/{i}=x{i}")).collect();
    let (pair, steps) = run_alone(&base.join(" "), "mv d e");
    assert!(matches!(
        steps.as_slice(),
        [Step::MoveRemote {
            reason: MoveReason::Follow,
            ..
        }]
    ));
    assert_eq!(
        (
            pair.transfers(),
            pair.service.moves,
            pair.second.local_moves
        ),
        (0, 1, 1)
    );
}

#[test]
fn s081_a_renamed_folder_counts_as_no_deletion() {
    let base: Vec<String> = (0..50).map(|i| format!("d/{i}=x{i}")).collect();
    let mut pair = Pair::with(&base.join(" "));
    pair.first.user("mv d e");
    let plan = pair.first.plan(&pair.service);
    assert_eq!(
        (plan.local_deletions, plan.remote_deletions),
        (vec![], vec![])
    );
}

#[test]
fn a_swap_takes_one_temporary_name() {
    let (_, steps) = run_alone("a=A b=BB", "mv a t; mv b a; mv t b");
    let temporary_names = steps.iter().filter(|s| {
        matches!(
            s,
            Step::MoveRemote {
                reason: MoveReason::Temporary,
                ..
            }
        )
    });
    assert_eq!((temporary_names.count(), steps.len()), (1, 3));
}

#[test]
fn an_unchanged_tree_needs_nothing() {
    let mut pair = Pair::with("a=1 d/e/f=2");
    assert_eq!(pair.first.plan(&pair.service), cairn_plan::Plan::default());
}

#[test]
fn two_hundred_clashes_keep_everything() {
    let mut pair = Pair::with("");
    for i in 0..200 {
        pair.first.user(&format!("d/f{i}=A{i}"));
        pair.second.user(&format!("d/f{i}=BB{i}"));
    }
    pair.sync();
    let bytes: Vec<String> = pair.first.paths().into_values().flatten().collect();
    assert_eq!(bytes.len(), 400);
    assert!(
        (0..200).all(|i| bytes.contains(&format!("A{i}")) && bytes.contains(&format!("BB{i}")))
    );
}

/// Something else than a device puts a new node under the name of an old one.
fn replace(pair: &mut Pair, name: &str, bytes: Option<&str>) {
    let old = pair
        .service
        .nodes
        .values()
        .find(|n| n.name.as_str() == name)
        .unwrap()
        .clone();
    pair.service.delete(old.id).unwrap();
    pair.service
        .create(old.parent, &old.name, bytes.map(|b| (b, false)))
        .unwrap();
}

#[test]
fn a_file_replaced_on_the_service_is_followed_without_a_copy() {
    let mut pair = Pair::with("f=old");
    replace(&mut pair, "f", Some("new"));
    pair.sync();
    check(&pair.first, "f=new");
    assert_eq!(pair.first.trash, ["old"]);
}

#[test]
fn a_file_replaced_by_equal_bytes_is_only_linked() {
    let mut pair = Pair::with("f=old");
    replace(&mut pair, "f", Some("old"));
    pair.sync();
    check(&pair.first, "f=old");
    assert_eq!(pair.transfers(), 0);
}

#[test]
fn a_folder_replaced_on_the_service_keeps_what_is_new_here() {
    let mut pair = Pair::with("d/a=1 d/b=2");
    replace(&mut pair, "d", None);
    pair.first.user("d/c=3; d/b=22");
    pair.sync();
    check(&pair.second, "d/b=22 d/c=3");
}
