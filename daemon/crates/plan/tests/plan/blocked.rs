//! Blocked nodes (that get no step) stay as they are; deletions that wait for consent delete nothing.

use crate::scenario::{Pair, check};
use cairn_model::{Kind, SyncMode};
use cairn_plan::{Deletion, Step};

/// The second device follows; both come to rest. The first may keep what is blocked.
fn come_to_rest(pair: &mut Pair) {
    pair.sync();
    assert!(pair.first.plan(&pair.service).steps.is_empty());
    assert!(pair.second.plan(&pair.service).steps.is_empty());
}

#[test]
fn s170_what_is_ignored_waits_and_goes_on_later() {
    let mut pair = Pair::with("f=v1");
    pair.first.user("block f; f=v2");
    come_to_rest(&mut pair);
    check(&pair.second, "f=v1");
    pair.first.user("unblock f");
    come_to_rest(&mut pair);
    check(&pair.second, "f=v2");
}

#[test]
fn s171_a_new_rule_removes_nothing_anywhere() {
    let mut pair = Pair::with("f=x d/g=y");
    pair.first.user("block f; block d");
    come_to_rest(&mut pair);
    check(&pair.first, "f=x d/g=y");
    check(&pair.second, "f=x d/g=y");
}

#[test]
fn s173_what_moves_into_an_ignored_folder_leaves_the_others() {
    let mut pair = Pair::with("a=1 b=2");
    pair.first.user("mkdir build; block build; mv a build/a");
    come_to_rest(&mut pair);
    check(&pair.first, "build/a=1 b=2");
    check(&pair.second, "b=2");
    assert!(
        pair.service
            .nodes
            .values()
            .all(|n| n.name.as_str() != "build")
    );
}

#[test]
fn a_folder_that_moves_into_an_ignored_one_leaves_with_all_in_it() {
    let mut pair = Pair::with("d/e/f=1 d/g=2 k=3");
    pair.first.user("mkdir build; block build; mv d build/d");
    come_to_rest(&mut pair);
    check(&pair.second, "k=3");
    check(&pair.first, "build/d/e/f=1 build/d/g=2 k=3");
    assert_eq!(pair.service.deletions, 1);
}

#[test]
fn what_moves_and_can_not_be_read_for_now_has_not_left() {
    for to in ["d/f", "g"] {
        let mut pair = Pair::with("f=1 d/h=2");
        pair.first.user(&format!("mv f {to}; unreadable {to}"));
        come_to_rest(&mut pair);
        check(&pair.second, "f=1 d/h=2");
        pair.first.user(&format!("readable {to}"));
        come_to_rest(&mut pair);
        check(&pair.second, &format!("{to}=1 d/h=2"));
        assert_eq!(pair.service.deletions, 0, "{to}");
    }
}

#[test]
fn a_backup_under_an_ignored_name_does_not_stop_the_file() {
    let mut pair = Pair::with("f=old");
    pair.first.user("mv f f~; block f~; f=new");
    let nodes: Vec<_> = pair.service.nodes.keys().copied().collect();
    come_to_rest(&mut pair);
    check(&pair.first, "f=new f~=old");
    check(&pair.second, "f=new");
    assert_eq!(
        nodes,
        pair.service.nodes.keys().copied().collect::<Vec<_>>()
    );
}

#[test]
fn s181_a_file_replaced_by_something_that_cannot_sync_is_kept() {
    let mut pair = Pair::with("f=x d/g=y");
    pair.first
        .user("save f=link; block f; rm d; d=link; block d");
    come_to_rest(&mut pair);
    check(&pair.second, "f=x d/g=y");
}

#[test]
fn a_deleted_folder_waits_for_the_ignored_file_in_it() {
    let mut pair = Pair::with("d/f=1 d/e/g=2");
    pair.first.user("d/e/log=mine; block d/e/log");
    pair.second.user("rm d");
    pair.second.sync(&mut pair.service);
    pair.first.sync(&mut pair.service);
    check(&pair.first, "d/e/log=mine");
    assert!(pair.service.nodes.is_empty());
    assert!(pair.first.plan(&pair.service).steps.is_empty());
    pair.first.user("rm d/e/log");
    come_to_rest(&mut pair);
    check(&pair.first, "");
}

#[test]
fn rules_stay_with_a_deleted_folder_that_stays() {
    let mut pair = Pair::with("d/.cairnignore=r d/f=1");
    pair.first.user("d/log=mine; block d/log");
    pair.second.user("rm d");
    pair.second.sync(&mut pair.service);
    pair.first.sync(&mut pair.service);
    check(&pair.first, "d/.cairnignore=r d/log=mine");
    assert!(pair.service.nodes.is_empty());
    pair.first.user("rm d/log");
    come_to_rest(&mut pair);
    check(&pair.first, "");
}

#[test]
fn rules_stay_with_a_deleted_folder_that_an_edit_keeps() {
    for deleted_first in [true, false] {
        let mut pair = Pair::with("d/.cairnignore=r d/f=1 d/g=2");
        let (one, other) = match deleted_first {
            true => ("rm d", "d/f=edited"),
            false => ("d/f=edited", "rm d"),
        };
        pair.first.user(one);
        pair.second.user(other);
        pair.sync();
        check(&pair.first, "d/.cairnignore=r d/f=edited");
        check(&pair.second, "d/.cairnignore=r d/f=edited");
    }
}

#[test]
fn rules_that_are_deleted_alone_go() {
    let mut pair = Pair::with("d/.cairnignore=r d/f=1");
    pair.second.user("rm d/.cairnignore");
    pair.first.user("d/f=edited");
    pair.sync();
    check(&pair.first, "d/f=edited");
    check(&pair.second, "d/f=edited");
}

#[test]
fn a_file_whose_folder_has_left_alone_goes_on_where_it_has_stayed() {
    let mut pair = Pair::with("d/f=1");
    let mut folders = pair.first.synced.values();
    let folder = folders.find(|base| base.kind == Kind::Folder).unwrap().node;
    pair.second.user("mv d x");
    pair.second.sync(&mut pair.service);
    // An earlier plan, which knew nothing of the file, has kept the folder here for something else.
    pair.first.unselected.insert(folder);
    pair.first.synced.remove(&folder);
    come_to_rest(&mut pair);
    check(&pair.first, "d/f=1");
    check(&pair.second, "d/f=1 x/f=1");
}

#[test]
fn a_newcomer_waits_for_a_name_that_is_blocked() {
    let mut pair = Pair::with("a=1");
    pair.first.user("x=mine; block x");
    pair.second.user("x=theirs; d/y=2");
    come_to_rest(&mut pair);
    check(&pair.first, "a=1 d/y=2 x=mine");
    check(&pair.second, "a=1 d/y=2 x=theirs");
    pair.first.user("mv x z");
    come_to_rest(&mut pair);
    check(&pair.first, "a=1 d/y=2 x=theirs z=mine");
}

#[test]
fn what_belongs_into_a_folder_that_waits_waits_too() {
    let mut pair = Pair::with("m=1");
    pair.first.user("x=mine; block x");
    pair.second.user("x/in=2; mv m x/m");
    come_to_rest(&mut pair);
    check(&pair.first, "m=1 x=mine");
    pair.first.user("rm x");
    come_to_rest(&mut pair);
    check(&pair.first, "x/m=1 x/in=2");
}

#[test]
fn s186_a_rename_above_an_unselected_folder_leaves_it_alone() {
    let mut pair = Pair::with("p/a/f=1 p/b/g=2");
    unselect(&mut pair, "a");
    pair.first.user("mv p q");
    pair.first.sync(&mut pair.service);
    pair.second.sync(&mut pair.service);
    check(&pair.second, "q/b/g=2");
    check(&pair.first, "q/a/f=1 q/b/g=2");
    assert!(pair.second.plan(&pair.service).steps.is_empty());
    assert!(pair.first.plan(&pair.service).steps.is_empty());
}

#[test]
fn deleting_a_folder_leaves_what_this_device_never_had() {
    let mut pair = Pair::with("p/a/f=1 p/b/g=2");
    unselect(&mut pair, "a");
    pair.second.user("rm p");
    come_to_rest(&mut pair);
    check(&pair.first, "p/a/f=1");
    check(&pair.second, "");
}

#[test]
fn what_takes_the_name_of_a_folder_that_stays_for_what_this_device_never_had_gets_another_one() {
    for (script, there) in [
        ("rm p; mv o p", "CC(p)/h=3 p/a/f=1"),
        ("rm p; p=mine", "CC(p)=mine o/h=3 p/a/f=1"),
        ("rm p; mv k p", "CC(p)=4 o/h=3 p/a/f=1"),
    ] {
        let mut pair = Pair::with("p/a/f=1 p/b/g=2 o/h=3 k=4");
        unselect(&mut pair, "a");
        pair.second.user(script);
        come_to_rest(&mut pair);
        let kept = if script.contains('k') { "" } else { " k=4" };
        check(&pair.first, &format!("{there}{kept}"));
        let here = there.replace(" p/a/f=1", "");
        check(&pair.second, &format!("{here}{kept}"));
    }
}

#[test]
fn what_takes_the_name_of_what_this_device_leaves_out_gets_another_one() {
    for (script, changed) in [
        ("x=mine", "CC(x)=mine o/h=3 k=4"),
        ("x=2", "CC(x)=2 o/h=3 k=4"),
        ("x/new=mine", "CC(x)/new=mine o/h=3 k=4"),
        ("q=mine", "CC(q)=mine o/h=3 k=4"),
        ("q/f=mine", "CC(q)/f=mine o/h=3 k=4"),
        ("mv k x", "CC(x)=4 o/h=3"),
        ("mv o q", "CC(q)/h=3 k=4"),
        ("q=mine; o/q=other", "CC(q)=mine o/h=3 o/q=other k=4"),
    ] {
        let mut pair = Pair::with("q/f=1 x=2 o/h=3 k=4");
        unselect(&mut pair, "q");
        unselect(&mut pair, "x");
        pair.second.user(script);
        come_to_rest(&mut pair);
        check(&pair.second, changed);
        check(&pair.first, &format!("q/f=1 x=2 {changed}"));
    }
}

#[test]
fn what_a_device_that_only_sends_has_in_place_of_what_it_leaves_out_waits() {
    let mut pair = Pair::with("x=2");
    unselect(&mut pair, "x");
    pair.second.policy.mode = SyncMode::Upload;
    pair.second.user("x=mine");
    come_to_rest(&mut pair);
    check(&pair.second, "x=mine");
    check(&pair.first, "x=2");
}

#[test]
fn what_takes_the_name_of_a_folder_whose_deletion_waits_waits_too() {
    let mut pair = Pair::with("p/a/f=1 p/b/g=2 o/h=3");
    unselect(&mut pair, "a");
    pair.second.user("rm p; mv o p");
    pair.second.policy.block_remote_deletions = true;
    come_to_rest(&mut pair);
    check(&pair.first, "p/a/f=1 p/b/g=2 o/h=3");
    check(&pair.second, "p/h=3");
}

#[test]
fn a_new_folder_is_the_one_of_its_name_that_stays_for_what_this_device_never_had() {
    let mut pair = Pair::with("p/a/f=1 p/b/g=2");
    unselect(&mut pair, "a");
    pair.second.user("rm p; p/new=3");
    come_to_rest(&mut pair);
    check(&pair.first, "p/a/f=1 p/new=3");
    check(&pair.second, "p/new=3");
}

/// Does the work of the second device when a person unselects a folder.
fn unselect(pair: &mut Pair, name: &str) {
    let node = pair.service.node_named(name);
    let local = pair.second.synced[&node].local;
    let gone = pair.second.remove(local);
    pair.second.synced.retain(|_, s| !gone.contains(&s.local));
    pair.second.unselected.insert(node);
    pair.second.trash.clear();
    assert!(pair.second.plan(&pair.service).steps.is_empty());
}

#[test]
fn what_moves_out_of_the_selection_leaves_the_disk() {
    let mut pair = Pair::with("p/f=1 q/g=2");
    unselect(&mut pair, "q");
    pair.first.user("mv p/f q/f");
    pair.first.sync(&mut pair.service);
    pair.second.sync(&mut pair.service);
    check(&pair.second, "p/");
    check(&pair.first, "p/ q/f=1 q/g=2");
    assert_eq!(pair.second.trash, ["1"]);
}

#[test]
fn what_is_renamed_to_where_nothing_is_selected_leaves_the_disk_and_comes_back() {
    let mut pair = Pair::with("p/d/f=1 p/g=2");
    let node = pair.service.node_named("d");
    pair.first.user("mv p/d p/ex");
    pair.first.sync(&mut pair.service);
    pair.second.unselected.insert(node);
    pair.second.sync(&mut pair.service);
    check(&pair.second, "p/g=2");
    check(&pair.first, "p/ex/f=1 p/g=2");
    assert!(pair.second.plan(&pair.service).steps.is_empty());
    pair.first.user("mv p/ex p/d");
    pair.first.sync(&mut pair.service);
    pair.second.unselected.clear();
    come_to_rest(&mut pair);
    check(&pair.second, "p/d/f=1 p/g=2");
}

#[test]
fn what_is_edited_here_while_it_leaves_the_selection_is_kept() {
    let mut pair = Pair::with("f=1 g=2");
    let node = pair.service.node_named("f");
    pair.first.user("mv f f.big");
    pair.first.sync(&mut pair.service);
    pair.second.unselected.insert(node);
    pair.second.user("f=mine");
    come_to_rest(&mut pair);
    check(&pair.second, "f=mine g=2");
    check(&pair.first, "f=mine f.big=1 g=2");
}

fn files(deletions: &[Deletion]) -> usize {
    let is_file = |deletion: &&Deletion| deletion.kind == Kind::File;
    deletions.iter().filter(is_file).count()
}

#[test]
fn s190_deletions_wait_and_all_else_goes_on() {
    let base: Vec<String> = (0..100).map(|i| format!("d{}/{i}=x{i}", i % 7)).collect();
    let mut pair = Pair::with(&base.join(" "));
    let all: Vec<String> = (0..7).map(|i| format!("rm d{i}")).collect();
    pair.first.user(&all.join("; "));
    pair.first.user("new=n; d1/sub/x=y");
    assert_eq!(files(&pair.first.plan(&pair.service).remote_deletions), 100);
    pair.first.policy.block_remote_deletions = true;
    assert_eq!(files(&pair.first.plan(&pair.service).remote_deletions), 100);
    come_to_rest(&mut pair);
    assert_eq!(pair.service.deletions, 0);
    let paths = pair.second.paths();
    assert_eq!(paths.values().flatten().count(), 102);
    assert!(
        paths.contains_key("new") && paths.contains_key("d1/sub/x") && paths.contains_key("d1/1")
    );
    pair.first.policy.block_remote_deletions = false;
    come_to_rest(&mut pair);
    check(&pair.second, "d1/sub/x=y new=n");
}

#[test]
fn deletions_from_the_service_wait_as_well() {
    let mut pair = Pair::with("d/a=1 d/b=2 c=3");
    pair.second.policy.block_local_deletions = true;
    pair.first.user("rm d; d=file; rm c; e=5");
    pair.first.sync(&mut pair.service);
    let plan = pair.second.plan(&pair.service);
    assert_eq!(files(&plan.local_deletions), 3);
    assert_eq!(
        plan.local_deletions.len(),
        4,
        "the folder that goes with them is named, too"
    );
    assert_eq!(plan.remote_deletions, []);
    come_to_rest(&mut pair);
    check(&pair.second, "c=3 d/a=1 d/b=2 e=5");
    check(&pair.first, "d=file e=5");
    pair.second.policy.block_local_deletions = false;
    come_to_rest(&mut pair);
    check(&pair.second, "d=file e=5");
}

#[test]
fn a_move_out_of_a_folder_whose_deletion_waits_is_made() {
    let mut pair = Pair::with("d/a=1 d/b=2");
    pair.first.policy.block_remote_deletions = true;
    pair.first.user("mv d/a a; rm d");
    let steps = pair.first.plan(&pair.service).steps;
    assert!(
        matches!(steps.as_slice(), [Step::MoveRemote { .. }]),
        "{steps:?}"
    );
    come_to_rest(&mut pair);
    check(&pair.second, "a=1 d/b=2");
}

#[test]
fn contents_that_wait_leave_both_sides_as_they_are_and_all_else_goes_on() {
    let mut pair = Pair::with("d/a=1 b=2 c=3");
    let held = ["a", "b"].map(|name| pair.service.node_named(name));
    pair.first.policy.held = held.into();
    pair.first
        .user("d/a=locked; mv d/a d/a.locked; b=locked; c=4; e=5");
    come_to_rest(&mut pair);
    check(&pair.second, "d/a=1 b=2 c=4 e=5");
    check(&pair.first, "d/a.locked=locked b=locked c=4 e=5");
    pair.first.policy.held.clear();
    come_to_rest(&mut pair);
    check(&pair.second, "d/a.locked=locked b=locked c=4 e=5");
}

#[test]
fn a_deletion_in_favour_of_another_file_waits_as_well() {
    let mut pair = Pair::with("d/a=1 b=2");
    pair.first.policy.held = [pair.service.node_named("a")].into();
    pair.first.user("rm d/a; d/a.locked=locked; rm b");
    let plan = pair.first.plan(&pair.service);
    assert_eq!(files(&plan.remote_deletions), 2, "both are counted");
    come_to_rest(&mut pair);
    check(&pair.second, "d/a=1 d/a.locked=locked");
    pair.first.policy.held.clear();
    come_to_rest(&mut pair);
    check(&pair.second, "d/a.locked=locked");
}
