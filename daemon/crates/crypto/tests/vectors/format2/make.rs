//! Makes the vectors of format 2 from named inputs; most are negative.

mod account;
mod content;
mod log;
mod statement;

use crate::make::{AUTH, FORMAT, case, fields, merge, node};
use crate::{Case, File};
use cairn_model::{AccountId, SpaceId};
use serde_json::{Map, Value, json};

pub(crate) fn all() -> Vec<(&'static str, File)> {
    let mut all = vec![
        ("object", content::object()),
        ("chunker", content::chunker()),
        ("manifest", content::manifest()),
        ("attributes", content::attributes()),
        ("box", content::node_box()),
        ("secret", content::secret()),
        ("statement", statement::statements()),
    ];
    all.extend(log::all());
    all.extend(account::all());
    all
}

/// Returns cases with a record cut short and with a byte too many.
fn ends(operation: &str, field: &str, name: &str, whole: &[u8]) -> Vec<Case> {
    let last = whole.len() - 1;
    [
        ("a byte less", whole[..last].to_vec()),
        ("half of it", whole[..whole.len() / 2].to_vec()),
        ("nothing", Vec::new()),
        ("a byte more", [whole, &[0]].concat()),
    ]
    .into_iter()
    .map(|(what, bytes)| {
        case(
            operation,
            &format!("{name}: {what}"),
            with(field, &bytes),
            AUTH,
        )
    })
    .collect()
}

/// Returns a record with the last byte of a number replaced by a longer form of it.
fn long_number(record: &[u8], at: usize) -> Vec<u8> {
    let (before, after) = (&record[..at], &record[at + 1..]);
    [before, &[record[at] | 0x80, 0], after].concat()
}

fn file(about: &str, more: Value, cases: Vec<Case>) -> File {
    let mut base = fields(json!({
        "space": SpaceId::from_random_bytes([1; 16]),
        "node": node(),
        "account": AccountId::from_random_bytes([4; 16]),
        "epoch": 1,
        "secret": hex::encode([7; 32]),
    }));
    base.extend(fields(more));
    let about = about.to_owned();
    File { about, base, cases }
}

fn with(field: &str, bytes: &[u8]) -> Value {
    Value::Object(Map::from_iter([(
        field.to_owned(),
        hex::encode(bytes).into(),
    )]))
}

/// Returns cases with bits flipped, and with bytes cut and added; the first byte is left alone.
fn damages(operation: &str, field: &str, whole: &[u8]) -> Vec<Case> {
    let last = whole.len() - 1;
    let mut cases = Vec::new();
    let mut add = |name: &str, bytes: &[u8]| {
        cases.push(case(
            operation,
            &format!("{field}: {name}"),
            with(field, bytes),
            AUTH,
        ));
    };
    for (name, at) in [
        ("a bit of the second byte", 1),
        ("a bit in the middle", whole.len() / 2),
        (
            "a bit sixteen bytes before the end",
            whole.len().saturating_sub(16).max(1),
        ),
        ("a bit of the last byte", last),
    ] {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 0x40;
        add(name, &bytes);
    }
    add("a byte less", &whole[..last]);
    add("half of it", &whole[..whole.len() / 2]);
    add("the first byte alone", &whole[..1]);
    add("nothing", &[]);
    add("a byte more", &[whole, &[0]].concat());
    cases
}

/// Returns cases that ask for something else than was sealed.
fn swaps(operation: &str) -> Vec<Case> {
    let other = json!("0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a");
    vec![
        case(operation, "of another node", json!({"node": other}), AUTH),
        case(operation, "of another space", json!({"space": other}), AUTH),
        case(operation, "of another epoch", json!({"epoch": 2}), AUTH),
        case(
            operation,
            "under another secret",
            json!({"secret": "08".repeat(32)}),
            AUTH,
        ),
        case(
            operation,
            "with a secret of zeros",
            json!({"secret": "00".repeat(32)}),
            AUTH,
        ),
    ]
}
