//! Each positive vector, changed in each of its fields: the result is an error or another value, and
//! never a panic.

use crate::{Case, File};
use serde_json::{Map, Value, json};

type Input = Map<String, Value>;

/// The fields that an operation reads, by what can be done to them.
struct Target {
    operation: &'static str,
    /// Records of any length.
    records: &'static [&'static str],
    /// Hashes, keys, signatures: their length stays.
    fixed: &'static [&'static str],
    numbers: &'static [&'static str],
    ids: &'static [&'static str],
}

const fn target(
    operation: &'static str,
    records: &'static [&'static str],
    fixed: &'static [&'static str],
    numbers: &'static [&'static str],
    ids: &'static [&'static str],
) -> Target {
    Target {
        operation,
        records,
        fixed,
        numbers,
        ids,
    }
}

/// The size of a tree isn't here: a proof may hold for several, and the size comes from a signed head.
const TARGETS: &[Target] = &[
    target("check_value", &[], &["secret"], &["epoch"], &["space"]),
    target(
        "open_chunk",
        &["sealed"],
        &["id", "hash"],
        &["length", "epoch"],
        &["space", "node"],
    ),
    target("manifest", &["record"], &[], &["epoch"], &["space", "node"]),
    target("top", &["record"], &[], &["epoch"], &["space", "node"]),
    target(
        "open_manifest",
        &["sealed"],
        &["id"],
        &["epoch"],
        &["space", "node"],
    ),
    target(
        "attributes",
        &["record"],
        &[],
        &["epoch"],
        &["space", "node"],
    ),
    target(
        "open_box",
        &["box"],
        &["secret"],
        &["epoch", "seq"],
        &["space", "node"],
    ),
    target("open_secret", &["sealed"], &["key"], &[], &[]),
    target("statement", &["statement"], &[], &[], &[]),
    target("commit", &["commit"], &["key"], &[], &["space"]),
    target("entry", &["entry"], &[], &[], &[]),
    target("page", &["page"], &[], &[], &[]),
    target("snapshot", &["snapshot"], &[], &[], &[]),
    target("boxes", &["boxes"], &[], &[], &[]),
    target("inclusion", &[], &["leaf", "root"], &["position"], &[]),
    target(
        "consistency",
        &[],
        &["old_root", "new_root"],
        &["old_size"],
        &[],
    ),
    target("token", &["token"], &[], &[], &["space"]),
    target(
        "acceptance",
        &[],
        &[
            "genesis",
            "invite",
            "identity",
            "sharing",
            "token_key",
            "by_token",
            "by_identity",
        ],
        &[],
        &["space", "account"],
    ),
    target(
        "open_account_with_recovery",
        &[
            "sealed_recovery",
            "sealed_identity",
            "sealed_sharing",
            "sealed_ring",
        ],
        &[],
        &["number"],
        &["account"],
    ),
    target("open_ring", &["ring"], &["secret"], &["epoch"], &["space"]),
    target(
        "open_grant",
        &["grant"],
        &[],
        &["epoch"],
        &["space", "account"],
    ),
    target(
        "open_team_epoch",
        &["boxes"],
        &["check", "boxes_hash"],
        &["epoch"],
        &["space", "account"],
    ),
    target(
        "open_device_box",
        &["boxes"],
        &["box_key", "check", "boxes_hash"],
        &["epoch", "number"],
        &["space", "account"],
    ),
    target(
        "open_listing",
        &["listing"],
        &["link_key"],
        &["number"],
        &["node", "share"],
    ),
    target(
        "open_listed_chunk",
        &["listing", "sealed"],
        &["link_key"],
        &["number"],
        &["node"],
    ),
];

/// Records up to this length are changed at each byte, longer ones at some.
const WHOLE: usize = 120;
const STEPS: usize = 40;

fn places(length: usize) -> Vec<usize> {
    if length <= WHOLE {
        return (0..length).collect();
    }
    let ends = (0..STEPS).chain(length - STEPS..length);
    let between = (1..STEPS).map(|n| n * length / STEPS);
    let mut all: Vec<usize> = ends.chain(between).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Bits flipped, bytes cut and added, numbers in a longer form.
fn changed_records(record: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![[record, &[0]].concat()];
    for at in places(record.len()) {
        let (before, after) = (&record[..at], &record[at + 1..]);
        let byte = record[at];
        all.extend([
            before.to_vec(),
            [before, &[byte ^ 1], after].concat(),
            [before, &[byte ^ 0x80], after].concat(),
            [before, after].concat(),
            [before, &[0, byte], after].concat(),
            [before, &[byte | 0x80, 0], after].concat(),
        ]);
    }
    all.retain(|changed| changed != record);
    all
}

fn mutations(target: &Target, input: &Input) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let bytes = |field: &str| hex::decode(input[field].as_str().unwrap()).unwrap();
    for field in target.records {
        for changed in changed_records(&bytes(field)) {
            all.push(((*field).to_owned(), json!(hex::encode(changed))));
        }
    }
    for field in target.fixed {
        let good = bytes(field);
        for at in [0, good.len() / 2, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 4;
            all.push(((*field).to_owned(), json!(hex::encode(bad))));
        }
    }
    for field in target.numbers {
        let good = input[*field].as_u64().unwrap();
        all.push(((*field).to_owned(), json!(good + 1)));
    }
    for field in target.ids {
        let other = json!("0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b");
        all.push(((*field).to_owned(), other));
    }
    all
}

/// Checks the mutations of one vector and returns their number.
pub(crate) fn check(file: &File, case: &Case) -> usize {
    let found = TARGETS.iter().find(|t| t.operation == case.operation);
    let Some(target) = found.filter(|_| case.expect == "ok") else {
        return 0;
    };
    let mut input = file.base.clone();
    input.extend(case.set.clone());
    // An open folder has no box: nothing in it can be changed.
    if target
        .records
        .iter()
        .any(|field| input[*field] == json!(""))
    {
        return 0;
    }
    let all = mutations(target, &input);
    for (field, value) in &all {
        let mut changed = input.clone();
        changed.insert(field.clone(), value.clone());
        let result = super::run(&case.operation, &Value::Object(changed)).ok();
        assert!(
            result.is_none() || result != case.output,
            "{}: {}: {field} = {value} changes nothing",
            case.operation,
            case.name
        );
    }
    all.len()
}

#[test]
fn long_records_are_changed_at_both_ends_and_between() {
    let all = places(1000);
    assert!(all.contains(&0) && all.contains(&999) && all.contains(&500));
    assert_eq!(places(3), [0, 1, 2]);
    let changed = changed_records(&[1, 2]);
    for expected in [
        vec![1],
        vec![1, 2, 0],
        vec![0, 2],
        vec![0x81, 0, 2],
        vec![0, 1, 2],
    ] {
        assert!(changed.contains(&expected), "{expected:?}");
    }
    assert!(!changed.contains(&vec![1, 2]));
}
