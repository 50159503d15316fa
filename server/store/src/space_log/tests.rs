//! Tests of the signed log: the one in the database against the one in memory, a transaction that fails, and the cost
//! of a commit.

mod agreement;
mod collect;
mod cost;
mod objects;
mod quota;
mod rights;
mod writer;

use super::*;
use crate::db;
use crate::{Clock, Source};
use cairn_log::Frame;
use std::sync::Arc;
use writer::{Writer, bytes, node};

/// A space with a signed log, and the device that wrote its first commit.
struct World {
    store: Store,
    actor: Actor,
    writer: Writer,
}

fn request(commit: &[u8]) -> CommitRequest {
    CommitRequest {
        commit: commit.to_vec(),
        manifests: Vec::new(),
    }
}

fn open(data: Option<&std::path::Path>) -> Store {
    let clock = Clock::Virtual {
        start_ms: 1_767_225_600_000,
    };
    let source = Arc::new(Source::new(clock, Some(1)));
    match data {
        Some(data) => Store::open(Some(data), source).unwrap(),
        None => crate::testing::open(source),
    }
}

/// Opens a database in memory, for what only SQLite has.
fn open_in_memory() -> Store {
    Store::open(None, Arc::new(Source::new(Clock::System, Some(1)))).unwrap()
}

impl World {
    fn empty(store: Store) -> Self {
        let actor = crate::testing::add_actor(&store);
        let server = store.history_id();
        let history = store
            .read(|conn| history::of(conn, &server, actor.space.id))
            .unwrap()
            .history;
        let writer = Writer::new(actor.space.id, actor.account, history);
        Self {
            store,
            actor,
            writer,
        }
    }

    fn with_genesis(store: Store) -> Self {
        let mut world = Self::empty(store);
        let commit = world.writer.first_commit();
        world.write(&commit).unwrap();
        world
    }

    /// Sends a commit and reads what came of it.
    fn write(&mut self, commit: &[u8]) -> std::result::Result<u64, Refusal> {
        match self.send(commit).unwrap() {
            CommitResponse::Accepted { position, page } => {
                self.writer.read(&page);
                Ok(position)
            }
            CommitResponse::Refused { refusal, .. } => Err(refusal),
        }
    }

    fn send(&self, commit: &[u8]) -> Result<CommitResponse> {
        self.store.commit(&self.actor, &request(commit))
    }

    fn create(&mut self, n: u8) {
        let folder = self.writer.folder(node(n), None, &format!("folder {n}"));
        let commit = self.writer.commit(vec![bytes(folder)]);
        self.write(&commit).unwrap();
    }

    /// Changes the database behind the log's back.
    fn run(&self, sql: &str) {
        self.store.writer.lock().execute_batch(sql).unwrap();
    }

    /// All rows of the log, counted by table, and the core.
    fn rows(&self) -> Vec<(String, i64)> {
        let conn = self.store.writer.lock();
        let mut tables = conn.tables().unwrap();
        tables.retain(|table| table.starts_with("log"));
        let count = |table: &String| {
            let sql = format!("SELECT count(*) FROM {table}");
            conn.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        tables
            .iter()
            .map(|table| (table.clone(), count(table)))
            .collect()
    }
}

#[test]
fn a_transaction_that_fails_leaves_the_log_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::with_genesis(open(Some(dir.path())));
    world.create(1);
    let (rows, head) = (world.rows(), world.writer.state.head());
    let folder = world.writer.folder(node(2), Some(node(1)), "inside");
    let commit = world.writer.commit(vec![bytes(folder)]);
    // Each table that a commit writes fails once, as a full disk would make it.
    for table in [
        "log_items",
        "log_leaves",
        "log_subtrees",
        "log_places",
        "log_devices",
        "logs",
    ] {
        let execute = |sql: &str| world.store.writer.lock().execute_batch(sql).unwrap();
        execute(&format!(
            "CREATE TRIGGER broken BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'disk'); END"
        ));
        let failed = world.send(&commit);
        execute("DROP TRIGGER broken");
        assert!(matches!(failed, Err(Error::Sql(_))), "{table}");
        assert_eq!(world.rows(), rows, "{table}");
        let page = world.store.log_page(world.actor.space, 0, 0).unwrap();
        assert_eq!((page.size, page.root), head, "{table}");
    }
    drop(world.store);
    world.store = open(Some(dir.path()));
    assert_eq!(world.write(&commit), Ok(2));
}

#[test]
fn a_page_is_as_long_as_it_may_be_and_has_one_entry_at_least() {
    let mut world = World::with_genesis(open(None));
    for n in 1..=20 {
        world.create(n);
    }
    let page = |from, most| world.store.log_page(world.actor.space, from, most).unwrap();
    let whole = page(0, MAX_LOG_PAGE);
    assert_eq!(whole.frames.len(), 21);
    let (mut from, mut frames) = (0, Vec::new());
    while from < whole.size {
        let part = page(from, 1000);
        assert!(part.frames.len() == 1 || part.encode().len() < 1200);
        assert_eq!((part.size, part.root), (whole.size, whole.root));
        from += part.frames.len() as u64;
        frames.extend(part.frames);
    }
    assert_eq!(frames, whole.frames);
    assert_eq!(page(21, MAX_LOG_PAGE).frames, []);
    assert_eq!(page(u64::MAX >> 1, MAX_LOG_PAGE).frames, []);
}

#[test]
fn an_entry_without_its_body_is_its_leaf() {
    let mut world = World::with_genesis(open(None));
    world.create(1);
    let sql = "UPDATE log_items SET body = NULL WHERE position = 1";
    world.store.writer.lock().execute_batch(sql).unwrap();
    let space = world.actor.space;
    let page = world.store.log_page(space, 0, MAX_LOG_PAGE).unwrap();
    assert!(matches!(
        &page.frames[..],
        [Frame::Commit(_), Frame::CommitLeaf(_)]
    ));
    let mut tree = cairn_log::Tree::default();
    let leaves = page.frames.iter().map(|frame| frame.leaf().unwrap());
    leaves.for_each(|leaf| tree.push(leaf));
    assert_eq!((tree.size(), tree.root()), (page.size, page.root));
}

#[test]
fn a_space_that_is_erased_leaves_nothing_of_its_log() {
    let mut world = World::with_genesis(open(None));
    world.create(1);
    assert!(world.rows().iter().any(|(_, count)| *count > 0));
    let account = world.actor.account;
    let erase = |tx: &Tx<'_>| {
        let mut purged = crate::Purged::default();
        crate::erasure::erase_account(tx, account, &mut purged)
    };
    world.store.write(erase).unwrap();
    for (table, count) in world.rows() {
        assert_eq!(count, 0, "{table}");
    }
}

#[test]
fn a_log_begins_in_an_empty_space_and_ends_keyless_changes() {
    let mut world = World::empty(open(None));
    let folder = |name: &str| crate::NewFolder {
        id: None,
        parent: None,
        name: cairn_model::Name::new(name).unwrap(),
        seal: None,
    };
    let (actor, commit) = (world.actor, world.writer.first_commit());
    let made = world
        .store
        .write(|tx| tx.create_folder(&actor, &folder("a")));
    let (made, _) = made.unwrap();
    let refused = world.send(&commit);
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
    let rest = |tx: &Tx<'_>| {
        tx.trash(&actor, made.id, None, None)?;
        tx.purge(&actor, made.id)
    };
    world.store.write(rest).unwrap();
    world.write(&commit).unwrap();
    let refused = world
        .store
        .write(|tx| tx.create_folder(&actor, &folder("b")));
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_device_makes_ten_control_statements_a_minute() {
    let mut world = World::with_genesis(open(None));
    let store = &world.store;
    let mut send = |counter| {
        let list = world.writer.list(counter, &[1]);
        let commit = world.writer.commit(vec![world.writer.control(list)]);
        let response = store.commit(&world.actor, &request(&commit));
        if let Ok(CommitResponse::Accepted { page, .. }) = &response {
            world.writer.read(page);
        }
        response
    };
    // The first commit had three.
    for counter in 2..9 {
        assert!(matches!(send(counter), Ok(CommitResponse::Accepted { .. })));
    }
    let Err(Error::TooManyAttempts { retry_after, .. }) = send(9) else {
        panic!("the eleventh is too much");
    };
    assert_eq!(retry_after, 6);
    store.source().advance(5_999);
    assert!(matches!(send(9), Err(Error::TooManyAttempts { .. })));
    store.source().advance(1);
    assert!(matches!(send(9), Ok(CommitResponse::Accepted { .. })));
}

#[test]
fn nobody_sends_what_another_account_signed() {
    let mut world = World::with_genesis(open(None));
    let folder = world.writer.folder(node(1), None, "a");
    let commit = world.writer.commit(vec![bytes(folder)]);
    let other = Actor {
        account: AccountId::from_random_bytes([9; 16]),
        ..world.actor
    };
    let refused = world.store.commit(&other, &request(&commit));
    assert!(matches!(refused, Err(Error::Forbidden(_))));
    assert_eq!(world.write(&commit), Ok(1));
}

#[test]
fn a_restored_log_has_another_history_and_says_when() {
    let mut world = World::with_genesis(open_in_memory());
    world.create(1);
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("cairn.db");
    world.store.copy_database(&copy).unwrap();
    world.create(2);
    begin_restored_histories(&copy, 77).unwrap();
    let (lost, size) = (world.writer.state.clone(), 2);
    world.store = open(Some(dir.path()));
    let page = world
        .store
        .log_page(world.actor.space, 0, MAX_LOG_PAGE)
        .unwrap();
    assert_ne!(page.history, lost.history());
    assert_eq!(
        (page.size, page.restored_at_ms, page.restored_to),
        (size, 77, size)
    );
    let folder = bytes(world.writer.folder(node(3), None, "later"));
    let commit = world.writer.commit(vec![folder.clone()]);
    assert_eq!(world.write(&commit), Err(Refusal::History));
    // A device that takes up the restored history goes on in it.
    let mut state = SpaceState::new(world.actor.space.id, lost.history());
    for frame in &page.frames {
        let Frame::Commit(commit) = frame else {
            panic!("nothing else was written");
        };
        state.apply_commit(commit).unwrap();
    }
    world.writer.state = state.with_history(page.history);
    let commit = world.writer.commit(vec![folder]);
    assert_eq!(world.write(&commit), Ok(size));
}

#[test]
fn a_log_that_was_begun_after_the_backup_has_another_history_too() {
    let world = World::with_genesis(open_in_memory());
    let space = world.actor.space;
    let before = world.store.log_page(space, 0, MAX_LOG_PAGE).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("cairn.db");
    world.store.copy_database(&copy).unwrap();
    let backup = db::Connection::open(&copy).unwrap();
    for table in TABLES {
        backup.execute(&format!("DELETE FROM {table}"), []).unwrap();
    }
    drop(backup);
    begin_restored_histories(&copy, 77).unwrap();
    let restored = open(Some(dir.path()));
    let page = restored.log_page(space, 0, MAX_LOG_PAGE).unwrap();
    assert_eq!((page.size, page.restored_at_ms), (0, 77));
    assert_ne!(page.history, before.history);
}
