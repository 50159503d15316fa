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
