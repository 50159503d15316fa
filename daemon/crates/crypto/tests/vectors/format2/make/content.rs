//! Vectors of contents: objects, cuts, manifests, attributes, boxes, seals.

use super::{AUTH, FORMAT, case, damages, file, merge, node, swaps, with};
use crate::format2::{array, keystream, node_key, secret as space_secret};
use crate::seeded::Seeded;
use crate::{Case, File};
use cairn_crypto::format2::{
    Attributes, ChunkRow, Compression, Manifest, NodeBox, NodeKeyRef, ObjectId, PartRow,
    PrivateFacts, Purpose, TopManifest, seal_secret,
};
use cairn_model::{AccountId, NodeId, SpaceId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

fn base() -> Value {
    Value::Object(file("", json!({}), Vec::new()).base)
}

fn sealed_chunk(plain: &[u8], compression: Compression) -> Value {
    let object = node_key(&base())
        .unwrap()
        .seal_chunk(plain, compression)
        .unwrap();
    json!({
        "id": object.id.to_string(),
        "sealed": hex::encode(object.bytes),
        "length": plain.len(),
        "hash": blake3::hash(plain).to_hex().as_str(),
    })
}

fn object_cases() -> Vec<Case> {
    let plain = keystream(&[9; 32], 1000);
    let raw = sealed_chunk(&plain, Compression::Off);
    let mut cases = vec![
        case(
            "check_value",
            "the check value of an epoch",
            json!({}),
            "ok",
        ),
        case("open_chunk", "as it was sealed", json!({}), "ok"),
    ];
    for (name, plain) in [
        ("nothing", &b""[..]),
        ("one byte", b"a"),
        ("without padding", &[0; 63]),
        ("with padding", &[0; 65]),
    ] {
        let set = json!({"plain": hex::encode(plain)});
        cases.push(case("seal_chunk", name, set, "ok"));
    }
    for length in [
        0, 1, 2, 7, 8, 9, 100, 1000, 65_535, 65_536, 262_143, 4_194_304,
    ] {
        let name = format!("{length} bytes");
        cases.push(case(
            "sealed_length",
            &name,
            json!({"length": length}),
            "ok",
        ));
    }
    let text = b"one line of a text that is written a hundred times\n".repeat(100);
    let frame = sealed_chunk(&text, Compression::On);
    cases.push(case("open_chunk", "a frame", frame.clone(), "ok"));
    let longer = merge(frame.clone(), json!({"length": text.len() + 1}));
    cases.push(case(
        "open_chunk",
        "a frame of another length",
        longer,
        AUTH,
    ));
    let shorter = merge(frame, json!({"length": text.len() - 1}));
    cases.push(case("open_chunk", "a frame that is cut", shorter, AUTH));
    let bytes = hex::decode(raw["sealed"].as_str().unwrap()).unwrap();
    cases.extend(damages("open_chunk", "sealed", &bytes));
    cases.extend(swaps("open_chunk"));
    for (name, format) in [("format 1", 1), ("a newer format", 3)] {
        let mut other = bytes.clone();
        other[0] = format;
        cases.push(case("open_chunk", name, with("sealed", &other), FORMAT));
    }
    let id: [u8; 32] = array(&raw, "id");
    cases.extend([
        case(
            "open_chunk",
            "a shorter length",
            json!({"length": 999}),
            AUTH,
        ),
        case(
            "open_chunk",
            "a longer length",
            json!({"length": 1001}),
            AUTH,
        ),
        case(
            "open_chunk",
            "another hash",
            json!({"hash": "05".repeat(32)}),
            AUTH,
        ),
        case(
            "open_chunk",
            "another id",
            with("id", &id.map(|b| b ^ 1)),
            AUTH,
        ),
    ]);
    cases
}

pub(super) fn object() -> File {
    let raw = sealed_chunk(&keystream(&[9; 32], 1000), Compression::Off);
    file(
        "Objects: ids that commit to the padded plaintext, keys that follow from ids, padding.",
        raw,
        object_cases(),
    )
}

pub(super) fn chunker() -> File {
    let long = json!({"length": 6 << 20});
    let other = json!({"length": 3 << 20, "node": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"});
    file(
        "Cuts of the keystream of AES-256-CTR under `data_key`. Each node has its own.",
        json!({"data_key": "aa".repeat(32)}),
        vec![
            case("cut", "six mebibytes", long, "ok"),
            case("cut", "of another node", other, "ok"),
            case(
                "cut",
                "of another epoch",
                json!({"length": 3 << 20, "epoch": 2}),
                "ok",
            ),
            case(
                "cut",
                "the shortest chunk",
                json!({"length": 262_144}),
                "ok",
            ),
            case("cut", "a byte more", json!({"length": 262_145}), "ok"),
            case("cut", "an empty file", json!({"length": 0}), "ok"),
        ],
    )
}

fn rows() -> Manifest {
    let row = |key, length, fill| ChunkRow {
        key,
        id: ObjectId([fill; 32]),
        length,
        hash: [fill + 1; 32],
    };
    let other = NodeKeyRef {
        node: NodeId::from_random_bytes([3; 16]),
        epoch: 300,
    };
    let own = NodeKeyRef {
        node: node(),
        epoch: 1,
    };
    Manifest {
        keys: vec![own, other],
        cut: 1,
        rows: vec![row(0, 300_000, 10), row(1, 4_194_304, 20), row(0, 1, 30)],
    }
}

pub(super) fn manifest() -> File {
    let record = rows().encode().unwrap();
    let object = rows().seal(&node_key(&base()).unwrap(), false).unwrap();
    let part = |key, length| PartRow {
        key,
        id: ObjectId([key; 32]),
        length,
    };
    let top = TopManifest {
        keys: rows().keys,
        parts: vec![part(0, 1_100_000), part(1, 90)],
    };
    let top = top.encode().unwrap();
    let mut cases = vec![
        case("manifest", "three chunks under two keys", json!({}), "ok"),
        case("top", "two parts", with("record", &top), "ok"),
        case("open_manifest", "as it was sealed", json!({}), "ok"),
        case("top", "chunks where parts belong", json!({}), AUTH),
        case(
            "manifest",
            "parts where chunks belong",
            with("record", &top),
            AUTH,
        ),
    ];
    let mut change = |name: &str, at: usize, value: u8, expect: &str| {
        let mut bad = record.clone();
        bad[at] = value;
        cases.push(case("manifest", name, with("record", &bad), expect));
    };
    // format 1 · count 1 · keys (16 + 1, 16 + 2) · cut · count · rows from 39 on.
    change("a newer format", 0, 4, FORMAT);
    change("no keys", 1, 0, AUTH);
    change("a key fewer", 1, 1, AUTH);
    change("a cut key that isn't there", 37, 2, AUTH);
    change("a chunk fewer", 38, 2, AUTH);
    change("a chunk more", 38, 4, AUTH);
    change("a row's key that isn't there", 39, 2, AUTH);
    change("an empty chunk", record.len() - 33, 0, AUTH);
    let mut long = record.clone();
    long.splice(38..39, [0x83, 0x00]);
    cases.push(case(
        "manifest",
        "a number in a long form",
        with("record", &long),
        AUTH,
    ));
    for (name, length) in [("without its last byte", record.len() - 1), ("nothing", 0)] {
        cases.push(case(
            "manifest",
            name,
            with("record", &record[..length]),
            AUTH,
        ));
    }
    let behind = [&record[..], &[0]].concat();
    cases.push(case(
        "manifest",
        "a byte behind it",
        with("record", &behind),
        AUTH,
    ));
    cases.extend(damages("open_manifest", "sealed", &object.bytes));
    cases.extend(swaps("open_manifest"));
    file(
        "Manifests of files of several chunks, and of long files in parts.",
        json!({
            "record": hex::encode(&record),
            "id": object.id.to_string(),
            "sealed": hex::encode(&object.bytes),
        }),
        cases,
    )
}

pub(super) fn attributes() -> File {
    let all = [
        ("user.comment", "über"),
        ("user.a", ""),
        ("user.xdg.tags", "a,b"),
    ];
    let all = all.map(|(name, value)| (name.into(), value.into()));
    let record = Attributes(BTreeMap::from(all)).encode().unwrap();
    let bad = |bytes: &[u8]| with("record", bytes);
    let cases = vec![
        case("attributes", "three attributes", json!({}), "ok"),
        case("attributes", "none", bad(&[0]), "ok"),
        case(
            "attributes",
            "not sorted",
            bad(&[2, 1, b'b', 0, 1, b'a', 0]),
            AUTH,
        ),
        case(
            "attributes",
            "a name twice",
            bad(&[2, 1, b'a', 0, 1, b'a', 0]),
            AUTH,
        ),
        case("attributes", "an empty name", bad(&[1, 0, 0]), AUTH),
        case(
            "attributes",
            "a count in a long form",
            bad(&[0x80, 0]),
            AUTH,
        ),
        case(
            "attributes",
            "a count alone",
            bad(&[0xff, 0xff, 0x7f]),
            AUTH,
        ),
        case("attributes", "a byte behind them", bad(&[0, 0]), AUTH),
        case(
            "attributes",
            "a byte less",
            bad(&record[..record.len() - 1]),
            AUTH,
        ),
        case("attributes", "nothing", bad(&[]), AUTH),
    ];
    file(
        "Extended attributes, as an object.",
        json!({"record": hex::encode(&record)}),
        cases,
    )
}

pub(super) fn node_box() -> File {
    let keys = space_secret(&base()).unwrap().keys();
    let seal = |plain: NodeBox| hex::encode(plain.seal(&keys, node(), 3).unwrap());
    let facts = PrivateFacts {
        name: "Steuer 2025.pdf".to_owned(),
        size: 123_456,
        mtime_ms: -5,
        mime: "application/pdf".to_owned(),
        hash: [4; 32],
    };
    let private_file = seal(NodeBox::PrivateFile(facts));
    let name = "Privat".to_owned();
    let folder = seal(NodeBox::PrivateFolder { name });
    let open_file = seal(NodeBox::OpenFile { hash: [4; 32] });
    let shape = |folder: bool, private: bool| json!({"folder": folder, "private": private});
    let mut cases = vec![
        case("open_box", "a private file", json!({}), "ok"),
        case(
            "open_box",
            "a private folder",
            merge(shape(true, true), json!({"box": folder})),
            "ok",
        ),
        case(
            "open_box",
            "an open file",
            merge(shape(false, false), json!({"box": open_file})),
            "ok",
        ),
        case(
            "open_box",
            "an open folder",
            merge(shape(true, false), json!({"box": ""})),
            "ok",
        ),
        case(
            "open_box",
            "a file as an open file",
            shape(false, false),
            AUTH,
        ),
        case("open_box", "a file as a folder", shape(true, true), AUTH),
        case(
            "open_box",
            "a file as an open folder",
            shape(true, false),
            AUTH,
        ),
        case("open_box", "of another statement", json!({"seq": 4}), AUTH),
    ];
    cases.extend(damages(
        "open_box",
        "box",
        &hex::decode(&private_file).unwrap(),
    ));
    cases.extend(swaps("open_box"));
    file(
        "The boxes of statements: AES-256-SIV over what key holders alone may know.",
        json!({"box": private_file, "seq": 3, "folder": false, "private": true}),
        cases,
    )
}

pub(super) fn secret() -> File {
    let account = AccountId::from_random_bytes([4; 16]);
    let (space, epoch) = (SpaceId::from_random_bytes([1; 16]), 1);
    let share = Uuid::from_bytes([6; 16]);
    let purposes = [
        ("account", Purpose::Account(account)),
        ("recovery", Purpose::Recovery(account)),
        ("identity", Purpose::Identity(account)),
        ("sharing", Purpose::Sharing(account)),
        ("personal-ring", Purpose::PersonalRing(account)),
        ("ring", Purpose::Ring { space, epoch }),
        (
            "device-box",
            Purpose::DeviceBox {
                space,
                epoch,
                number: 5,
            },
        ),
        (
            "grant",
            Purpose::Grant {
                space,
                epoch,
                account,
            },
        ),
        (
            "listing",
            Purpose::Listing {
                share,
                node: node(),
                number: 5,
            },
        ),
    ];
    let mut cases = Vec::new();
    let mut first = Vec::new();
    for (name, purpose) in purposes {
        let rng = &mut Seeded::new(&format!("format2/{name}"));
        let sealed = seal_secret(&[5; 32], purpose, name.as_bytes(), rng).unwrap();
        let set = json!({"purpose": name, "sealed": hex::encode(&sealed)});
        cases.push(case("open_secret", name, set, "ok"));
        if first.is_empty() {
            first = sealed;
        } else {
            let as_other = json!({"purpose": "account", "sealed": hex::encode(&sealed)});
            let name = format!("{name} as account");
            cases.push(case("open_secret", &name, as_other, AUTH));
        }
    }
    cases.extend(damages("open_secret", "sealed", &first));
    let other = json!({"account": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"});
    cases.push(case("open_secret", "of another account", other, AUTH));
    file(
        "Seals of keys and small secrets, each for one purpose and its ids.",
        json!({
            "key": hex::encode([5; 32]),
            "purpose": "account",
            "share": share,
            "number": 5,
            "sealed": hex::encode(&first),
        }),
        cases,
    )
}
