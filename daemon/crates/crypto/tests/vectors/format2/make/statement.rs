//! Vectors of statements: each kind, each shape, and bytes that no writer makes.

use super::{AUTH, FORMAT, case, ends, file, long_number, with};
use crate::make::merge;
use crate::{Case, File};
use cairn_crypto::format2::IdentityKey;
use cairn_log::{
    AttributesRef, Checkpoint, Control, ControlBody, Device, DeviceList, Epoch, FileFacts,
    FilePart, Flags, Genesis, IdentityChange, Invitation, Joined, LinkNotice, Member, NodeKeyRef,
    NodeOp, NodeStatement, ObjectId, Rejoin, Role, Roster, Statement,
};
use cairn_model::{AccountId, NodeId, SpaceId};
use serde_json::{Value, json};

fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

pub(super) fn account(n: u8) -> AccountId {
    AccountId::from_random_bytes([n; 16])
}

fn space() -> SpaceId {
    SpaceId::from_random_bytes([1; 16])
}

pub(super) fn identity(n: u8) -> IdentityKey {
    IdentityKey::from_seed(&[n; 32]).unwrap()
}

pub(super) fn folder() -> NodeStatement {
    NodeStatement {
        op: NodeOp::Create,
        node: node(2),
        seq: 1,
        prev: [0; 16],
        flags: Flags::FOLDER,
        parent: None,
        name: "Verträge".into(),
        epoch: 1,
        file: None,
        sealed_box: Vec::new(),
    }
}

pub(super) fn document() -> NodeStatement {
    NodeStatement {
        op: NodeOp::Content,
        node: node(3),
        seq: 300,
        prev: [9; 16],
        flags: Flags::EXECUTABLE.with(Flags::MANIFEST),
        parent: Some(node(2)),
        name: b"a.txt".to_vec(),
        epoch: 200,
        file: Some(FilePart {
            object: ObjectId([5; 32]),
            facts: Some(FileFacts {
                size: 5_000_000_000,
                mtime_ms: -1,
            }),
            key: None,
            attributes: None,
        }),
        sealed_box: vec![6; 48],
    }
}

fn make_private(statement: NodeStatement) -> NodeStatement {
    NodeStatement {
        flags: statement.flags.with(Flags::PRIVATE),
        name: Vec::new(),
        file: statement.file.map(|file| FilePart {
            facts: None,
            ..file
        }),
        sealed_box: vec![6; 48],
        ..statement
    }
}

fn nodes() -> Vec<(&'static str, NodeStatement)> {
    let key = NodeKeyRef {
        node: node(7),
        epoch: 130,
    };
    let attributes = AttributesRef {
        object: ObjectId([8; 32]),
        key,
        length: 129,
    };
    let mut sealed_elsewhere = document();
    let file = sealed_elsewhere.file.as_mut().unwrap();
    (file.key, file.attributes) = (Some(key), Some(attributes));
    let mut link = document();
    link.flags = Flags::SYMLINK;
    link.file.as_mut().unwrap().facts.as_mut().unwrap().size = 12;
    let about = |op, flags| NodeStatement {
        op,
        flags,
        ..document()
    };
    vec![
        ("a new folder", folder()),
        ("a new private folder", make_private(folder())),
        ("another content", document()),
        (
            "another content of a private file",
            make_private(document()),
        ),
        ("content of another node, with attributes", sealed_elsewhere),
        ("a symbolic link", link),
        ("another place", about(NodeOp::Place, Flags::default())),
        ("into the trash", about(NodeOp::Trash, Flags::TRASHED)),
        (
            "into the trash, as a person agreed",
            about(NodeOp::Trash, Flags::TRASHED.with(Flags::CONFIRMED)),
        ),
        ("out of the trash", about(NodeOp::Untrash, Flags::default())),
        ("gone for good", about(NodeOp::Purge, Flags::TRASHED)),
        ("accepted", about(NodeOp::Accept, Flags::default())),
    ]
}

pub(super) fn encode_statement(statement: &NodeStatement) -> Vec<u8> {
    Statement::Node(statement.clone()).encode().unwrap()
}

pub(super) fn control(chain: [u8; 16], body: ControlBody) -> Vec<u8> {
    let prev = [0x77; 16];
    let control = Control { chain, prev, body };
    Statement::Control(control).encode().unwrap()
}

fn device_list() -> DeviceList {
    let device = |number, n| Device {
        number,
        key: [n; 32],
    };
    let mut list = DeviceList {
        identity: identity(1).public(),
        counter: 300,
        rsa: Box::new([2; 384]),
        kem: Box::new([3; 1184]),
        devices: vec![device(5, 4), device(0x8000_0001, 5)],
        signature: [0; 64],
    };
    identity(1).sign_devices(account(4), &mut list);
    list
}

fn roster(is_signed: bool) -> Roster {
    let member = |n, role| Member {
        account: account(n),
        identity: identity(n).public(),
        role,
    };
    let mut roster = Roster {
        members: vec![
            member(4, Role::Owner),
            member(5, Role::Admin),
            member(6, Role::Member),
            member(7, Role::Viewer),
        ],
        boxes: [0; 32],
        signed: None,
    };
    if is_signed {
        roster.boxes = [1; 32];
        identity(4).sign_roster(account(4), space(), &[0x77; 16], &mut roster);
    }
    roster
}

fn change(is_objection: bool) -> IdentityChange {
    let mut change = IdentityChange {
        is_objection,
        old: identity(1).public(),
        new: identity(2).public(),
        signature: [0; 64],
    };
    identity(if is_objection { 1 } else { 2 }).sign_change(account(4), &mut change);
    change
}

fn bodies() -> Vec<(&'static str, [u8; 16], ControlBody)> {
    let of_space = *space().as_bytes();
    let mut of_identity = *account(4).as_bytes();
    of_identity[15] ^= 1;
    let mut of_device = [0; 16];
    of_device[12..].copy_from_slice(&5_u32.to_be_bytes());
    let mut of_rejoin = of_device;
    of_rejoin[11] = 1;
    let of_share = [6; 16];
    let invitation = |role| {
        ControlBody::Invitation(Invitation {
            invite: [12; 16],
            token: [13; 32],
            role,
            expiry_ms: 1_700_000_000_000,
        })
    };
    vec![
        (
            "genesis",
            of_space,
            ControlBody::Genesis(Genesis {
                is_private: true,
                account: account(4),
                identity: identity(1).public(),
                clock_ms: 1_700_000_000_000,
                random: [3; 16],
            }),
        ),
        (
            "a signed roster",
            of_space,
            ControlBody::Roster(roster(true)),
        ),
        (
            "a roster after a removal",
            of_space,
            ControlBody::Roster(roster(false)),
        ),
        (
            "an epoch",
            of_space,
            ControlBody::Epoch(Epoch {
                epoch: 300,
                check: [6; 32],
                boxes: [7; 32],
            }),
        ),
        (
            "a device list",
            *account(4).as_bytes(),
            ControlBody::DeviceList(device_list()),
        ),
        ("an invitation", of_space, invitation(Some(Role::Member))),
        (
            "an invitation that is withdrawn",
            of_space,
            invitation(None),
        ),
        (
            "a checkpoint",
            of_device,
            ControlBody::Checkpoint(Checkpoint {
                position: 16_384,
                root: [14; 32],
                digest: [15; 32],
                epoch: 2,
            }),
        ),
        (
            "a link",
            of_share,
            ControlBody::Link(LinkNotice {
                act: 2,
                top: node(2),
                listing: 4,
                hash: [17; 32],
            }),
        ),
        (
            "a rejoin",
            of_rejoin,
            ControlBody::Rejoin(Rejoin {
                history: [18; 16],
                size: 700,
                root: [19; 32],
            }),
        ),
        (
            "a team joined",
            of_share,
            ControlBody::Joined(Joined {
                is_in: true,
                genesis: [20; 32],
                size: 800,
                root: [21; 32],
            }),
        ),
        (
            "a claim of an identity",
            of_identity,
            ControlBody::Identity(change(false)),
        ),
        (
            "an objection to one",
            of_identity,
            ControlBody::Identity(change(true)),
        ),
    ]
}

/// The places of two fields of a node statement.
const SEQ: usize = 17;
const FLAGS: usize = 1 + 16 + 2 + 16;

fn refused_cases() -> Vec<Case> {
    let good = encode_statement(&document());
    let edited = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    let mut own_parent = good.clone();
    let parent = FLAGS + 1;
    own_parent[parent..parent + 16].copy_from_slice(node(3).as_bytes());
    let mut folder_with_box = encode_statement(&folder());
    folder_with_box.pop();
    folder_with_box.extend_from_slice(&[1, 6]);
    let mut first = encode_statement(&folder());
    first[SEQ] = 0;
    let mut new_in_trash = edited(FLAGS, &[38]);
    new_in_trash[0] = 1;
    let changes = [
        ("no node", edited(1, &[0; 16]), AUTH),
        ("the number 0", first, AUTH),
        (
            "a long form of the number",
            long_number(&good, SEQ + 1),
            AUTH,
        ),
        ("its own folder", own_parent, AUTH),
        ("a folder with a box", folder_with_box, AUTH),
        (
            "a file that says to be a folder",
            edited(FLAGS, &[35]),
            AUTH,
        ),
        ("a new node in the trash", new_in_trash, AUTH),
        (
            "a content that a person agreed to",
            edited(FLAGS, &[50]),
            AUTH,
        ),
        ("a kind between", edited(0, &[7]), FORMAT),
        ("a kind above", edited(0, &[42]), FORMAT),
        ("kind 0", edited(0, &[0]), FORMAT),
        (
            "a flag above",
            [&good[..FLAGS], &[0x80, 0x04], &good[FLAGS + 1..]].concat(),
            FORMAT,
        ),
    ];
    changes
        .into_iter()
        .map(|(name, bytes, expect)| case("statement", name, with("statement", &bytes), expect))
        .collect()
}

fn refused_bodies() -> Vec<Case> {
    let all = bodies();
    let body = |name: &str| {
        let (_, chain, body) = all.iter().find(|(known, ..)| *known == name).unwrap();
        control(*chain, body.clone())
    };
    let edited = |name: &str, at: usize, value: u8| {
        let mut bytes = body(name);
        bytes[at] = value;
        bytes
    };
    let start = 33;
    let last_role = start + 1 + 48;
    let no_signer = start + 1 + 4 * 49 + 32;
    let mut half_signed = body("a signed roster");
    half_signed[no_signer..no_signer + 16].fill(0);
    [
        ("a form that isn't one", edited("genesis", start, 2)),
        (
            "a role that isn't one",
            edited("a signed roster", last_role, 5),
        ),
        (
            "a roster of more than there is",
            edited("a signed roster", start, 200),
        ),
        ("a signature without signer", half_signed),
        (
            "an invitation to no role",
            edited("an invitation", start + 48, 9),
        ),
        ("a link's act that isn't one", edited("a link", start, 4)),
        ("joined and left", edited("a team joined", start, 2)),
        (
            "a claim that isn't one",
            edited("a claim of an identity", start, 3),
        ),
        ("a long epoch", long_number(&body("an epoch"), start + 1)),
        (
            "more devices than there are",
            edited("a device list", start + 32 + 2 + 384 + 1184, 3),
        ),
    ]
    .into_iter()
    .map(|(name, bytes)| case("statement", name, with("statement", &bytes), AUTH))
    .collect()
}

/// Returns what makes a signature of an identity another's, for statements that have one.
fn foreign_values(body: &ControlBody) -> Option<Value> {
    match body {
        ControlBody::Roster(roster) => {
            let other = json!({"space": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"});
            roster.signed.is_some().then_some(other)
        }
        ControlBody::DeviceList(_) => {
            let foreign = control(*account(9).as_bytes(), body.clone());
            Some(json!({"statement": hex::encode(foreign)}))
        }
        ControlBody::Identity(_) => Some(json!({"account": account(9)})),
        ControlBody::Genesis(_)
        | ControlBody::Epoch(_)
        | ControlBody::Invitation(_)
        | ControlBody::Checkpoint(_)
        | ControlBody::Link(_)
        | ControlBody::Rejoin(_)
        | ControlBody::Joined(_) => None,
    }
}

fn signatures() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, chain, body) in bodies() {
        let Some(other) = foreign_values(&body) else {
            continue;
        };
        let bytes = control(chain, body);
        let mut add = |what: &str, set: Value, expect: &str| {
            let name = format!("{name}: {what}");
            cases.push(case("signed_control", &name, set, expect));
        };
        add("as it was signed", with("statement", &bytes), "ok");
        let mut bad = bytes.clone();
        // The last byte of the signature.
        *bad.last_mut().unwrap() ^= 1;
        add("another signature", with("statement", &bad), AUTH);
        let mut bad = bytes.clone();
        bad[36] ^= 1;
        add("another body", with("statement", &bad), AUTH);
        add("elsewhere", merge(with("statement", &bytes), other), AUTH);
    }
    cases
}

pub(super) fn statements() -> File {
    let mut cases = Vec::new();
    for (name, statement) in nodes() {
        let bytes = encode_statement(&statement);
        cases.push(case("statement", name, with("statement", &bytes), "ok"));
    }
    for (name, chain, body) in bodies() {
        let bytes = control(chain, body);
        cases.push(case("statement", name, with("statement", &bytes), "ok"));
        cases.extend(ends("statement", "statement", name, &bytes));
    }
    cases.extend(ends(
        "statement",
        "statement",
        "a content",
        &encode_statement(&document()),
    ));
    cases.extend(refused_cases());
    cases.extend(refused_bodies());
    cases.extend(signatures());
    file(
        "Statements about nodes, and control statements with the signatures of identities in them.",
        json!({"identity": hex::encode(identity(4).public())}),
        cases,
    )
}
