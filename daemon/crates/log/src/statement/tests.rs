//! Statements: round trips, contradictions, unknown kinds and flags.

use super::*;
use proptest::prelude::*;

pub(crate) fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

fn file() -> NodeStatement {
    let key = |node, epoch| NodeKeyRef { node, epoch };
    NodeStatement {
        op: NodeOp::Content,
        node: node(1),
        seq: 300,
        prev: [9; 16],
        flags: Flags::EXECUTABLE.with(Flags::MANIFEST),
        parent: Some(node(2)),
        name: "Ünïcode.txt".into(),
        epoch: 3,
        file: Some(FilePart {
            object: ObjectId([4; 32]),
            facts: Some(FileFacts {
                size: 123_456_789,
                mtime_ms: -1,
            }),
            key: Some(key(node(3), 2)),
            attributes: Some(AttributesRef {
                object: ObjectId([5; 32]),
                key: key(node(1), 3),
                length: 80,
            }),
        }),
        sealed_box: vec![6; 48],
    }
}

fn folder() -> NodeStatement {
    NodeStatement {
        op: NodeOp::Create,
        flags: Flags::FOLDER,
        parent: None,
        file: None,
        sealed_box: Vec::new(),
        ..file()
    }
}

fn private_statement() -> NodeStatement {
    let mut statement = file();
    statement.flags = statement.flags.with(Flags::PRIVATE);
    statement.name = Vec::new();
    statement.file.as_mut().unwrap().facts = None;
    statement
}

fn all() -> [NodeStatement; 3] {
    [file(), folder(), private_statement()]
}

#[test]
fn statements_come_back() {
    for statement in all() {
        let bytes = statement.encode().unwrap();
        assert_eq!(Statement::decode(&bytes), Ok(Statement::Node(statement)));
    }
}

type Change = fn(&mut NodeStatement);

#[test]
fn contradictions_are_neither_written_nor_read() {
    fn part(statement: &mut NodeStatement) -> &mut FilePart {
        statement.file.as_mut().unwrap()
    }
    let changes: [(&str, Change); 17] = [
        ("no number", |s| s.seq = 0),
        ("no epoch", |s| s.epoch = 0),
        ("no node", |s| s.node = NodeId(Uuid::nil())),
        ("a node in itself", |s| s.parent = Some(s.node)),
        ("a folder with content", |s| {
            s.flags = s.flags.with(Flags::FOLDER)
        }),
        ("a file that lacks its facts", |s| part(s).facts = None),
        ("a name in a private space", |s| {
            s.flags = s.flags.with(Flags::PRIVATE);
            part(s).facts = None;
        }),
        ("no name in an open space", |s| s.name.clear()),
        ("no box", |s| s.sealed_box.clear()),
        ("created in the trash", |s| {
            s.op = NodeOp::Create;
            s.flags = s.flags.with(Flags::TRASHED);
        }),
        ("trashed and not in the trash", |s| s.op = NodeOp::Trash),
        ("agreed to what is no deletion", |s| {
            s.flags = s.flags.with(Flags::CONFIRMED)
        }),
        ("its own key, named", |s| {
            part(s).key = Some(NodeKeyRef {
                node: s.node,
                epoch: s.epoch,
            })
        }),
        ("a key of a later epoch", |s| {
            part(s).key = Some(NodeKeyRef {
                node: node(3),
                epoch: 4,
            })
        }),
        ("long attributes", |s| {
            part(s).attributes.as_mut().unwrap().length = 65_537
        }),
        ("an executable link", |s| {
            s.flags = s.flags.with(Flags::SYMLINK)
        }),
        ("a link to nowhere", |s| {
            s.flags = Flags::SYMLINK;
            part(s).facts.as_mut().unwrap().size = 0;
        }),
    ];
    for (name, change) in changes {
        let mut bad = file();
        change(&mut bad);
        assert!(bad.encode().is_err(), "{name}");
    }
}

#[test]
fn unknown_kinds_and_flags_ask_for_an_update() {
    let bytes = file().encode().unwrap();
    for kind in [0, 7, 8, 10, 31, 42, 255] {
        let mut bytes = bytes.clone();
        bytes[0] = kind;
        let error = LogError::UnsupportedFormat(u32::from(kind));
        assert_eq!(Statement::decode(&bytes), Err(error));
    }
    // kind 1 · node 16 · seq 2 · prev 16 · flags 2.
    let mut bytes = bytes;
    bytes[36] |= 4;
    assert_eq!(
        Statement::decode(&bytes),
        Err(LogError::UnsupportedFormat(512))
    );
}

#[test]
fn a_name_that_no_disk_takes_is_no_error_of_the_log() {
    for (name, is_usable) in [
        (&b"a"[..], true),
        ("é".as_bytes(), true),
        (&[b'x'; 255], true),
        (&[b'x'; 256], false),
        (b"", false),
        (b".", false),
        (b"..", false),
        (b"a/b", false),
        (b"a\0", false),
        (b"\xff", false),
        ("e\u{301}".as_bytes(), false),
    ] {
        assert_eq!(is_usable_name(name), is_usable, "{name:?}");
        let statement = NodeStatement {
            name: name.to_vec(),
            ..file()
        };
        if !name.is_empty() {
            assert!(Statement::decode(&statement.encode().unwrap()).is_ok());
        }
    }
}

#[test]
fn a_revision_is_named_by_its_statement() {
    let (one, other) = (revision_id(b"one"), revision_id(b"other"));
    assert_ne!(one, other);
    assert_eq!(one.0.get_version_num(), 8);
}

proptest! {
    #[test]
    fn what_is_read_is_written_the_same(
        which in 0..3_usize, at in any::<prop::sample::Index>(), value: u8,
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = all()[which].encode()?;
        prop_assert!(Statement::decode(&bytes[..cut.index(bytes.len())]).is_err());
        prop_assert!(Statement::decode(&[&bytes[..], &[0]].concat()).is_err());
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(statement) = Statement::decode(&bytes) {
            prop_assert_eq!(statement.encode()?, bytes);
        }
    }

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0..45_u8) {
        let _ = Statement::decode(&[&[kind], &bytes[..]].concat());
    }
}
