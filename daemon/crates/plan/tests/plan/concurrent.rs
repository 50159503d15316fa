//! Both devices change something: edits, creations, deletions and moves that meet.

use crate::scenario::{Pair, check, meet, rows};
use cairn_model::{ConflictKind, Name};
use cairn_plan::{MoveReason, Step};

rows! {
    s020_same_file_made_twice_is_one: "", "f=content", "f=content" => "f=content", transfers 1;
    s021_creations_with_other_bytes_are_both_kept: "", "f.txt=A", "f.txt=BB"
        => "f.txt=A CC(f.txt)=BB", swapped "f.txt=BB CC(f.txt)=A";
    s022_the_first_edit_keeps_the_name: "f.txt=v0", "f.txt=A-edit", "f.txt=B-edit!!"
        => "f.txt=A-edit CC(f.txt)=B-edit!!", swapped "f.txt=B-edit!! CC(f.txt)=A-edit", transfers 4;
    edits_of_equal_size_still_conflict: "f=v0", "f=v1", "f=v2" => "f=v1 CC(f)=v2", swapped "f=v2 CC(f)=v1";
    s023_same_edit_twice_is_sent_once: "f=v0", "f=same", "f=same" => "f=same", transfers 1;
    s025_new_files_in_one_folder_are_joined: "dir/old=o", "rm dir/old; dir/l=L", "rm dir/old; dir/r=R"
        => "dir/l=L dir/r=R", swapped "dir/l=L dir/r=R";
    s030_many_changes_at_once:
        "f1=v0 f2=v0 f3=v0 f4=v0 f5=v0 f6=v0 f7=v0 f8=v0",
        "f2=A2; rm f4; f5=A5; rm f6; f7=A7; rm f8; f11=A11",
        "f1=B1; rm f3; f5=B5x; f6=B6; rm f7; rm f8; f10=B10"
        => "f1=B1 f2=A2 f5=A5 CC(f5)=B5x f6=B6 f7=A7 f10=B10 f11=A11";
    two_new_folders_merge: "", "d/a=1; d/s=x", "d/b=2; d/s=x" => "d/a=1 d/b=2 d/s=x", swapped "d/a=1 d/b=2 d/s=x", transfers 5;
    new_folders_merge_in_depth: "", "d/e/a=1", "d/e/b=2; d/e/a=7" => "d/e/a=1 d/e/CC(a)=7 d/e/b=2";

    s040_edit_beats_deletion: "a=v1", "a=edited-longer", "rm a" => "a=edited-longer", swapped "a=edited-longer";
    s041_deleted_twice_is_gone: "a=x", "rm a", "rm a" => "";
    s043_edit_of_equal_size_beats_deletion: "a=aaaa", "a=bbbb", "rm a" => "a=bbbb", swapped "a=bbbb";
    s045_a_new_child_keeps_its_folder: "A/a1=1 A/a2=2", "rm A", "A/hello.txt=h"
        => "A/hello.txt=h", swapped "A/hello.txt=h";
    s046_a_new_child_keeps_all_folders_above: "a/b/c/f=f", "rm a", "a/b/c/new=n"
        => "a/b/c/new=n", swapped "a/b/c/new=n";
    s048_a_file_made_anew_survives: "a=v1", "rm a; a=fresh", "rm a" => "a=fresh", swapped "a=fresh";
    an_edited_child_keeps_its_folder: "d/f=0 d/g=1", "rm d", "d/f=new" => "d/f=new", swapped "d/f=new";
    a_touch_never_beats_a_deletion: "a=v1", "touch a", "rm a" => "", swapped "", transfers 0;
    a_bit_never_beats_a_deletion: "a=v1", "chmod a", "rm a" => "", swapped "", transfers 0;
    bits_and_edits_compose: "s=1", "chmod s", "s=22" => "s=22", swapped "s=22", transfers 2;

    s090_move_beats_deletion: "a=data", "mv a b", "rm a" => "b=data", swapped "b=data";
    s091_move_and_edit_compose: "f=old", "mv f g", "f=new" => "g=new", swapped "g=new", transfers 2;
    s093_the_same_move_twice: "f=x d/", "mv f d/f", "mv f d/f" => "d/f=x", transfers 0;
    s095_move_onto_a_new_file: "m=M", "n=N", "mv m n" => "n=N CC(n)=M", swapped "n=M CC(n)=N";
    s096_folders_moved_into_each_other: "X/x=1 Y/y=2", "mv X Y/X", "mv Y X/Y"
        => "Y/y=2 Y/X/x=1", swapped "X/x=1 X/Y/y=2", transfers 0;
    s098_renamed_folder_with_a_deleted_file: "d/f=1 d/g=2", "mv d e", "rm d/f" => "e/g=2", swapped "e/g=2";
    s100_renamed_folder_with_changes_inside: "d/a=0 d/b=1 d/c=2", "mv d e", "d/a=N; rm d/b"
        => "e/a=N e/c=2", swapped "e/a=N e/c=2", transfers 2;
    s101_edits_of_one_file_in_a_renamed_folder: "d/f=0", "mv d e; e/f=A", "d/f=BB"
        => "e/f=A e/CC(f)=BB", swapped "e/f=BB e/CC(f)=A";
    s103_moves_at_two_levels_with_an_edit: "a/b/f=0", "mv a A2; A2/b/f=E", "mv a/b a/B2"
        => "A2/B2/f=E", swapped "A2/B2/f=E", transfers 2;
    s105_a_file_leaves_a_renamed_folder: "dir/a=1 dir/keep=2", "mv dir dir2", "mv dir/a a"
        => "a=1 dir2/keep=2", swapped "a=1 dir2/keep=2", transfers 0;
    s106_moves_into_a_renamed_folder: "d/f=1 o=2 s/t=3", "mv d e", "mv o d/o; mv s d/s"
        => "e/f=1 e/o=2 e/s/t=3", swapped "e/f=1 e/o=2 e/s/t=3", transfers 0;
    s108_a_folder_renamed_twice_with_edits: "p/a=AAA p/b=BBB", "mv p PL; PL/a=A2", "mv p PR; PR/b=B2"
        => "PL/a=A2 PL/b=B2", swapped "PR/a=A2 PR/b=B2", transfers 4;
    s110_move_over_a_file_that_is_moved_away: "a=AAAA b=BBBBBB", "mv a b", "mv b c"
        => "b=AAAA c=BBBBBB", swapped "b=AAAA c=BBBBBB";
    s111_moving_a_folder_saves_what_was_in_it: "D/c=1", "rm D", "mv D E" => "E/c=1", swapped "E/c=1";
    s113_a_file_saved_out_of_a_deleted_folder: "d/a=1", "rm d", "mv d/a a" => "a=1", swapped "a=1";
    s115_a_subfolder_renamed_in_a_deleted_folder: "a/b/c=1 a/b/d=2 a/other=3", "mv a/b a/B", "rm a"
        => "a/B/c=1 a/B/d=2", swapped "a/B/c=1 a/B/d=2";
    s116_a_subfolder_deleted_in_a_renamed_folder: "a/b/f=1 a/g=2", "mv a A2", "rm a/b" => "A2/g=2", swapped "A2/g=2", transfers 0;
    s118_move_over_a_deleted_file: "a=AAAA b=BB", "mv a b", "rm b" => "b=AAAA", swapped "b=AAAA", transfers 0;
    s120_renames_at_two_levels: "p/a=1 p/b=2", "mv p P2; mv P2/a P2/a2", "mv p/b p/b2"
        => "P2/a2=1 P2/b2=2", swapped "P2/a2=1 P2/b2=2", transfers 0;
    s121_edit_against_move_and_edit: "a=orig", "a=LOCAL", "mv a b; b=REMOTE-2"
        => "b=LOCAL CC(b)=REMOTE-2", swapped "b=REMOTE-2 CC(b)=LOCAL";
    an_edit_against_a_move_to_another_folder_and_an_edit: "a=orig d/x=1", "a=LOCAL", "mv a d/b; d/b=REMOTE-2"
        => "d/b=LOCAL d/CC(b)=REMOTE-2 d/x=1", swapped "d/b=REMOTE-2 d/CC(b)=LOCAL d/x=1";
    two_moves_and_edits_of_one_file: "a=orig", "mv a b; b=LOCAL", "mv a c; c=REMOTE-2"
        => "b=LOCAL CC(b)=REMOTE-2", swapped "c=REMOTE-2 CC(c)=LOCAL";
    an_edit_against_a_move_and_edit_to_a_name_that_is_taken: "a=orig", "a=LOCAL; b=NEW", "mv a b; b=REMOTE-2"
        => "b=NEW CC(b)=LOCAL CC(b)=REMOTE-2", swapped "b=REMOTE-2 CC(b)=LOCAL CC(b)=NEW";
    two_moves_of_one_node_leave_one_copy: "a=1", "mv a b", "mv a c" => "b=1", swapped "c=1", transfers 0;
    two_moves_to_one_name: "a=A b=B", "mv a c", "mv b c" => "c=A CC(c)=B", swapped "c=B CC(c)=A", transfers 0;
    three_folders_moved_into_a_cycle: "A/1=1 B/2=2 C/3=3", "mv A B/A", "mv C A/C; mv B A/C/B"
        => "B/2=2 B/A/1=1 C/3=3", transfers 0;
    a_folder_moved_into_one_that_is_deleted: "d/f=1 e/g=2", "rm e", "mv d e/d" => "e/d/f=1", swapped "e/d/f=1";
    swaps_on_both_sides: "a=A b=BB", "mv a t; mv b a; mv t b", "mv a t; mv b a; mv t b" => "a=BB b=A", transfers 0;
    a_swap_against_a_deletion: "a=A b=BB", "mv a t; mv b a; mv t b", "rm a" => "a=BB b=A";
    a_chain_of_renames_meets_a_new_file: "a=1 b=2 c=3", "mv c d; mv b c; mv a b", "a=9" => "b=9 c=2 d=3", swapped "b=9 c=2 d=3";
    made_anew_and_renamed_elsewhere: "d/f=1", "rm d; d/f=2", "mv d e" => "e/f=2", swapped "d/f=2 e/f=1";
    a_folder_made_anew_meets_a_new_child: "d/f=1", "rm d; d/g=2", "d/h=3" => "d/g=2 d/h=3", swapped "d/g=2 d/h=3";
}

#[test]
fn s028_a_removed_conflict_copy_is_gone_everywhere() {
    let mut pair = meet("f.txt=v0", "f.txt=A", "f.txt=BB");
    let copy = pair
        .first
        .paths()
        .into_keys()
        .find(|p| p.contains("conflicted"))
        .unwrap();
    let id = pair
        .first
        .local
        .values()
        .find(|n| n.name.as_str() == copy)
        .unwrap()
        .id;
    pair.first.remove(id);
    pair.sync();
    check(&pair.second, "f.txt=A");
}

#[test]
fn s026_two_full_folders_are_united() {
    let mut pair = Pair::with("");
    pair.first.user("f1=a; same=s; onlyA=x");
    pair.second.user("f1=b; same=s; onlyB=y");
    pair.sync();
    check(&pair.second, "f1=a CC(f1)=b same=s onlyA=x onlyB=y");
    assert_eq!(pair.first.paths(), pair.second.paths());
}

#[test]
fn s195_a_lost_index_deletes_nothing_and_sends_nothing_twice() {
    let mut pair = Pair::with("d/f=1 d/g=22 h=3");
    pair.first.synced.clear();
    for node in pair.first.local.values_mut() {
        node.hash = None;
    }
    pair.first.user("fresh=new");
    pair.sync();
    check(&pair.second, "d/f=1 d/g=22 h=3 fresh=new");
    assert_eq!(pair.transfers(), 2);
    pair.first.assert_equal_to(&pair.service);
}

/// The service is back at an older state of `d/f`, and no device remembers what was agreed on.
fn restored_pair() -> Pair {
    let mut pair = Pair::with("d/f=1 d/g=2");
    let old = pair.service.clone();
    pair.first.user("d/f=later");
    pair.sync();
    pair.service = old;
    for device in [&mut pair.first, &mut pair.second] {
        device.synced.clear();
    }
    pair.forget_counts();
    pair
}

#[test]
fn s196_of_a_restored_service_one_device_makes_the_copy_and_the_others_find_it() {
    let mut pair = restored_pair();
    pair.sync();
    check(&pair.first, "d/f=1 d/g=2 d/CC(f)=later");
    assert_eq!(pair.first.paths(), pair.second.paths());
    pair.second.assert_equal_to(&pair.service);
    assert_eq!(
        (pair.first.transfers, pair.second.transfers),
        (2, 1),
        "the copy goes up once, and nobody fetches it"
    );
}

#[test]
fn a_copy_with_other_bytes_is_another_s() {
    let mut pair = restored_pair();
    pair.second.user("d/f=mine");
    pair.sync();
    check(&pair.second, "d/f=1 d/g=2 d/CC(f)=later d/CC(f)=mine");
    assert_eq!(pair.first.paths(), pair.second.paths());
}

#[test]
fn two_that_made_the_same_copy_at_once_made_one() {
    let mut pair = restored_pair();
    pair.first.sync(&mut pair.service);
    // The second has renamed its version, too, and finds the name taken when it wants to send it.
    let copy = Name::new("f").unwrap();
    let copy = copy.conflict_copy("first", "2026-01-02 030405", 0);
    let later = pair.second.find("d/f").unwrap();
    pair.second.local.get_mut(&later).unwrap().name = copy;
    pair.sync();
    check(&pair.second, "d/f=1 d/g=2 d/CC(f)=later");
    assert_eq!(pair.first.paths(), pair.second.paths());
    assert_eq!(pair.second.transfers, 1, "only the old version comes");
}

#[test]
fn a_copy_that_stands_here_beside_the_file_stays_that_copy() {
    for file_first in [true, false] {
        let mut pair = restored_pair();
        pair.first.sync(&mut pair.service);
        let copy = Name::new("f").unwrap();
        let copy = copy.conflict_copy("first", "2026-01-02 030405", 0);
        // Both have the bytes of the copy; which was there first must not matter.
        pair.second.user("d/x=later");
        let (file, other) = (pair.second.find("d/f"), pair.second.find("d/x"));
        let (file, other) = (file.unwrap(), other.unwrap());
        let (renamed, kept) = if file_first {
            (other, file)
        } else {
            (file, other)
        };
        pair.second.local.get_mut(&renamed).unwrap().name = copy;
        pair.second.local.get_mut(&kept).unwrap().name = Name::new("f").unwrap();
        pair.sync();
        check(&pair.second, "d/f=1 d/g=2 d/CC(f)=later d/CC(f)=later");
        assert_eq!(pair.first.paths(), pair.second.paths());
        pair.second.assert_equal_to(&pair.service);
    }
}

#[test]
fn a_folder_that_only_sends_takes_no_copy_for_its_file() {
    let mut pair = restored_pair();
    pair.first.sync(&mut pair.service);
    pair.second.policy.mode = cairn_model::SyncMode::Upload;
    pair.second.sync(&mut pair.service);
    let file = pair.second.find("d/f").unwrap();
    assert_eq!(pair.second.node_of(file), None, "it is linked to the copy");
}

#[test]
fn conflicts_are_listed_with_both_paths() {
    let mut pair = Pair::with("d/f.txt=v0");
    pair.first.user("d/f.txt=one");
    pair.first.sync(&mut pair.service);
    pair.second.user("d/f.txt=other");
    let trees = pair.second.trees(&pair.service);
    let base = trees.synced.values().find_map(|synced| synced.revision);
    let plan = pair.second.plan(&pair.service);
    let [conflict] = plan.conflicts.as_slice() else {
        panic!("one conflict: {:?}", plan.conflicts)
    };
    assert_eq!(conflict.kind, ConflictKind::Edit);
    assert!(conflict.base.is_some());
    assert_eq!(conflict.base, base);
    assert_eq!(conflict.path.to_string(), "d/f.txt");
    assert_eq!(
        conflict.copy_path.to_string(),
        "d/f (conflicted copy second 2026-01-02 030405).txt"
    );
    assert_eq!(Some(conflict.copy), pair.second.find("d/f.txt"));
    assert!(
        conflict
            .node
            .is_some_and(|n| pair.service.nodes.contains_key(&n))
    );
}

#[test]
fn what_lost_a_cycle_of_moves_is_put_back() {
    let mut pair = Pair::with("X/x=1 Y/y=2");
    pair.first.user("mv X Y/X");
    pair.first.sync(&mut pair.service);
    pair.second.user("mv Y X/Y");
    let steps = pair.second.plan(&pair.service).steps;
    let reasons: Vec<Option<MoveReason>> = steps
        .iter()
        .map(|s| {
            if let Step::MoveLocal { reason, .. } = s {
                Some(*reason)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(
        reasons,
        [Some(MoveReason::PutBack), Some(MoveReason::Follow)]
    );
}
