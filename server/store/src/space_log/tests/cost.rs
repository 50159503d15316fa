//! The cost of a commit to a signed log, and of reading one, in steps of SQLite's virtual machine: it doesn't grow with
//! the space.

use super::*;
use cairn_log::{MAX_STATEMENTS, NodeStatement};
use cairn_model::NodeId;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

fn folder(writer: &Writer, n: u64) -> NodeStatement {
    let id = NodeId(Uuid::from_u64_pair(
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        n + 1,
    ));
    writer.folder(id, None, &format!("folder {n}"))
}

impl World {
    /// Returns the size of the log.
    fn log_size(&self) -> u64 {
        let page = self.store.log_page(self.actor.space, u64::MAX, 0);
        page.unwrap().size
    }

    /// Commits new folders. The writer trusts the server's root.
    fn fill(&mut self, from: u64, count: u64) {
        let statements = (from..from + count).map(|n| bytes(folder(&self.writer, n)));
        let statements = statements.collect();
        let mut header = self.writer.header();
        let head = self.store.log_page(self.actor.space, u64::MAX, 0).unwrap();
        (header.seen, header.root) = (head.size, head.root);
        let commit = self.writer.sign(header, statements);
        let response = self.send(&commit).unwrap();
        assert!(matches!(response, CommitResponse::Accepted { .. }));
    }

    /// Does the same and returns the steps that it took.
    fn steps_to_fill(&mut self, from: u64, count: u64) -> u64 {
        self.steps_of(|world| world.fill(from, count)).1
    }

    /// Returns what some work gives, and the steps that it took.
    fn steps_of<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, u64) {
        let steps = Arc::new(AtomicU64::new(0));
        let counted = steps.clone();
        let note = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        self.store.writer.lock().on_each_step(Some(note));
        let done = work(self);
        self.store.writer.lock().on_each_step(None::<fn() -> bool>);
        (done, steps.load(Ordering::Relaxed))
    }

    /// Adds rows of 100,000 numbers `n`: what follows `INSERT INTO`, with one `SELECT`.
    fn add_many(&self, into: &str) {
        self.run(&format!(
            "WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 100000) \
             INSERT INTO {into} FROM many"
        ));
    }
}

#[test]
fn a_commit_to_a_hundred_thousand_nodes_costs_what_one_to_ten_does() {
    let mut world = World::with_genesis(open_in_memory());
    world.fill(0, 10);
    let early = world.steps_to_fill(10, 1);
    let many = MAX_STATEMENTS as u64;
    let first = world.steps_to_fill(11, many);
    let mut next = 11 + many;
    while next < 100_000 {
        world.fill(next, many);
        next += many;
    }
    let late = world.steps_to_fill(next, 1);
    let last = world.steps_to_fill(next + 1, many);
    // A few more for subtrees: one for each level of the tree.
    assert!(late < early + early / 2, "{early} steps became {late}");
    assert!(last < first + first / 10, "{first} steps became {last}");
    // Reading: a short page, proofs, and a page of a snapshot, which looks at 4,096 nodes.
    let space = world.actor.space;
    let size = world.log_size();
    let (_, page) = world.steps_of(|world| world.store.log_page(space, size / 2, 1).unwrap());
    assert!(page < 20_000, "{page} steps for one commit");
    let (_, proofs) = world.steps_of(|world| {
        world.store.log_consistency(space, size / 3, None).unwrap();
        world.store.log_inclusion(space, size / 3, None).unwrap();
    });
    assert!(proofs < 5_000, "{proofs} steps for two proofs");
    let mark = size / 64 * 64;
    let (first, steps) = world.steps_of(|world| {
        let page = world.store.log_snapshot(space, mark, None);
        page.unwrap()
    });
    assert!(first.next.is_some());
    assert!(steps < 1_000_000, "{steps} steps for a page of a snapshot");
}

#[test]
fn a_snapshot_reads_few_rows_of_what_has_many_versions_or_is_gone() {
    let mut world = World::with_genesis(open_in_memory());
    for n in 1..=64 {
        world.create(n);
    }
    let space = world.actor.space;
    let items = "log_items (space, position, part, element, class, is_entry, is_end, hash, body)";
    // One node with a hundred thousand versions, and as many nodes that were deleted for good.
    world.add_many(&format!(
        "{items} SELECT {}, 1000 + n, 0, zeroblob(16), 0, 0, 0, zeroblob(32), x'01'",
        space.row
    ));
    world.add_many(&format!(
        "{items} SELECT {}, 200000 + n, 0, CAST('gone' || printf('%012d', n) AS BLOB), 0, 0, 1, zeroblob(32), x'01'",
        space.row
    ));
    let (mut after, mut pages, mut found) = (None, 0, Vec::new());
    loop {
        let (page, steps) =
            world.steps_of(|world| world.store.log_snapshot(space, 64, after).unwrap());
        assert!(steps < 600_000, "{steps} steps for a page");
        found.extend(page.items);
        pages += 1;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert!(pages > 20, "{pages} pages");
    let (items, _) = cairn_log::decode_snapshot(&found).unwrap();
    // Beside the folders of 63 commits, the chain of the space and that of the account.
    assert_eq!(items.len(), 63 + 2);
}

#[test]
fn a_page_has_a_bounded_number_of_short_entries() {
    let mut world = World::with_genesis(open_in_memory());
    let space = world.actor.space;
    world.add_many(&format!(
        "log_leaves (space, position, is_commit, leaf) SELECT {}, n, 0, CAST('E2' || zeroblob(32) AS BLOB)",
        space.row
    ));
    world.add_many(&format!(
        "log_items (space, position, part, element, is_entry, is_end, hash, body) \
         SELECT {}, n, 0, zeroblob(16), 1, 0, zeroblob(32), NULL",
        space.row
    ));
    world.run("UPDATE logs SET size = 100001");
    let (page, steps) = world.steps_of(|world| {
        let page = world.store.log_page(space, 1, MAX_LOG_PAGE);
        page.unwrap()
    });
    assert_eq!(page.frames.len(), 4096);
    assert!(steps < 400_000, "{steps} steps for a page");
}

#[test]
fn a_pass_of_the_collection_reads_a_bounded_number_of_rows() {
    let mut world = World::with_genesis(open_in_memory());
    world.add_many("objects (id, name, refs) SELECT 1000 + n, 'f' || n, 1");
    let objects = "log_objects (space, id, sender, sha256, size, object, sent_at, named_at)";
    world.add_many(&format!(
        "{objects} SELECT {}, CAST(printf('%032d', n) AS BLOB), zeroblob(16), zeroblob(32), 1, 1000 + n, 0, \
         CASE WHEN n % 2 = 0 THEN 1 END",
        world.actor.space.row
    ));
    let (collected, steps) = world.steps_of(|world| world.store.collect_space_objects().unwrap());
    assert_eq!((collected.files.len(), collected.is_done), (2_000, false));
    assert!(steps < 1_000_000, "{steps} steps for a pass");
}
