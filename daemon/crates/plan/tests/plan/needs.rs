//! The facts that the planner asks for: those without which it would have to guess, and no others.

use crate::scenario::Pair;
use cairn_plan::{Need, Plan, reconcile};

fn needs_of(pair: &Pair) -> Vec<Need> {
    let plan = reconcile(&pair.second.trees(&pair.service), &pair.second.policy);
    assert!(
        plan.needs.is_empty()
            || plan
                == Plan {
                    needs: plan.needs.clone(),
                    ..Plan::default()
                }
    );
    plan.needs
}

/// The second device has not seen what the first committed.
fn pair(base: &str, first: &str, second: &str) -> Pair {
    let mut pair = Pair::with(base);
    pair.first.user(first);
    pair.first.sync(&mut pair.service);
    pair.second.user(second);
    pair
}

#[test]
fn a_new_file_alone_is_never_read_twice() {
    assert_eq!(needs_of(&pair("", "", "n=new")), []);
    assert_eq!(needs_of(&pair("", "n=new", "")), []);
}

#[test]
fn another_size_is_an_edit_without_reading() {
    assert_eq!(needs_of(&pair("f=1", "", "f=22")), []);
}

#[test]
fn equal_size_needs_the_local_hash_to_tell_an_edit_from_a_touch() {
    let pair = pair("f=1", "", "f=2");
    assert_eq!(
        needs_of(&pair),
        [Need::LocalHash(pair.second.find("f").unwrap())]
    );
}

#[test]
fn a_remote_edit_alone_is_not_opened() {
    assert_eq!(needs_of(&pair("f=1", "f=2", "")), []);
}

#[test]
fn two_edits_of_equal_size_need_both_hashes() {
    let pair = pair("f=1", "f=22", "f=33");
    let node = *pair.service.nodes.keys().next().unwrap();
    let local = pair.second.find("f").unwrap();
    assert_eq!(
        needs_of(&pair),
        [Need::LocalHash(local), Need::RemoteHash(node)]
    );
}

#[test]
fn two_edits_of_other_sizes_need_none() {
    assert_eq!(needs_of(&pair("f=1", "f=22", "f=333")), []);
}

#[test]
fn two_new_files_of_one_name_are_compared_only_at_equal_size() {
    assert_eq!(needs_of(&pair("", "n=1", "n=22")), []);
    assert_eq!(needs_of(&pair("", "n=1", "n=2")).len(), 2);
}

#[test]
fn what_is_blocked_is_not_read() {
    assert_eq!(
        needs_of(&pair("f=1 d/g=1", "f=2", "f=3; d/g=2; block f; block d")),
        []
    );
}
