//! The cost of a commit, in steps of SQLite's virtual machine: it doesn't grow with the space.

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
        let steps = Arc::new(AtomicU64::new(0));
        let counted = steps.clone();
        let note = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        let mut conn = self.store.writer.lock();
        conn.progress_handler(1, Some(note)).unwrap();
        drop(conn);
        self.fill(from, count);
        let mut conn = self.store.writer.lock();
        conn.progress_handler(0, None::<fn() -> bool>).unwrap();
        steps.load(Ordering::Relaxed)
    }
}

#[test]
fn a_commit_to_a_hundred_thousand_nodes_costs_what_one_to_ten_does() {
    let mut world = World::with_genesis(open(None));
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
}
