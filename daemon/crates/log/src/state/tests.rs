//! The rules of a log: an honest history passes, and each field mutated alone is refused.

mod both;
mod hostile;
mod identity;
mod people;
mod rows;
mod rules;
mod world;

use super::*;
use crate::control::{ControlBody, DeviceList};
use crate::statement::{Flags, NodeOp, NodeStatement};
use crate::{Checkpoint, Frame, LogPage, SnapshotItem, decode_snapshot, encode_snapshot};
use cairn_model::NodeId;
use world::{World, node};

#[test]
fn an_honest_history_passes_and_is_replayed_elsewhere() {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    world.create_file(2, Some(1), "a.txt");
    world.rename(2, Some(1), "b.txt");
    world.trash(2);
    world.keyless_place(1, "moved");
    let mut other = SpaceState::new(world.space(), world.state.history);
    for frame in &world.frames {
        match frame {
            Frame::Commit(bytes) => other.apply_commit(bytes).unwrap(),
            Frame::Entry(bytes) => other.apply_entry(bytes).unwrap(),
            Frame::CommitLeaf(_) | Frame::EntryLeaf(_) => unreachable!(),
        };
    }
    assert_eq!(other.head(), world.state.head());
    assert_eq!(other.digest(), world.state.digest());
    assert_eq!(other.statement(node(2)).unwrap().name, b"b.txt");
    assert_eq!(other.entry(node(1)).unwrap().name, b"moved");
}

#[test]
fn a_page_has_the_leaves_of_the_tree_with_bodies_or_without() {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    world.keyless_place(1, "moved");
    let (size, root) = world.state.head();
    let page = LogPage {
        history: world.state.history,
        size,
        root,
        restored_at_ms: 0,
        restored_to: 0,
        frames: world.frames.clone(),
    };
    assert_eq!(LogPage::decode(&page.encode()), Ok(page.clone()));
    let pruned = |frame: &Frame| match frame {
        Frame::Commit(bytes) => {
            let commit = crate::Commit::decode(bytes).unwrap();
            Frame::CommitLeaf(commit.leaf().encode())
        }
        Frame::Entry(bytes) => Frame::EntryLeaf(entry_leaf(bytes)),
        Frame::CommitLeaf(_) | Frame::EntryLeaf(_) => frame.clone(),
    };
    let leaves: Vec<Frame> = page.frames.iter().map(pruned).collect();
    for frames in [page.frames.clone(), leaves] {
        let mut tree = Tree::default();
        frames
            .iter()
            .for_each(|frame| tree.push(frame.leaf().unwrap()));
        assert_eq!((tree.size(), tree.root()), (size, root));
    }
    let bytes = page.encode();
    for at in 0..bytes.len() {
        // Cut within the page: an error, or a page of fewer frames, which the size tells.
        if let Ok(short) = LogPage::decode(&bytes[..at]) {
            assert!(short.frames.len() < page.frames.len());
        }
    }
}

/// The items of a snapshot of the world's nodes and chains.
fn snapshot(world: &World) -> Vec<SnapshotItem> {
    let mut items: Vec<((ElementName, bool), SnapshotItem)> = Vec::new();
    let newest = |name: ElementName, hash: &[u8; 32]| {
        let bytes = world.bodies.get(hash).unwrap().clone();
        ((name, false), SnapshotItem::Statement(bytes))
    };
    for (chain, hash) in &world.state.records.chains {
        items.push(newest(*chain, hash));
    }
    for (id, state) in &world.state.records.nodes {
        if let Some((_, hash)) = &state.signed {
            items.push(newest(ElementName::node(*id), hash));
        }
        if let Some((entry, _)) = &state.entry {
            let place = (ElementName::node(*id), true);
            items.push((place, SnapshotItem::Entry(entry.encode())));
        }
    }
    items.sort_by_key(|(place, _)| *place);
    items.into_iter().map(|(_, item)| item).collect()
}

#[test]
fn a_snapshot_has_the_digest_of_the_state() {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    world.create_file(2, Some(1), "a.txt");
    world.create_file(3, None, "b.txt");
    world.keyless_place(1, "moved");
    world.purge(3);
    let items = snapshot(&world);
    let (read, digest) = decode_snapshot(&encode_snapshot(&items)).unwrap();
    assert_eq!((&read, &digest), (&items, world.state.digest()));
    // Each item left out changes the digest; an entry can't stand without its statement.
    for at in 0..items.len() {
        let mut short = items.clone();
        short.remove(at);
        let read = decode_snapshot(&encode_snapshot(&short));
        assert!(
            read.is_err() || read.unwrap().1 != digest,
            "without item {at}"
        );
        let mut twice = items.clone();
        twice.insert(at, items[at].clone());
        assert!(
            decode_snapshot(&encode_snapshot(&twice)).is_err(),
            "item {at} twice"
        );
    }
    let mut swapped = items;
    swapped.swap(0, 1);
    assert!(decode_snapshot(&encode_snapshot(&swapped)).is_err());
}

#[test]
fn a_checkpoint_is_a_state_of_this_log() {
    let mut world = World::with_genesis(false);
    for n in 0..63 {
        world.create_folder(n + 1, None);
    }
    assert_eq!(world.state.head().0, 64);
    let honest = Checkpoint {
        position: 64,
        root: world.state.head().1,
        digest: world.state.digest().hash(),
        epoch: 1,
    };
    world.create_folder(100, None);
    type Change = fn(&mut Checkpoint);
    let changes: [(&str, Change); 5] = [
        ("another root", |c| c.root[0] ^= 1),
        ("another digest", |c| c.digest[0] ^= 1),
        ("another epoch", |c| c.epoch = 2),
        ("a position that is no multiple", |c| c.position = 65),
        ("a position to come", |c| c.position = 128),
    ];
    for (name, change) in changes {
        let mut bad = honest.clone();
        change(&mut bad);
        assert_eq!(
            world.control(ControlBody::Checkpoint(bad)),
            Err(Refusal::Checkpoint),
            "{name}"
        );
    }
    let digest = world.state.digest().clone();
    world.control(ControlBody::Checkpoint(honest)).unwrap();
    assert_eq!(
        *world.state.digest(),
        digest,
        "checkpoints are no part of the state"
    );
}

#[test]
fn entries_stand_on_the_newest_statement() {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    let mut entry = world.entry(1, "moved");
    entry.prev[0] ^= 1;
    assert_eq!(world.state.apply_entry(&entry.encode()), Err(Refusal::Prev));
    entry.prev = [0; 16];
    assert_eq!(world.state.apply_entry(&entry.encode()), Err(Refusal::Prev));
    let mut file = world.entry(1, "moved");
    file.is_folder = false;
    assert_eq!(world.state.apply_entry(&file.encode()), Err(Refusal::Kind));
    world.keyless_place(1, "moved");
    assert!(world.state.entry(node(1)).is_some());
    // A statement ends the unvouched values.
    world.rename(1, None, "own");
    assert!(world.state.entry(node(1)).is_none());
}

#[test]
fn a_keyless_purge_ends_only_what_no_device_vouches_for() {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    let purge = |entry: ServerEntry| ServerEntry {
        op: EntryOp::Purge,
        is_purged: true,
        ..entry
    };
    let vouched = purge(world.entry(1, "a"));
    world.state.apply_entry(&vouched.encode()).unwrap();
    assert!(world.state.statement(node(1)).is_some());
    let before = world.state.digest().clone();
    world.keyless_place(9, "theirs");
    let unvouched = purge(world.entry(9, "theirs"));
    world.state.apply_entry(&unvouched.encode()).unwrap();
    assert_eq!(*world.state.digest(), before);
    let again = world.entry(9, "theirs");
    assert_eq!(
        world.state.apply_entry(&again.encode()),
        Err(Refusal::Purged)
    );
}

#[test]
fn old_roots_need_a_proof() {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    let (size, root) = world.state.head();
    world.create_folder(2, None);
    let mut header = world.header();
    (header.seen, header.root) = (size, root);
    let statement = world.folder(3, None);
    assert_eq!(
        world.commit_as(header.clone(), std::slice::from_ref(&statement)),
        Err(Refusal::Seen)
    );
    // Another device may be that far behind.
    let laptop = world.second_device();
    world.state.records.roots.remove(&size);
    header.device = laptop;
    assert_eq!(
        world.commit_as(header.clone(), std::slice::from_ref(&statement)),
        Err(Refusal::RootUnknown)
    );
    assert_eq!(Refusal::RootUnknown.severity(), crate::Severity::NeedsProof);
    assert_eq!(world.state.admit_root(size, root, &[]), Err(Refusal::Root));
    let proof = world.proof(size);
    assert_eq!(
        world.state.admit_root(size, [9; 32], &proof),
        Err(Refusal::Root)
    );
    world.state.admit_root(size, root, &proof).unwrap();
    world.commit_as(header, &[statement]).unwrap();
}

#[test]
fn after_a_restore_numbers_may_jump_and_histories_never_mix() {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    let mut far = world.rename_statement(1, None, "far");
    far.seq += 100;
    assert_eq!(world.node(far.clone()), Err(Refusal::Seq));
    world.state = world.state.clone().with_history([8; 16]);
    let mut header = world.header();
    header.history = [7; 16];
    assert_eq!(
        world.commit_as(header, &[world::node_bytes(&far)]),
        Err(Refusal::History)
    );
    let mut too_far = far.clone();
    too_far.seq += MAX_JUMP;
    assert_eq!(world.node(too_far), Err(Refusal::Seq));
    world.node(far).unwrap();
}
