//! Vectors of the log: commits, entries, pages, the tree and its proofs, snapshots, boxes.

use super::statement::{account, control, document, encode_statement, folder};
use super::{AUTH, FORMAT, case, ends, file, long_number, with};
use crate::File;
use crate::make::merge;
use cairn_crypto::format2::{DeviceKey, sign_commit};
use cairn_log::{
    Boxes, Checkpoint, Commit, CommitHeader, ControlBody, EntryOp, Epoch, Frame, LogPage,
    SealedBox, ServerEntry, SnapshotItem, Source, Tree, encode_snapshot, hash_leaf, root_of,
    short_hash,
};
use cairn_model::{NodeId, SpaceId};
use serde_json::{Value, json};

fn device() -> DeviceKey {
    DeviceKey::from_seed(&[0x21; 32]).unwrap()
}

fn commit() -> Commit {
    let header = CommitHeader {
        history: [0x31; 16],
        device: 0x8000_0005,
        own: 300,
        seen: 64,
        root: [0x32; 32],
        clock_ms: 1_700_000_000_000,
        count: 0,
    };
    let statements = vec![encode_statement(&folder()), encode_statement(&document())];
    let space = SpaceId::from_random_bytes([1; 16]);
    sign_commit(space, header, statements, &device()).unwrap()
}

fn commits() -> File {
    let bytes = commit().encode();
    let mut cases = vec![case("commit", "as it was signed", json!({}), "ok")];
    cases.extend(ends("commit", "commit", "a commit", &bytes));
    let signature = bytes.len()
        - encode_statement(&folder()).len()
        - encode_statement(&document()).len()
        - 3
        - 64;
    for (name, at) in [
        ("another magic", 0),
        ("another history", 2),
        ("another device", 21),
        ("another own number", 22),
        ("another root", 30),
        ("another time", signature - 4),
        ("another count", signature - 1),
        ("another signature", signature),
        ("another statement", bytes.len() - 1),
    ] {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        cases.push(case("commit", name, with("commit", &bad), AUTH));
    }
    let long = long_number(&bytes, 23);
    cases.push(case(
        "commit",
        "a long own number",
        with("commit", &long),
        AUTH,
    ));
    let foreign = json!({"space": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"});
    cases.push(case("commit", "of another space", foreign, AUTH));
    let other = DeviceKey::from_seed(&[0x22; 32]).unwrap().public();
    cases.push(case(
        "commit",
        "of another device's key",
        with("key", &other),
        AUTH,
    ));
    // A key of small order verifies signatures that nobody made.
    let mut weak = [0; 32];
    weak[0] = 1;
    cases.push(case("commit", "with a weak key", with("key", &weak), AUTH));
    file(
        "Commits: header, the device's signature, statements.",
        json!({"commit": hex::encode(bytes), "key": hex::encode(device().public())}),
        cases,
    )
}

fn entry(op: EntryOp, source: Option<Source>) -> ServerEntry {
    ServerEntry {
        op,
        node: NodeId::from_random_bytes([3; 16]),
        prev: [2; 16],
        is_folder: op == EntryOp::Folder,
        is_trashed: op == EntryOp::Trash,
        is_purged: op == EntryOp::Purge,
        parent: Some(NodeId::from_random_bytes([2; 16])),
        name: b"a.txt".to_vec(),
        source,
        actor: account(5),
        clock_ms: 1_700_000_000_000,
    }
}

fn entries() -> File {
    let of_statement = Source::Statement {
        node: NodeId::from_random_bytes([7; 16]),
        statement: [8; 16],
    };
    let opaque = Source::Opaque {
        sha256: [9; 32],
        size: 5_000_000_000,
    };
    let all = [
        ("a folder", entry(EntryOp::Folder, None)),
        ("another place", entry(EntryOp::Place, None)),
        ("into the trash", entry(EntryOp::Trash, None)),
        ("out of the trash", entry(EntryOp::Untrash, None)),
        (
            "an earlier content",
            entry(EntryOp::Revert, Some(of_statement)),
        ),
        ("a copy", entry(EntryOp::Copy, Some(of_statement))),
        ("gone for good", entry(EntryOp::Purge, None)),
        (
            "content that nobody sealed",
            entry(EntryOp::Content, Some(opaque)),
        ),
        ("said again", entry(EntryOp::Restated, Some(of_statement))),
    ];
    let mut cases = Vec::new();
    for (name, entry) in &all {
        let bytes = entry.encode();
        cases.push(case("entry", name, with("entry", &bytes), "ok"));
        cases.extend(ends("entry", "entry", name, &bytes));
    }
    let good = all[7].1.encode();
    let edited = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    let flags = 35;
    for (name, bytes, expect) in [
        ("another magic", edited(1, b'1'), AUTH),
        ("operation 0", edited(2, 0), FORMAT),
        ("operation 10", edited(2, 10), FORMAT),
        ("an unknown flag", edited(flags, 34), FORMAT),
        ("both sources", edited(flags, 48), AUTH),
        ("content of a folder", edited(flags, 33), AUTH),
        ("a trash that isn't", edited(2, 3), AUTH),
        ("a long form of the flags", long_number(&good, flags), AUTH),
    ] {
        cases.push(case("entry", name, with("entry", &bytes), expect));
    }
    file(
        "Server entries: what was done without keys.",
        json!({}),
        cases,
    )
}

fn pages() -> File {
    let (commit, entry) = (commit(), entry(EntryOp::Place, None).encode());
    let leaf = commit.leaf().encode();
    let entry_leaf = [&b"E2"[..], &cairn_log::hash(&entry)].concat();
    let page = LogPage {
        history: [0x31; 16],
        size: 300,
        root: [0x33; 32],
        restored_at_ms: 1_700_000_000_000,
        restored_to: 200,
        frames: vec![
            Frame::Commit(commit.encode()),
            Frame::CommitLeaf(leaf),
            Frame::Entry(entry),
            Frame::EntryLeaf(entry_leaf.clone()),
        ],
    };
    let bytes = page.encode();
    let empty = LogPage {
        restored_at_ms: 0,
        restored_to: 0,
        frames: Vec::new(),
        ..page
    };
    let cut = bytes[..bytes.len() - 1].to_vec();
    let mut unknown = bytes.clone();
    let last = bytes.len() - 1 - entry_leaf.len();
    unknown[last] = 5;
    let mut other_leaf = bytes.clone();
    other_leaf[last + 1] = b'F';
    let mut cases = vec![
        case("page", "one frame of each type", with("page", &bytes), "ok"),
        case(
            "page",
            "without frames",
            with("page", &empty.encode()),
            "ok",
        ),
        case("page", "a byte less", with("page", &cut), AUTH),
        case(
            "page",
            "a frame of an unknown type",
            with("page", &unknown),
            FORMAT,
        ),
        case(
            "page",
            "a leaf that isn't one",
            with("page", &other_leaf),
            AUTH,
        ),
        case(
            "page",
            "an empty frame",
            with("page", &[&bytes[..], &[0]].concat()),
            AUTH,
        ),
        case("page", "nothing", with("page", &[]), AUTH),
    ];
    let long = long_number(&bytes, 17);
    cases.push(case("page", "a long size", with("page", &long), AUTH));
    file("Pages of a log.", json!({}), cases)
}

fn subtree(leaves: &[[u8; 32]]) -> [u8; 32] {
    let mut tree = Tree::default();
    leaves.iter().for_each(|leaf| tree.push(*leaf));
    tree.root()
}

/// The audit path of RFC 9162, section 2.1.3.1.
fn audit_path(at: usize, leaves: &[[u8; 32]]) -> Vec<[u8; 32]> {
    if leaves.len() < 2 {
        return Vec::new();
    }
    let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
    let (mut path, other) = if at < left.len() {
        (audit_path(at, left), subtree(right))
    } else {
        (audit_path(at - left.len(), right), subtree(left))
    };
    path.push(other);
    path
}

/// The consistency proof of RFC 9162, section 2.1.4.1.
fn consistency_path(old: usize, leaves: &[[u8; 32]], is_whole: bool) -> Vec<[u8; 32]> {
    if old == leaves.len() {
        return match is_whole {
            true => Vec::new(),
            false => vec![subtree(leaves)],
        };
    }
    let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
    let (mut path, other) = if old <= left.len() {
        (consistency_path(old, left, is_whole), subtree(right))
    } else {
        (
            consistency_path(old - left.len(), right, false),
            subtree(left),
        )
    };
    path.push(other);
    path
}

fn texts(hashes: &[[u8; 32]]) -> Vec<String> {
    hashes.iter().map(hex::encode).collect()
}

fn inclusion(at: usize, leaves: &[[u8; 32]]) -> Value {
    json!({
        "leaf": hex::encode(leaves[at]), "position": at, "size": leaves.len(),
        "path": texts(&audit_path(at, leaves)), "root": hex::encode(subtree(leaves)),
    })
}

fn consistency(old: usize, leaves: &[[u8; 32]]) -> Value {
    json!({
        "old_size": old, "old_root": hex::encode(subtree(&leaves[..old])),
        "new_size": leaves.len(), "new_root": hex::encode(subtree(leaves)),
        "path": texts(&consistency_path(old, leaves, true)),
    })
}

fn tree() -> File {
    let bodies: Vec<Vec<u8>> = (0..11_u8).map(|n| vec![n; usize::from(n)]).collect();
    let leaves: Vec<[u8; 32]> = bodies.iter().map(|leaf| hash_leaf(leaf)).collect();
    let mut cases = Vec::new();
    for size in [0, 1, 2, 3, 7, 8, 11] {
        let all: Vec<String> = bodies[..size].iter().map(hex::encode).collect();
        let name = format!("a tree of {size}");
        cases.push(case("root_of", &name, json!({"leaves": all}), "ok"));
        assert_eq!(root_of(&bodies[..size]), subtree(&leaves[..size]));
    }
    for (at, size) in [
        (0, 1),
        (0, 2),
        (1, 2),
        (2, 3),
        (4, 7),
        (6, 7),
        (0, 8),
        (10, 11),
        (7, 11),
    ] {
        let name = format!("leaf {at} of {size}");
        cases.push(case(
            "inclusion",
            &name,
            inclusion(at, &leaves[..size]),
            "ok",
        ));
    }
    for (old, size) in [
        (1, 1),
        (1, 2),
        (2, 3),
        (3, 7),
        (4, 7),
        (6, 8),
        (8, 11),
        (7, 11),
        (11, 11),
    ] {
        let name = format!("from {old} to {size}");
        cases.push(case(
            "consistency",
            &name,
            consistency(old, &leaves[..size]),
            "ok",
        ));
    }
    let (proof, grown) = (inclusion(4, &leaves[..7]), consistency(3, &leaves[..7]));
    let other = json!("05".repeat(32));
    let short = json!(texts(&audit_path(4, &leaves[..7])[1..]));
    let mut long = texts(&audit_path(4, &leaves[..7]));
    long.push("05".repeat(32));
    for (name, change) in [
        ("another leaf", json!({"leaf": other})),
        ("another position", json!({"position": 5})),
        ("a position behind the end", json!({"position": 7})),
        ("another size", json!({"size": 6})),
        ("another root", json!({"root": other})),
        ("a short path", json!({"path": short})),
        ("a long path", json!({"path": long})),
    ] {
        cases.push(case("inclusion", name, merge(proof.clone(), change), AUTH));
    }
    let short = json!(texts(&consistency_path(3, &leaves[..7], true)[1..]));
    for (name, change) in [
        ("another old root", json!({"old_root": other})),
        ("another new root", json!({"new_root": other})),
        ("another old size", json!({"old_size": 2})),
        ("a smaller tree", json!({"old_size": 8})),
        ("a short path", json!({"path": short})),
        ("no path", json!({"path": []})),
    ] {
        cases.push(case(
            "consistency",
            name,
            merge(grown.clone(), change),
            AUTH,
        ));
    }
    file("The tree of a log (RFC 9162).", json!({}), cases)
}

fn snapshots() -> File {
    let epoch = ControlBody::Epoch(Epoch {
        epoch: 1,
        check: [6; 32],
        boxes: [7; 32],
    });
    let checkpoint = ControlBody::Checkpoint(Checkpoint {
        position: 64,
        root: [14; 32],
        digest: [15; 32],
        epoch: 1,
    });
    let mut of_device = [0; 16];
    of_device[15] = 5;
    let file_statement = encode_statement(&document());
    let place = ServerEntry {
        prev: short_hash(&file_statement),
        ..entry(EntryOp::Place, None)
    };
    let signed = |bytes: Vec<u8>| SnapshotItem::Statement(bytes);
    let items = vec![
        signed(control(of_device, checkpoint)),
        signed(control([1; 16], epoch)),
        signed(encode_statement(&folder())),
        signed(file_statement.clone()),
        SnapshotItem::Entry(place.encode()),
    ];
    let bytes = encode_snapshot(&items);
    let mut swapped = items.clone();
    swapped.swap(1, 2);
    let mut twice = items.clone();
    twice.insert(2, items[2].clone());
    let mut astray = items.clone();
    astray[4] = SnapshotItem::Entry(entry(EntryOp::Place, None).encode());
    let mut cases = vec![
        case("snapshot", "a state", with("snapshot", &bytes), "ok"),
        case("snapshot", "nothing", with("snapshot", &[]), "ok"),
        case(
            "snapshot",
            "without a checkpoint, which doesn't count",
            with("snapshot", &encode_snapshot(&items[1..])),
            "ok",
        ),
        case(
            "snapshot",
            "without the entry",
            with("snapshot", &encode_snapshot(&items[..4])),
            "ok",
        ),
    ];
    for (name, items) in [
        ("another order", swapped),
        ("an item twice", twice),
        ("an entry on another statement", astray),
        ("an entry alone", vec![items[4].clone()]),
    ] {
        let bytes = encode_snapshot(&items);
        cases.push(case("snapshot", name, with("snapshot", &bytes), AUTH));
    }
    let cut = &bytes[..bytes.len() - 1];
    cases.push(case("snapshot", "a byte less", with("snapshot", cut), AUTH));
    file(
        "Snapshots, and the digest of the state that they make.",
        json!({}),
        cases,
    )
}

fn boxes() -> File {
    let one = |n, number| SealedBox {
        account: account(n),
        number,
        sealed: vec![n; 130],
    };
    let boxes = Boxes::new(
        vec![9; 200],
        vec![one(6, 0), one(5, 7), one(5, 0x8000_0001)],
    );
    let bytes = boxes.encode();
    let unsorted = |boxes: Vec<SealedBox>| {
        let ring = Vec::new();
        Boxes { ring, boxes }.encode()
    };
    let mut cases = vec![
        case(
            "boxes",
            "of two devices and a member",
            with("boxes", &bytes),
            "ok",
        ),
        case(
            "boxes",
            "empty",
            with("boxes", &Boxes::default().encode()),
            "ok",
        ),
    ];
    cases.extend(ends("boxes", "boxes", "boxes", &bytes));
    for (name, bytes) in [
        ("another order", unsorted(vec![one(6, 0), one(5, 0)])),
        ("a box twice", unsorted(vec![one(5, 1), one(5, 1)])),
        ("more than there are", [&[0, 200][..], &bytes].concat()),
        ("a long length", long_number(&unsorted(Vec::new()), 0)),
    ] {
        cases.push(case("boxes", name, with("boxes", &bytes), AUTH));
    }
    file("The boxes beside a commit.", json!({}), cases)
}

/// Returns the files of this part.
pub(super) fn all() -> Vec<(&'static str, File)> {
    vec![
        ("commit", commits()),
        ("entry", entries()),
        ("page", pages()),
        ("tree", tree()),
        ("snapshot", snapshots()),
        ("boxes", boxes()),
    ]
}
