//! Names that differ by case or by normalisation alone.

use crate::device::Device;
use crate::scenario::{Pair, check, meet, run_alone};
use cairn_model::{Kind, LocalId, Name};

/// Past the check for duplicates: a disk may have them.
fn add_file(device: &mut Device, name: &str, bytes: &str) -> LocalId {
    let id = device.add(None, &Name::new(name).unwrap(), Kind::File);
    device.local.get_mut(&id).unwrap().size = bytes.len() as u64;
    device.bytes.insert(id, bytes.into());
    id
}

#[test]
fn s150_a_change_of_case_is_a_rename() {
    let (pair, _) = run_alone(
        "abc/test/t=1 a1=2",
        "mv abc/test abc/TEST; mv abc ABC; mv a1 A1",
    );
    check(&pair.second, "ABC/TEST/t=1 A1=2");
    assert_eq!(pair.transfers(), 0);
}

#[test]
fn s153_two_spellings_of_one_name_are_both_kept() {
    let pair = meet("", "\u{e9}.txt=1", "e\u{301}.txt=22");
    check(&pair.first, "\u{e9}.txt=1 CC(e\u{301}.txt)=22");
}

#[test]
fn two_spellings_with_equal_bytes_take_the_spelling_of_the_service() {
    let pair = meet("", "\u{e9}.txt=1", "e\u{301}.txt=1");
    check(&pair.second, "\u{e9}.txt=1");
    assert_eq!(pair.transfers(), 1);
}

#[test]
fn a_change_of_spelling_is_a_rename() {
    let (pair, steps) = run_alone("e\u{301}/f=1", "mv e\u{301} t; mv t \u{e9}");
    check(&pair.second, "\u{e9}/f=1");
    assert_eq!(steps.len(), 1);
}

#[test]
fn of_two_local_duplicates_one_syncs_and_the_other_stays() {
    let mut pair = Pair::with("e\u{301}=old");
    let duplicate = add_file(&mut pair.first, "\u{e9}", "duplicate");
    pair.first.user("e\u{301}=edit");
    pair.first.sync(&mut pair.service);
    pair.second.sync(&mut pair.service);
    check(&pair.second, "e\u{301}=edit");
    assert!(pair.first.local.contains_key(&duplicate));
    assert_eq!(pair.first.bytes[&duplicate], "duplicate");
    // Once the first is gone, nothing is in the way of the other.
    pair.first.user("rm e\u{301}");
    pair.sync();
    check(&pair.second, "\u{e9}=duplicate");
}

#[test]
fn of_two_new_duplicates_the_smaller_spelling_syncs() {
    let mut pair = Pair::with("");
    for (name, bytes) in [("\u{e9}", "composed"), ("e\u{301}", "decomposed")] {
        add_file(&mut pair.first, name, bytes);
    }
    pair.first.sync(&mut pair.service);
    pair.second.sync(&mut pair.service);
    check(&pair.second, "e\u{301}=decomposed");
    assert_eq!(pair.first.local.len(), 2);
}

/// Changes on one device, and a disk that ignores case on the other one: both end equal, without a transfer.
fn follow_on_a_disk_that_ignores_case(base: &str, script: &str, want: &str) {
    let mut pair = Pair::with(base);
    pair.second.ignores_case = true;
    pair.first.user(script);
    pair.sync();
    pair.second.assert_equal_to(&pair.service);
    check(&pair.second, want);
    assert_eq!(pair.transfers(), 0);
}

#[test]
fn moves_whose_names_are_one_to_the_disk_take_a_temporary_name() {
    follow_on_a_disk_that_ignores_case("a=A b=BB", "mv a t; mv b A; mv t B", "A=BB B=A");
    let three = "mv a t; mv b A; mv c b; mv t C";
    follow_on_a_disk_that_ignores_case("a=A b=BB c=CCC", three, "A=BB C=A b=CCC");
}

#[test]
fn a_folder_takes_the_name_of_what_moves_into_it_spelled_in_another_way() {
    follow_on_a_disk_that_ignores_case("A=1", "mkdir t; mv A t/B; mv t a", "a/B=1");
}

#[test]
fn what_leaves_a_deleted_folder_takes_its_name_spelled_in_another_way() {
    follow_on_a_disk_that_ignores_case("a/x=1 a/y=22", "mv a/x t; rm a; mv t A", "A=1");
}

#[test]
fn a_name_that_stays_taken_in_another_spelling_keeps_no_step_from_being_planned() {
    let mut pair = Pair::with("a=1 b=22");
    pair.second.ignores_case = true;
    pair.first.user("mv b A; new=333");
    pair.first.sync(&mut pair.service);
    let steps = pair.second.plan(&pair.service).steps;
    assert_eq!(
        steps.len(),
        2,
        "the step finds out what is in its way: {steps:#?}"
    );
}
