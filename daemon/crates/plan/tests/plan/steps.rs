//! The order of steps, partial snapshots, and what an interrupted swap leaves behind.

use crate::scenario::{Pair, check};
use cairn_model::is_temporary_name;
use cairn_plan::{MoveReason, Parent, Step, reconcile};

/// One letter for each kind of step, in order.
fn kinds(steps: &[Step]) -> String {
    let kind = |step: &Step| match step {
        Step::Adopt { .. } => 'A',
        Step::Forget { .. } => 'f',
        Step::Unlink { .. } => 'u',
        Step::CreateLocalFolder { .. } => 'c',
        Step::CreateRemoteFolder { .. } => 'C',
        Step::RestoreRemote { .. } => 'R',
        Step::MoveLocal { .. } => 'm',
        Step::MoveRemote { .. } => 'M',
        Step::SetLocalExecutable { .. } => 'x',
        Step::SetRemoteExecutable { .. } => 'X',
        Step::Download { .. } => 'd',
        Step::Upload { .. } => 'U',
        Step::TrashLocal { .. } => 't',
        Step::TrashRemote { .. } => 'T',
    };
    steps.iter().map(kind).collect()
}

fn second_steps(base: &str, first: &str, second: &str) -> (Pair, Vec<Step>) {
    let mut pair = Pair::with(base);
    pair.first.user(first);
    pair.first.sync(&mut pair.service);
    pair.second.user(second);
    let steps = pair.second.plan(&pair.service).steps;
    (pair, steps)
}

#[test]
fn the_order_of_the_whole() {
    let (_, steps) = second_steps(
        "gone=1 mine=1 theirs=1 bit=1 here=1 there=1 edit=1 twice=1",
        "rm gone; mv theirs t2; chmod bit; rm here; edit=22; new/a=1; twice=22; both/x=1",
        "rm gone; mv mine m2; rm there; here2/b=1; twice=22; both/y=1",
    );
    // Forget; the folder that is one; new folders and moves here, then there; the bit; the file
    // that is one; transfers; deletions.
    assert_eq!(kinds(&steps), "fAmcMCxAdUUddtT");
}

#[test]
fn the_bit_of_an_equal_file_comes_from_the_service_only_under_a_seal() {
    for (is_sealed, expected) in [(true, "xA"), (false, "XA")] {
        let mut pair = Pair::with("");
        pair.first.user("a=1");
        pair.first.sync(&mut pair.service);
        for node in pair.service.nodes.values_mut() {
            node.is_executable_sealed = is_sealed;
        }
        pair.second.user("a=1; chmod a");
        let steps = pair.second.plan(&pair.service).steps;
        assert_eq!(kinds(&steps), expected, "sealed: {is_sealed}");
    }
}

#[test]
fn folders_come_before_what_is_in_them() {
    let (pair, steps) = second_steps("", "", "a/b/c/f=1; a/g=1");
    assert_eq!(kinds(&steps), "CCCUU");
    let parents: Vec<Parent> = steps
        .iter()
        .filter_map(|s| {
            if let Step::CreateRemoteFolder { to, .. } = s {
                Some(to.parent)
            } else {
                None
            }
        })
        .collect();
    let folder = |path: &str| Parent::Local(pair.second.find(path).unwrap());
    assert_eq!(parents, [Parent::Root, folder("a"), folder("a/b")]);
}

#[test]
fn shallow_and_small_files_go_first() {
    let (pair, steps) = second_steps("", "", "d/a=1; big=4444; small=1; mid=22");
    let sent: Vec<_> = steps
        .iter()
        .filter_map(|s| {
            if let Step::Upload { local, .. } = s {
                Some(*local)
            } else {
                None
            }
        })
        .collect();
    let order = ["small", "mid", "big", "d/a"].map(|path| pair.second.find(path).unwrap());
    assert_eq!(sent, order);
}

#[test]
fn a_deletion_waits_unless_its_name_is_wanted() {
    let (_, steps) = second_steps("x=1 y=1", "", "rm x; rm y; mkdir x; n=2");
    assert_eq!(kinds(&steps), "TCUT");
}

#[test]
fn survivors_leave_before_their_folder_is_deleted() {
    let (_, steps) = second_steps("d/a=1 d/b=2", "", "mv d/a a; rm d; d=file");
    assert_eq!(kinds(&steps), "MTU");
}

#[test]
fn a_move_of_a_folder_with_an_edit_inside_names_the_node() {
    let (pair, steps) = second_steps("d/f=1", "", "mv d e; e/f=22");
    let node = pair.second.node_of(pair.second.find("e").unwrap()).unwrap();
    assert_eq!(kinds(&steps), "MU");
    assert!(
        matches!(&steps[1], Step::Upload { over: Some(_), to, .. } if to.parent == Parent::Node(node))
    );
}

#[test]
fn a_partial_snapshot_gives_the_same_plan() {
    let (pair, steps) = second_steps("d/a=1 d/b=2 e/c=3 k=4", "", "d/a=11; mv e/c d/c");
    let mut trees = pair.second.trees(&pair.service);
    // Siblings that did not change are not there.
    let unchanged = ["d/b", "k"].map(|path| pair.second.find(path).unwrap());
    for local in unchanged {
        let node = pair.second.node_of(local).unwrap();
        trees.local.remove(&local);
        trees.remote.remove(&node);
        trees.synced.remove(&node);
    }
    assert_eq!(reconcile(&trees, &pair.second.policy).steps, steps);
}

/// The first device dies in the middle of a swap; its first step gave the temporary name.
fn die_in_a_swap() -> Pair {
    let mut pair = Pair::with("a=A b=BB");
    pair.first.user("mv a t; mv b a; mv t b");
    let steps = pair.first.plan(&pair.service).steps;
    assert!(
        matches!(&steps[0], Step::MoveRemote { reason: MoveReason::Temporary, to, .. } if is_temporary_name(&to.name))
    );
    pair.first.run(&mut pair.service, &steps[..1]);
    pair
}

#[test]
fn a_swap_goes_on_after_a_crash() {
    let mut pair = die_in_a_swap();
    pair.sync();
    check(&pair.second, "a=BB b=A");
    assert_eq!(pair.transfers(), 0);
}

#[test]
fn a_temporary_name_whose_device_never_comes_back_is_undone() {
    let mut pair = die_in_a_swap();
    for _ in 0..3 {
        pair.second.sync(&mut pair.service);
    }
    check(&pair.second, "a=A b=BB");
    pair.sync();
    check(&pair.first, "a=BB b=A");
}

#[test]
fn an_edit_elsewhere_meets_an_interrupted_swap() {
    let mut pair = die_in_a_swap();
    pair.second.user("a=A2; b=BB2");
    pair.second.sync(&mut pair.service);
    pair.sync();
    check(&pair.first, "a=BB2 b=A2");
}

#[test]
fn a_temporary_name_on_disk_is_no_move_of_the_user() {
    let mut pair = Pair::with("a=A b=BB");
    pair.first.user("mv a t; mv b a; mv t b");
    pair.first.sync(&mut pair.service);
    let steps = pair.second.plan(&pair.service).steps;
    assert_eq!(kinds(&steps), "mmm");
    pair.second.run(&mut pair.service, &steps[..1]);
    pair.sync();
    check(&pair.second, "a=BB b=A");
    check(&pair.first, "a=BB b=A");
}
