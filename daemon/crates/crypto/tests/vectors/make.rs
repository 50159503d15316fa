//! Makes the vectors. The expected result of each is written here by hand; only outputs are computed.

mod account;
mod content;
mod grant;
mod link;

use crate::{Case, File};
use cairn_crypto::SpaceKeys;
use cairn_model::{NodeId, RevisionId, SpaceId};
use serde_json::{Map, Value, json};

const SPACE_KEY: [u8; 32] = [7; 32];
/// Classes that are expected most often.
pub(crate) const AUTH: &str = "auth_failed";
pub(crate) const FORMAT: &str = "unsupported_format";

pub(crate) fn all() -> Vec<(&'static str, File)> {
    vec![
        ("kdf", account::kdf()),
        ("bundle", account::bundle()),
        ("manifest", content::manifest()),
        ("node_seal", content::node_seal()),
        ("listing", link::listings()),
        ("grant", grant::grant()),
    ]
}

fn file(about: &str, base: Value, cases: Vec<Case>) -> File {
    File {
        about: about.to_owned(),
        base: fields(base),
        cases,
    }
}

pub(crate) fn fields(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(crate) fn case(operation: &str, name: &str, set: Value, expect: &str) -> Case {
    let (name, operation, expect) = (name.to_owned(), operation.to_owned(), expect.to_owned());
    Case {
        name,
        operation,
        set: fields(set),
        expect,
        output: None,
    }
}

/// Returns damaged versions of sealed bytes that begin with `header` bytes in clear and then a
/// format byte.
fn damages(operation: &str, field: &str, whole: &[u8], header: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>, expect: &str| {
        let set = Value::Object(Map::from_iter([(
            field.to_owned(),
            hex::encode(bytes).into(),
        )]));
        cases.push(case(operation, &format!("{field}: {name}"), set, expect));
    };
    let flipped = |at: usize, bit: u8| {
        let mut bytes = whole.to_vec();
        bytes[at] ^= bit;
        bytes
    };
    let last = whole.len() - 1;
    add("a newer format", flipped(header, 3), FORMAT);
    add("the format 0", flipped(header, 1), FORMAT);
    add("a bit of the second byte", flipped(header + 1, 0x80), AUTH);
    add(
        "a bit in the middle",
        flipped(header + (last - header) / 2, 1),
        AUTH,
    );
    add("a bit where the tag begins", flipped(last - 15, 1), AUTH);
    add("the last bit", flipped(last, 1), AUTH);
    add("a byte less", whole[..last].to_vec(), AUTH);
    add(
        "half of it",
        whole[..header + (last - header) / 2].to_vec(),
        AUTH,
    );
    add("the format byte alone", whole[..=header].to_vec(), AUTH);
    add("nothing", Vec::new(), AUTH);
    add("a byte more", [whole, &[0]].concat(), AUTH);
    let zeros = [&whole[..=header], &vec![0; last - header][..]].concat();
    add("zeros after the format byte", zeros, AUTH);
    cases
}

fn ids() -> Value {
    json!({
        "space": SpaceId::from_random_bytes([1; 16]),
        "node": NodeId::from_random_bytes([2; 16]),
        "revision": RevisionId::from_random_bytes([3; 16]),
        "epoch": 1,
        "space_key": hex::encode(SPACE_KEY),
    })
}

fn with_ids(more: Value) -> Value {
    let mut all = fields(ids());
    all.extend(fields(more));
    Value::Object(all)
}

fn keys() -> SpaceKeys {
    SpaceKeys::from_raw(SpaceId::from_random_bytes([1; 16]), 1, &SPACE_KEY).unwrap()
}

pub(crate) fn node() -> NodeId {
    NodeId::from_random_bytes([2; 16])
}

/// Asking for other ids than the ones that a thing was sealed for.
fn swaps(operation: &str) -> Vec<Case> {
    let other = json!("0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a");
    vec![
        case(operation, "of another node", json!({ "node": other }), AUTH),
        case(
            operation,
            "of another space",
            json!({ "space": other }),
            AUTH,
        ),
        case(
            operation,
            "under another space key",
            json!({"space_key": "08".repeat(32)}),
            AUTH,
        ),
        case(
            operation,
            "with a space key of zeros",
            json!({"space_key": "00".repeat(32)}),
            AUTH,
        ),
    ]
}

fn flip(bytes: &[u8], at: usize) -> String {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    hex::encode(bytes)
}

pub(crate) fn merge(one: Value, other: Value) -> Value {
    let mut all = fields(one);
    all.extend(fields(other));
    Value::Object(all)
}
