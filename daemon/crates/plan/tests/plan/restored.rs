//! Nodes that come back from the service's trash, because a change here has won over their deletion.

use crate::device::Device;
use crate::scenario::{Pair, check};
use cairn_model::{NodeId, SyncMode};
use cairn_plan::Step;

fn node(device: &Device, path: &str) -> NodeId {
    device.node_of(device.find(path).unwrap()).unwrap()
}

/// The first device deletes, and the second has not heard of it when it changes something.
fn deleted(base: &str, deletion: &str, change: &str) -> Pair {
    let mut pair = Pair::with(base);
    pair.first.user(deletion);
    pair.first.sync(&mut pair.service);
    pair.second.user(change);
    pair
}

fn is_restore(step: &Step) -> bool {
    matches!(step, Step::RestoreRemote { .. })
}

/// Brings both devices together and returns whether anything came out of the trash.
fn restores(pair: &mut Pair) -> bool {
    let steps = pair.second.sync(&mut pair.service);
    pair.sync();
    pair.first.assert_equal_to(&pair.service);
    pair.second.assert_equal_to(&pair.service);
    steps.iter().any(is_restore)
}

#[test]
fn a_file_that_an_edit_or_a_move_brings_back_is_the_same_node() {
    for (change, path, transfers) in [
        ("a=edited", "a", 1),
        ("mv a b", "b", 0),
        ("mv a b; b=edited", "b", 1),
        ("mv a d/a", "d/a", 0),
        ("mv a n/a", "n/a", 0),
    ] {
        let mut pair = Pair::with("a=old d/x=1");
        let former = node(&pair.second, "a");
        pair.first.user("rm a");
        pair.first.sync(&mut pair.service);
        pair.second.user(change);
        assert!(restores(&mut pair), "{change}");
        assert_eq!(node(&pair.first, path), former, "{change}");
        assert_eq!(pair.second.transfers, transfers, "{change}");
    }
}

#[test]
fn what_a_third_device_does_meets_the_same_node() {
    let mut pair = Pair::with("a=old");
    let mut third = Device::new("third");
    third.sync(&mut pair.service);
    third.user("mv a b");
    pair.first.user("rm a");
    pair.first.sync(&mut pair.service);
    pair.second.user("a=edited");
    pair.second.sync(&mut pair.service);
    third.sync(&mut pair.service);
    pair.sync();
    for device in [&pair.first, &pair.second, &third] {
        check(device, "b=edited");
    }
}

#[test]
fn a_renamed_folder_comes_back_with_all_that_was_in_it_and_nothing_is_sent() {
    let mut pair = Pair::with("D/c=1 D/s/d=2");
    let former = ["D", "D/c", "D/s/d"].map(|path| node(&pair.second, path));
    pair.first.user("rm D");
    pair.first.sync(&mut pair.service);
    pair.second.user("mv D E");
    let plan = pair.second.plan(&pair.service);
    assert!(plan.rest_waits && plan.steps.iter().all(is_restore));
    assert_eq!(plan.steps.len(), 1);
    assert!(restores(&mut pair));
    check(&pair.first, "E/c=1 E/s/d=2");
    let now = ["E", "E/c", "E/s/d"].map(|path| node(&pair.first, path));
    assert_eq!(now, former);
    assert_eq!(pair.second.transfers, 0);
}

#[test]
fn what_is_done_in_a_renamed_folder_follows_when_it_is_back() {
    for (change, want, transfers) in [
        ("rm D/c; mv D E", "E/d=2", 0),
        ("mv D/c c; mv D E", "E/d=2 c=1", 0),
        ("mv D E; E/c=edited; E/n=new", "E/c=edited E/d=2 E/n=new", 2),
        ("mv D E; mv o E/o", "E/c=1 E/d=2 E/o=3", 0),
    ] {
        let mut pair = deleted("D/c=1 D/d=2 o=3", "rm D", change);
        assert!(restores(&mut pair), "{change}");
        let rest = if change.contains("mv o") { "" } else { " o=3" };
        check(&pair.first, &format!("{want}{rest}"));
        check(&pair.second, &format!("{want}{rest}"));
        assert_eq!(pair.second.transfers, transfers, "{change}");
    }
}

#[test]
fn a_file_that_was_deleted_before_its_renamed_folder_stays_deleted() {
    let mut pair = Pair::with("D/c=1 D/d=2");
    for deletion in ["rm D/c", "rm D"] {
        pair.first.user(deletion);
        pair.first.sync(&mut pair.service);
    }
    pair.second.user("mv D E");
    assert!(restores(&mut pair));
    check(&pair.first, "E/d=2");
    check(&pair.second, "E/d=2");
}

#[test]
fn what_is_kept_alone_of_a_deleted_folder_does_not_bring_the_rest_back() {
    for (change, want) in [
        ("d/f=new", "d/f=new"),
        ("d/n=new", "d/n=new"),
        ("mv d/f f", "f=0"),
    ] {
        let mut pair = deleted("d/f=0 d/g=1", "rm d", change);
        assert!(!restores(&mut pair), "{change}");
        check(&pair.first, want);
        check(&pair.second, want);
    }
}

#[test]
fn a_node_whose_name_or_folder_is_not_free_becomes_a_new_one() {
    for (base, deletion, change, want) in [
        ("a=old", "rm a; mkdir a", "a=edited", "CC(a)=edited a/"),
        ("a=old b=1", "rm a; mv b a", "a=edited", "a=1 CC(a)=edited"),
        ("d/a=old d/b=1", "rm d/a", "mv d/a a; rm d", "a=old"),
    ] {
        let mut pair = deleted(base, deletion, change);
        assert!(!restores(&mut pair), "{change}");
        check(&pair.first, want);
        check(&pair.second, want);
    }
}

#[test]
fn a_folder_that_syncs_one_way_brings_nothing_back() {
    for mode in [SyncMode::Upload, SyncMode::Download] {
        let mut pair = deleted("a=old b=1", "rm a; rm b", "a=edited; mv b c");
        pair.second.policy.mode = mode;
        let steps = pair.second.plan(&pair.service).steps;
        assert!(!steps.iter().any(is_restore), "{mode:?}");
    }
}

#[test]
fn a_deletion_that_nobody_here_has_changed_anything_about_is_carried_out() {
    let mut pair = deleted("a=old b/c=1", "rm a; rm b", "touch a; chmod b/c");
    assert!(!restores(&mut pair));
    check(&pair.second, "");
}

#[test]
fn a_file_whose_folder_was_replaced_on_the_service_becomes_a_new_one() {
    let mut pair = Pair::with("d/a=old");
    let folder = pair.service.nodes[&node(&pair.second, "d")].clone();
    let file = node(&pair.second, "d/a");
    pair.service.delete(file).unwrap();
    pair.service.delete(folder.id).unwrap();
    pair.service
        .create(folder.parent, &folder.name, None)
        .unwrap();
    pair.second.user("mv d/a a");
    assert!(!restores(&mut pair));
    check(&pair.first, "a=old d/");
}
