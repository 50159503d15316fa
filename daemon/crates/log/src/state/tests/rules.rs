//! Commits and statements about nodes: tables of single changes, each with the rule that it breaks.

use super::world::{World, account, device, node, node_bytes, number};
use super::*;
use crate::commit::{Commit, CommitHeader};
use crate::test_key::sign_commit;

fn world() -> World {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    world.create_folder(2, Some(1));
    world.create_file(3, Some(2), "a.txt");
    world
}

#[test]
fn each_field_of_a_header_counts() {
    type Change = fn(&mut CommitHeader);
    let changes: [(&str, Change, Refusal); 6] = [
        ("another history", |h| h.history[0] ^= 1, Refusal::History),
        (
            "an unknown device",
            |h| h.device = number(&device(2, 1)),
            Refusal::Device,
        ),
        ("a number that was used", |h| h.own -= 1, Refusal::Own),
        ("a size to come", |h| h.seen += 1, Refusal::Seen),
        (
            "a size before the own last commit",
            |h| h.seen -= 1,
            Refusal::Root,
        ),
        ("another root", |h| h.root[0] ^= 1, Refusal::Root),
    ];
    for (name, change, refusal) in changes {
        let mut world = world();
        let (head, digest) = (world.state.head(), world.state.digest().clone());
        let mut header = world.header();
        change(&mut header);
        let statement = world.folder(9, None);
        assert_eq!(
            world.commit_as(header, std::slice::from_ref(&statement)),
            Err(refusal),
            "{name}"
        );
        assert_eq!(
            (world.state.head(), world.state.digest()),
            (head, &digest),
            "{name}"
        );
        assert_eq!(refusal.severity(), crate::Severity::Freeze);
        world.commit(&[statement]).unwrap();
    }
}

#[test]
fn a_gap_in_own_numbers_means_nothing() {
    let mut world = world();
    let header = CommitHeader {
        own: world.header().own + 1000,
        ..world.header()
    };
    let statement = world.folder(9, None);
    world.commit_as(header, &[statement]).unwrap();
}

#[test]
fn each_byte_of_a_commit_in_a_log_counts() {
    let world = world();
    let bytes = sign_commit(
        world.space(),
        world.header(),
        vec![world.folder(9, None)],
        &device(1, 1),
    );
    let bytes = bytes.unwrap().encode();
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        assert!(world.state.clone().apply_commit(&bad).is_err(), "byte {at}");
    }
    assert!(world.state.clone().apply_commit(&bytes).is_ok());
}

#[test]
fn every_commit_is_taken_once() {
    let mut world = world();
    for frame in world.frames.clone() {
        let Frame::Commit(bytes) = frame else {
            continue;
        };
        let refusal = world.state.apply_commit(&bytes).unwrap_err();
        assert!(
            matches!(refusal, Refusal::Own | Refusal::Genesis),
            "{refusal:?}"
        );
    }
}

#[test]
fn a_commit_of_another_space_is_refused() {
    let world = world();
    let other = SpaceId::from_random_bytes([0x55; 16]);
    let commit = sign_commit(
        other,
        world.header(),
        vec![world.folder(9, None)],
        &device(1, 1),
    )
    .unwrap();
    let mut state = world.state.clone();
    assert_eq!(
        state.apply_commit(&commit.encode()),
        Err(Refusal::Signature)
    );
    let mut stolen: Commit = commit;
    stolen.header.device = number(&device(1, 2));
    assert_eq!(state.apply_commit(&stolen.encode()), Err(Refusal::Device));
}

#[test]
fn each_field_of_a_statement_counts() {
    type Change = fn(&mut NodeStatement);
    let changes: [(&str, NodeOp, Change, Refusal); 19] = [
        (
            "another statement before",
            NodeOp::Place,
            |s| s.prev[0] ^= 1,
            Refusal::Prev,
        ),
        (
            "none before",
            NodeOp::Place,
            |s| s.prev = [0; 16],
            Refusal::Prev,
        ),
        (
            "a number twice",
            NodeOp::Place,
            |s| s.seq -= 1,
            Refusal::Seq,
        ),
        (
            "a number left out",
            NodeOp::Place,
            |s| s.seq += 1,
            Refusal::Seq,
        ),
        (
            "an epoch to come",
            NodeOp::Content,
            |s| s.epoch += 1,
            Refusal::Epoch,
        ),
        ("created again", NodeOp::Create, |_| (), Refusal::Kind),
        (
            "a place with other bytes",
            NodeOp::Place,
            |s| part(s).object.0[0] ^= 1,
            Refusal::Kind,
        ),
        (
            "a place with another size",
            NodeOp::Place,
            |s| facts(s).size += 1,
            Refusal::Kind,
        ),
        (
            "a place with another time",
            NodeOp::Place,
            |s| facts(s).mtime_ms += 1,
            Refusal::Kind,
        ),
        (
            "a place made executable",
            NodeOp::Place,
            |s| flag(s, Flags::EXECUTABLE),
            Refusal::Kind,
        ),
        (
            "a place in the trash",
            NodeOp::Place,
            |s| flag(s, Flags::TRASHED),
            Refusal::Kind,
        ),
        (
            "content with another name",
            NodeOp::Content,
            |s| s.name.push(b'x'),
            Refusal::Kind,
        ),
        (
            "content elsewhere",
            NodeOp::Content,
            |s| s.parent = None,
            Refusal::Kind,
        ),
        (
            "content in the trash",
            NodeOp::Content,
            |s| flag(s, Flags::TRASHED),
            Refusal::Kind,
        ),
        (
            "trash with another name",
            NodeOp::Trash,
            |s| {
                flag(s, Flags::TRASHED);
                s.name.push(b'x');
            },
            Refusal::Kind,
        ),
        (
            "a purge with other bytes",
            NodeOp::Purge,
            |s| part(s).object.0[0] ^= 1,
            Refusal::Kind,
        ),
        (
            "a file made a link",
            NodeOp::Content,
            |s| flag(s, Flags::SYMLINK),
            Refusal::Kind,
        ),
        (
            "a private node in an open space",
            NodeOp::Content,
            |s| {
                flag(s, Flags::PRIVATE);
                s.name.clear();
                part(s).facts = None;
            },
            Refusal::Form,
        ),
        (
            "a folder that isn't there",
            NodeOp::Place,
            |s| s.parent = Some(node(77)),
            Refusal::Parent,
        ),
    ];
    for (name, op, change, refusal) in changes {
        let mut world = world();
        let honest = world.successor(3, op);
        let mut bad = honest.clone();
        change(&mut bad);
        assert_eq!(world.node(bad), Err(refusal), "{name}");
        if !matches!(op, NodeOp::Create | NodeOp::Trash) {
            world.node(honest).unwrap();
        }
    }
    fn part(s: &mut NodeStatement) -> &mut crate::FilePart {
        s.file.as_mut().unwrap()
    }
    fn facts(s: &mut NodeStatement) -> &mut crate::FileFacts {
        part(s).facts.as_mut().unwrap()
    }
    fn flag(s: &mut NodeStatement, flag: Flags) {
        s.flags = s.flags.with(flag);
    }
}

#[test]
fn each_kind_may_change_what_it_is_about() {
    type Change = fn(&mut NodeStatement);
    let changes: [(NodeOp, Change); 5] = [
        (NodeOp::Content, |s| {
            s.file.as_mut().unwrap().object.0[0] ^= 1
        }),
        (NodeOp::Place, |s| s.name = b"other".to_vec()),
        (NodeOp::Trash, |s| {
            s.flags = s.flags.with(Flags::TRASHED).with(Flags::CONFIRMED)
        }),
        (NodeOp::Accept, |s| s.parent = None),
        (NodeOp::Purge, |_| ()),
    ];
    for (op, change) in changes {
        let mut world = world();
        let mut statement = world.successor(3, op);
        change(&mut statement);
        world.node(statement).unwrap();
    }
}

#[test]
fn the_first_statement_about_a_node_creates_or_accepts_it() {
    for op in [
        NodeOp::Content,
        NodeOp::Place,
        NodeOp::Untrash,
        NodeOp::Purge,
    ] {
        let mut world = world();
        let statement = NodeStatement {
            op,
            ..world.file_statement(9, None, "x")
        };
        assert_eq!(world.node(statement), Err(Refusal::Kind), "{op:?}");
    }
    for op in [NodeOp::Create, NodeOp::Accept] {
        let mut world = world();
        let statement = NodeStatement {
            op,
            ..world.file_statement(9, None, "x")
        };
        let bad = NodeStatement {
            seq: 2,
            ..statement.clone()
        };
        assert_eq!(world.node(bad), Err(Refusal::Seq));
        let bad = NodeStatement {
            prev: [1; 16],
            ..statement.clone()
        };
        assert_eq!(world.node(bad), Err(Refusal::Prev));
        world.node(statement).unwrap();
    }
}

#[test]
fn trees_have_no_cycles_and_no_duplicates() {
    let mut world = world();
    assert_eq!(
        world.node(world.rename_statement(1, Some(2), "x")),
        Err(Refusal::Cycle)
    );
    assert_eq!(
        world.node(world.rename_statement(1, Some(3), "x")),
        Err(Refusal::Parent)
    );
    world.create_file(4, Some(2), "b.txt");
    assert_eq!(
        world.node(world.rename_statement(4, Some(2), "a.txt")),
        Err(Refusal::NameDuplicate)
    );
    let duplicates = [5, 6].map(|n| node_bytes(&world.file_statement(n, Some(2), "c.txt")));
    assert_eq!(world.commit(&duplicates), Err(Refusal::NameDuplicate));
    // Two nodes swap their names in one commit.
    let swap = [
        node_bytes(&world.rename_statement(3, Some(2), "b.txt")),
        node_bytes(&world.rename_statement(4, Some(2), "a.txt")),
    ];
    world.commit(&swap).unwrap();
    assert_eq!(
        world.node(world.file_statement(7, Some(2), "a.txt")),
        Err(Refusal::NameDuplicate)
    );
    // What is in the trash takes up no name; coming back it does.
    world.trash(4);
    world.create_file(7, Some(2), "a.txt");
    let mut back = world.successor(4, NodeOp::Untrash);
    back.flags = back.flags.without(Flags::TRASHED);
    assert_eq!(world.node(back), Err(Refusal::NameDuplicate));
    // Its purge frees no name that is another's by now.
    world.purge(4);
    let again = world.file_statement(8, Some(2), "a.txt");
    assert_eq!(world.node(again), Err(Refusal::NameDuplicate));
}

#[test]
fn a_node_is_changed_once_in_a_commit_and_never_after_its_purge() {
    let mut world = world();
    let one = node_bytes(&world.rename_statement(3, Some(2), "x"));
    assert_eq!(world.commit(&[one.clone(), one]), Err(Refusal::Twice));
    world.purge(3);
    assert_eq!(
        world.node(world.file_statement(3, None, "x")),
        Err(Refusal::Purged)
    );
}

#[test]
fn behind_a_new_epoch_content_keeps_its_key_by_name() {
    let mut world = world();
    let epoch = |epoch| {
        ControlBody::Epoch(crate::Epoch {
            epoch,
            check: [1; 32],
            boxes: [1; 32],
        })
    };
    assert_eq!(world.control(epoch(3)), Err(Refusal::Epoch));
    assert_eq!(world.control(epoch(1)), Err(Refusal::Epoch));
    world.control(epoch(2)).unwrap();
    let late = world.rename_statement(3, Some(2), "late");
    assert_eq!(world.node(late.clone()), Err(Refusal::Epoch));
    // Without its key's name, the same object would be sealed under another key.
    let unnamed = NodeStatement {
        epoch: 2,
        ..late.clone()
    };
    assert_eq!(world.node(unnamed.clone()), Err(Refusal::Kind));
    let mut named = unnamed;
    named.file.as_mut().unwrap().key = Some(late.content_key());
    world.node(named).unwrap();
}

#[test]
fn private_spaces_take_private_nodes_only() {
    let mut world = World::with_genesis(true);
    world.create_folder(1, None);
    world.create_folder(2, None);
    let mut open = world.folder_statement(3, None);
    open.flags = Flags::FOLDER;
    open.name = b"open".to_vec();
    open.sealed_box.clear();
    assert_eq!(world.node(open), Err(Refusal::Form));
}

#[test]
fn a_space_is_founded_once_and_whole() {
    let world = World::empty(false);
    let founding = world.founding_statements();
    let try_all = |statements: &[Vec<u8>]| {
        let mut world = World::empty(false);
        world.commit(statements)
    };
    for part in [&founding[..1], &founding[..2], &founding[1..]] {
        assert_eq!(try_all(part), Err(Refusal::Genesis));
    }
    let reordered = [
        founding[1].clone(),
        founding[0].clone(),
        founding[2].clone(),
    ];
    assert_eq!(try_all(&reordered), Err(Refusal::Genesis));
    assert!(try_all(&founding).is_ok());
    let mut again = World::with_genesis(false);
    assert_eq!(again.commit(&founding), Err(Refusal::Genesis));
    let mut state = SpaceState::new(world.space(), [5; 16]);
    let entry = World::with_genesis(false).entry(1, "x");
    assert_eq!(state.apply_entry(&entry.encode()), Err(Refusal::Genesis));
    assert_eq!(state.role(account(1)), None);
}

/// A member who could take the name of a chain for a node, or for a chain of another kind, would keep somebody from
/// joining, or a device from confirming what it has read; and everybody new from reading the snapshot.
#[test]
fn nodes_and_chains_dont_stand_in_each_others_way() {
    let mut world = World::with_genesis(false);
    let share = *node(7).as_bytes();
    for name in [world.space().0, account(1).0, account(2).0] {
        let mut statement = world.folder_statement(1, None);
        statement.node = NodeId(name);
        statement.name = name.to_string().into_bytes();
        world.node(statement.clone()).unwrap();
        let mut entry = world.entry(1, "theirs");
        entry.node = NodeId(name);
        entry.prev = crate::short_hash(&node_bytes(&statement));
        world.state.apply_entry(&entry.encode()).unwrap();
    }
    // The chain of a share that has the name of a node, and of an account.
    world.create_folder(7, None);
    let link = ControlBody::Link(crate::LinkNotice {
        act: 1,
        top: node(7),
        listing: 1,
        hash: [1; 32],
    });
    for chain in [share, *account(1).as_bytes()] {
        let statement = world.next(chain, link.clone());
        world.commit(&[statement]).unwrap();
    }
    // All of them go on.
    let list = ControlBody::DeviceList(world.list(1, 2, &[1, 2]));
    let statement = world.next(*account(1).as_bytes(), list);
    world.commit(&[statement]).unwrap();
    let epoch = ControlBody::Epoch(crate::Epoch {
        epoch: 2,
        check: [1; 32],
        boxes: [1; 32],
    });
    world.control(epoch).unwrap();
    let mut moved = world.folder_statement(7, None);
    moved.op = NodeOp::Place;
    moved.name = b"moved".to_vec();
    moved.seq = 2;
    moved.prev = world.state.node_prev(node(7));
    world.node(moved).unwrap();
    let items = snapshot(&world);
    let (read, digest) = decode_snapshot(&encode_snapshot(&items)).unwrap();
    assert_eq!((&read, &digest), (&items, world.state.digest()));
}

/// A folder whose number doesn't fit a byte.
fn deep_folder(world: &World, n: u16, parent: Option<NodeId>) -> NodeStatement {
    let mut id = [0x55; 16];
    id[14..].copy_from_slice(&n.to_be_bytes());
    let mut statement = world.folder_statement(1, None);
    statement.node = NodeId::from_random_bytes(id);
    statement.name = format!("{n}").into_bytes();
    statement.parent = parent;
    statement
}

/// Makes folders in each other with one commit, from one number to another.
fn nest(world: &mut World, numbers: std::ops::Range<u16>) -> Vec<NodeId> {
    let (mut nodes, mut statements) = (Vec::new(), Vec::new());
    for n in numbers {
        let folder = deep_folder(world, n, nodes.last().copied());
        nodes.push(folder.node);
        statements.push(node_bytes(&folder));
    }
    world.commit(&statements).unwrap();
    nodes
}

#[test]
fn folders_lie_in_a_bounded_number_of_others() {
    let mut world = World::with_genesis(false);
    let most = u16::try_from(MAX_DEPTH).unwrap();
    let first = nest(&mut world, 0..most);
    let deepest = *first.last().unwrap();
    // As deep as it may lie: there are MAX_DEPTH folders above it.
    let last = deep_folder(&world, most, Some(deepest));
    world.node(last.clone()).unwrap();
    let beyond = deep_folder(&world, most + 1, Some(last.node));
    assert_eq!(world.node(beyond.clone()), Err(Refusal::Depth));
    // Neither does a commit get there by way of what it reaches first.
    let mut touched = world.state.statement(last.node).unwrap().clone();
    touched.op = NodeOp::Place;
    touched.name = b"last".to_vec();
    touched.seq += 1;
    touched.prev = world.state.node_prev(last.node);
    let both = [node_bytes(&touched), node_bytes(&beyond)];
    assert_eq!(world.commit(&both), Err(Refusal::Depth));
}

#[test]
fn what_was_moved_too_deep_can_still_be_changed_and_taken_away() {
    let mut world = World::with_genesis(false);
    let most = u16::try_from(MAX_DEPTH).unwrap();
    let upper = nest(&mut world, 0..most);
    let lower = nest(&mut world, 1000..1010);
    let next = |world: &World, node: NodeId, op| {
        let mut statement = world.state.statement(node).unwrap().clone();
        statement.op = op;
        statement.seq += 1;
        statement.prev = world.state.node_prev(node);
        statement
    };
    let mut moved = next(&world, lower[0], NodeOp::Place);
    moved.parent = upper.last().copied();
    world.node(moved).unwrap();
    let deepest = *lower.last().unwrap();
    let mut renamed = next(&world, deepest, NodeOp::Place);
    renamed.name = b"renamed".to_vec();
    world.node(renamed).unwrap();
    let mut trashed = next(&world, deepest, NodeOp::Trash);
    trashed.flags = trashed.flags.with(Flags::TRASHED);
    world.node(trashed).unwrap();
    let inside = deep_folder(&world, 2000, Some(lower[8]));
    assert_eq!(world.node(inside), Err(Refusal::Depth));
    let mut up = next(&world, lower[8], NodeOp::Place);
    up.parent = None;
    world.node(up).unwrap();
}
