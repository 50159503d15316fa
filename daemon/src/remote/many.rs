//! Changes of many files and folders in few requests, recorded in the journal for `cairn undo` after each request.
//!
//! A node that comes back with `None` was not changed, as far as is known: a request of its own changes it, or tells why
//! it can't be changed.

use crate::remote::Remote;
use cairn_model::Cursor;
use cairn_space::undo::{NodeChange, Record};
use cairn_space::{Earlier, NODES_PER_REQUEST, Relocation};
use cairn_transfer::TransferError;
use cairn_wire::nodes::{Node, NodeState};

impl Remote {
    /// Takes nodes out of the trash, in their order, as [`Remote::restore_node`] does.
    pub(crate) async fn restore_nodes(&self, trashed: &[Node]) -> Vec<(Node, Option<Node>)> {
        let mut all = Vec::with_capacity(trashed.len());
        for group in trashed.chunks(NODES_PER_REQUEST) {
            for (trashed, restored) in self.space.restore_nodes(group.to_vec()).await {
                let restored = found(restored);
                if let Some(restored) = restored.as_ref().filter(|_| is_in_trash(&trashed)) {
                    self.journal.note_restored(&trashed, restored);
                }
                all.push((trashed, restored));
            }
        }
        all
    }

    /// Moves or renames nodes, in their order, as [`Remote::move_node`] does.
    pub(crate) async fn move_nodes(&self, moves: &[Relocation]) -> Vec<(Relocation, Option<Node>)> {
        let mut all = Vec::with_capacity(moves.len());
        for group in moves.chunks(NODES_PER_REQUEST) {
            for (one, moved) in self.space.move_nodes(group.to_vec()).await {
                let moved = found(moved);
                if let Some(moved) = &moved
                    && let Some(change) = NodeChange::move_between(&one.node, moved)
                {
                    self.journal
                        .note(Record::new(change, Some(&one.node), moved));
                }
                all.push((one, moved));
            }
        }
        all
    }

    /// Moves nodes to the trash as [`Remote::trash_seen`] does.
    pub(crate) async fn trash_nodes_seen(
        &self,
        nodes: &[Node],
        seen: &Cursor,
    ) -> Vec<(Node, Option<Node>)> {
        let mut all = Vec::with_capacity(nodes.len());
        for group in nodes.chunks(NODES_PER_REQUEST) {
            for (node, trashed) in self.space.trash_nodes_seen(group.to_vec(), seen).await {
                let trashed = found(trashed);
                if let Some(trashed) = &trashed {
                    let mut record = Record::new(NodeChange::Trashed, Some(&node), &node);
                    record.version = Some(trashed.version);
                    self.journal.note(record);
                }
                all.push((node, trashed));
            }
        }
        all
    }

    /// Makes the content of an older revision of each file the newest again, as [`Remote::restore_revision`] does.
    pub(crate) async fn restore_revisions(&self, files: &[Earlier]) -> Vec<(Node, Option<Node>)> {
        let mut all = Vec::with_capacity(files.len());
        for group in files.chunks(NODES_PER_REQUEST) {
            for ((node, _), restored) in self.space.restore_revisions(group.to_vec()).await {
                let restored = found(restored);
                if let Some(restored) = &restored
                    && let Some(change) = NodeChange::content(&node, restored)
                {
                    self.journal
                        .note(Record::new(change, Some(&node), restored));
                }
                all.push((node, restored));
            }
        }
        all
    }
}

fn found(result: Result<Node, TransferError>) -> Option<Node> {
    let result = result.inspect_err(|error| {
        tracing::debug!(%error, "not changed with others: it gets a request of its own");
    });
    result.ok()
}

fn is_in_trash(node: &Node) -> bool {
    node.state == NodeState::Trashed
}
