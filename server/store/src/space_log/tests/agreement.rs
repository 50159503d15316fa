//! Property test: the state of a signed log in the database and the one in memory agree after random commits and
//! entries, valid and invalid.

use super::*;
use cairn_log::{EntryOp, Flags, NodeOp, NodeStatement, ServerEntry, decode_snapshot, hash_leaf};
use cairn_model::NodeId;
use proptest::prelude::*;
use proptest::sample::Index;

/// An attempt of any kind; numbers choose nodes, folders, names.
#[derive(Clone, Debug)]
struct Try {
    kind: u8,
    node: u8,
    parent: u8,
    name: u8,
    is_second: bool,
    /// A byte of the commit that is changed.
    damage: Option<(Index, u8)>,
}

fn tries() -> impl Strategy<Value = Vec<Try>> {
    let damage = prop::option::weighted(0.15, (any::<Index>(), 1..=u8::MAX));
    let one = (0..12_u8, 1..7_u8, 0..7_u8, 0..4_u8, any::<bool>(), damage).prop_map(
        |(kind, node, parent, name, is_second, damage)| Try {
            kind,
            node,
            parent,
            name,
            is_second,
            damage,
        },
    );
    prop::collection::vec(one, 1..80)
}

fn parent(n: u8) -> Option<NodeId> {
    Some(n).filter(|n| *n > 0).map(node)
}

/// The statement that an attempt makes: about a node that is there, or a new one.
fn statement(writer: &Writer, attempt: &Try) -> Vec<u8> {
    let (id, name) = (node(attempt.node), format!("name {}", attempt.name));
    if writer.state.statement(id).is_none() {
        return encode_statement(if attempt.kind.is_multiple_of(2) {
            writer.folder(id, parent(attempt.parent), &name)
        } else {
            writer.file(id, &name, [7; 32])
        });
    }
    let ops = [
        NodeOp::Place,
        NodeOp::Trash,
        NodeOp::Untrash,
        NodeOp::Purge,
        NodeOp::Content,
        NodeOp::Accept,
    ];
    let op = ops[usize::from(attempt.kind) % ops.len()];
    let mut next = writer.next(id, op);
    match op {
        NodeOp::Trash => next.flags = next.flags.with(Flags::TRASHED),
        NodeOp::Untrash => next.flags = next.flags.without(Flags::TRASHED),
        NodeOp::Place | NodeOp::Accept => {
            next.parent = parent(attempt.parent);
            next.name = name.into();
        }
        NodeOp::Create | NodeOp::Content | NodeOp::Purge => {}
    }
    encode_statement(next)
}

/// A statement that contradicts itself has no bytes: others take their place.
fn encode_statement(statement: NodeStatement) -> Vec<u8> {
    let encoded = Statement::Node(statement).encode();
    encoded.unwrap_or_else(|_| vec![1; 40])
}

fn entry(writer: &Writer, attempt: &Try) -> Vec<u8> {
    let id = node(attempt.node);
    let op = [EntryOp::Place, EntryOp::Trash, EntryOp::Purge][usize::from(attempt.name) % 3];
    let entry = ServerEntry {
        op,
        node: id,
        prev: writer.state.node_prev(id),
        is_folder: attempt.is_second,
        is_trashed: op == EntryOp::Trash,
        is_purged: op == EntryOp::Purge,
        parent: parent(attempt.parent).filter(|parent| *parent != id),
        name: b"moved".to_vec(),
        source: None,
        actor: AccountId::from_random_bytes([1; 16]),
        clock_ms: 1,
    };
    entry.encode()
}

impl World {
    /// Takes in an entry, as an act over the keyless interface will.
    fn enter(&self, bytes: &[u8]) -> std::result::Result<u64, Refusal> {
        let mut refusal = None;
        let result = self.store.write(|tx| {
            let apply = || {
                let mut state = load(tx.conn, self.actor.space, [0; 16])?;
                let position = state.apply_entry(bytes)?;
                save(tx.conn, self.actor.space, &state)?;
                Ok(position)
            };
            apply().map_err(|failed: CommitError| match failed {
                CommitError::Store(error) => error,
                CommitError::Refused(rule) => {
                    refusal = Some(rule);
                    Error::conflict("refused")
                }
            })
        });
        refusal.map_or_else(|| Ok(result.unwrap()), Err)
    }

    fn agrees_with(&self, memory: &SpaceState) {
        self.store
            .read(|conn| {
                let state = load(conn, self.actor.space, [0; 16]).ok().unwrap();
                assert_eq!(state.core(), memory.core());
                for n in 0..8 {
                    let (stored, known) = (
                        state.records().node(node(n)).ok().unwrap(),
                        memory.records().node(node(n)).unwrap(),
                    );
                    assert_eq!(stored, known, "{n}");
                }
                let (size, root) = memory.head();
                assert_eq!(state.records().root_at(size).ok().unwrap(), Some(root));
                Ok(())
            })
            .unwrap();
    }
}

/// Returns a configuration with this number of cases, unless `PROPTEST_CASES` sets another.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() {
        default
    } else {
        ProptestConfig { cases, ..default }
    }
}

proptest! {
    #![proptest_config(config(48))]
    #[test]
    fn the_database_and_the_memory_agree(tries in tries()) {
        let mut world = World::with_genesis(open(None));
        let list = world.writer.control(world.writer.list(2, &[1, 2]));
        let commit = world.writer.commit(vec![list]);
        world.write(&commit).unwrap();
        let mut second = world.writer.device(2);
        world.put([7; 32], [7; 32], "aa/7").unwrap();
        let mut sent = Vec::new();
        for attempt in &tries {
            world.store.source().advance(60_000);
            if attempt.kind == 11 {
                let bytes = entry(&world.writer, attempt);
                let expected = world.writer.state.apply_entry(&bytes);
                prop_assert_eq!(world.enter(&bytes), expected);
            } else {
                let author = if attempt.is_second { &mut second } else { &mut world.writer };
                let body = statement(author, attempt);
                let mut commit = match (attempt.kind, sent.last()) {
                    (10, Some(old)) => Vec::clone(old),
                    _ => author.commit(vec![body]),
                };
                if let Some((at, change)) = attempt.damage {
                    let at = at.index(commit.len());
                    commit[at] ^= change;
                }
                let expected = world.writer.state.apply_commit(&commit);
                let response = world.send(&commit).unwrap();
                let result = match response {
                    CommitResponse::Accepted { position, .. } => Ok(position),
                    CommitResponse::Refused { refusal, .. } => Err(refusal),
                };
                prop_assert_eq!(result, expected);
                sent.push(commit);
            }
            second.state = world.writer.state.clone();
            world.agrees_with(&world.writer.state);
        }
        // What readers get: the same log from its pages.
        let space = world.actor.space;
        let page = world.store.log_page(space, 0, MAX_LOG_PAGE).unwrap();
        let mut reader = Writer::new(space.id, world.actor.account, page.history);
        reader.read(&page);
        prop_assert_eq!(reader.state.core(), world.writer.state.core());
    }
}

/// The digest that the log had at a size, from its own mark.
fn marked_digest(world: &World, size: u64) -> [u8; 32] {
    let space = world.actor.space.row;
    let read = |conn: &Connection| Ok(Rows { conn, space }.mark(size).ok().flatten());
    world.store.read(read).unwrap().unwrap().digest
}

#[test]
fn a_snapshot_has_the_digest_of_its_size_whatever_came_behind() {
    let mut world = World::with_genesis(open(None));
    for n in 1..=60 {
        world.create(n);
    }
    world.enter(&move_to(&world, 5, "moved")).unwrap();
    let trashed = bytes(trash(&world.writer, 7));
    let gone = bytes(world.writer.next(node(6), NodeOp::Purge));
    let commit = world.writer.commit(vec![trashed, gone]);
    // The writer hasn't read the entry, and needn't have.
    world.send(&commit).unwrap();
    let page = |from| world.store.log_page(world.actor.space, from, MAX_LOG_PAGE);
    let (from, _) = world.writer.state.head();
    world.writer.read(&page(from).unwrap());
    world.enter(&move_to(&world, 8, "later")).unwrap();
    let (from, _) = world.writer.state.head();
    world.writer.read(&page(from).unwrap());
    assert_eq!(world.writer.state.head().0, 64);
    for n in 100..170 {
        world.create(n);
    }
    let purge = bytes(world.writer.next(node(5), NodeOp::Purge));
    let commit = world.writer.commit(vec![purge]);
    world.write(&commit).unwrap();
    for size in [64, 128] {
        let mut whole = Vec::new();
        let mut after = None;
        loop {
            let page = world.store.log_snapshot(world.actor.space, size, after);
            let page = page.unwrap();
            whole.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let (items, digest) = decode_snapshot(&whole).unwrap();
        assert_eq!(digest.hash(), marked_digest(&world, size), "{size}");
        assert!(items.len() > 60);
    }
    for size in [0, 63, 65, 192] {
        let refused = world.store.log_snapshot(world.actor.space, size, None);
        assert!(matches!(refused, Err(Error::NotFound(_))), "{size}");
    }
}

fn move_to(world: &World, n: u8, name: &str) -> Vec<u8> {
    let attempt = Try {
        kind: 11,
        node: n,
        parent: 0,
        name: 0,
        is_second: true,
        damage: None,
    };
    let bytes = entry(&world.writer, &attempt);
    let moved = ServerEntry {
        name: name.into(),
        ..ServerEntry::decode(&bytes).unwrap()
    };
    moved.encode()
}

fn trash(writer: &Writer, n: u8) -> NodeStatement {
    let mut next = writer.next(node(n), NodeOp::Trash);
    next.flags = next.flags.with(Flags::TRASHED);
    next
}

#[test]
fn every_size_is_proved_to_every_later_one() {
    let mut world = World::with_genesis(open(None));
    let mut roots = vec![cairn_log::EMPTY_ROOT];
    roots.push(world.writer.state.head().1);
    for n in 1..=40 {
        world.create(n);
        roots.push(world.writer.state.head().1);
    }
    let (space, last) = (world.actor.space, roots.len() as u64 - 1);
    for (size, root) in (0..).zip(&roots) {
        for (from, old) in (0..=size).zip(&roots) {
            let proof = world
                .store
                .log_consistency(space, from, Some(size))
                .unwrap();
            assert_eq!((proof.size, &proof.leaf), (size, &None));
            let held = cairn_log::verify_consistency((from, old), (size, root), &proof.path);
            assert!(held.is_ok(), "{from} to {size}");
        }
        for position in 0..size {
            let proof = world
                .store
                .log_inclusion(space, position, Some(size))
                .unwrap();
            let leaf = hash_leaf(&proof.leaf.unwrap());
            let held = cairn_log::verify_inclusion(&leaf, position, size, &proof.path, root);
            assert!(held.is_ok(), "{position} of {size}");
        }
    }
    let now = world.store.log_consistency(space, 3, None).unwrap();
    assert_eq!(now.size, last);
    for refused in [
        world.store.log_consistency(space, 3, Some(last + 1)),
        world.store.log_consistency(space, 4, Some(3)),
        world.store.log_inclusion(space, 3, Some(3)),
        world.store.log_inclusion(space, last, None),
    ] {
        assert!(matches!(refused, Err(Error::Invalid(_))));
    }
}
