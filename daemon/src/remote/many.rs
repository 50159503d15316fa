//! Changes of many files and folders in few requests, recorded in the journal for `cairn undo` after each request.
//!
//! A node that comes back with `None` was not changed, as far as is known: a request of its own changes it, or tells why
//! it can't be changed.

use crate::remote::Remote;
use cairn_api::ErrorClass;
use cairn_model::Cursor;
use cairn_space::undo::{NodeChange, Record};
use cairn_space::{Earlier, NODES_PER_REQUEST, Relocation};
use cairn_transfer::TransferError;
use cairn_wire::nodes::{Node, NodeState};

impl Remote {
    /// Takes nodes out of the trash, in their order, as [`Remote::restore_node`] does.
    pub(crate) async fn restore_nodes(&self, trashed: &[Node]) -> Vec<(Node, Option<Node>)> {
        let send = async |group| fallible(self.space.restore_nodes(group).await);
        let note = |trashed: &Node, restored: &Node| {
            if trashed.state == NodeState::Trashed {
                self.journal.note_restored(trashed, restored);
            }
        };
        in_groups(trashed, send, note).await
    }

    /// Moves or renames nodes, in their order, as [`Remote::move_node`] does.
    pub(crate) async fn move_nodes(&self, moves: &[Relocation]) -> Vec<(Relocation, Option<Node>)> {
        let send = async |group| fallible(self.space.move_nodes(group).await);
        let note = |one: &Relocation, moved: &Node| self.note_moved(&one.node, moved);
        in_groups(moves, send, note).await
    }

    /// Moves nodes to the trash as [`Remote::trash_seen`] does.
    pub(crate) async fn trash_nodes_seen(
        &self,
        nodes: &[Node],
        seen: &Cursor,
    ) -> Vec<(Node, Option<Node>)> {
        let send = async |group| fallible(self.space.trash_nodes_seen(group, seen).await);
        let note = |node: &Node, trashed: &Node| self.note_own_trashed(node, trashed);
        in_groups(nodes, send, note).await
    }

    /// Makes the content of an older revision of each file the newest again, as [`Remote::restore_revision`] does.
    pub(crate) async fn restore_revisions(
        &self,
        files: &[Earlier],
    ) -> Vec<(Earlier, Option<Node>)> {
        let send = async |group| (self.space.restore_revisions(group).await, false);
        let note = |(node, _): &Earlier, restored: &Node| self.note_content(node, restored);
        in_groups(files, send, note).await
    }

    /// Notes a move that was made, of a node that was in the state `before`.
    pub(crate) fn note_moved(&self, before: &Node, moved: &Node) {
        if let Some(change) = NodeChange::move_between(before, moved) {
            self.journal.note(Record::new(change, Some(before), moved));
        }
    }

    /// Notes another content that was given to a file.
    pub(crate) fn note_content(&self, before: &Node, after: &Node) {
        if let Some(change) = NodeChange::content(before, after) {
            self.journal.note(Record::new(change, Some(before), after));
        }
    }

    /// Notes a deletion that was made, with the version that it has made.
    pub(crate) fn note_own_trashed(&self, before: &Node, trashed: &Node) {
        let mut record = Record::new(NodeChange::Trashed, Some(before), before);
        record.version = Some(trashed.version);
        self.journal.note(record);
    }

    /// Returns whether the next change of a node after a state was made by this device: a request whose response was
    /// lost has changed it.
    pub(crate) fn has_changed_next(&self, before: &Node, after: &Node) -> bool {
        after.version == before.version + 1 && after.device_id == Some(self.api.device())
    }
}

/// Sends items in groups, and notes what was changed after each of them. Once the service is away, or a whole group was
/// changed in nothing, nothing more is sent: a request for each item tells why.
async fn in_groups<T: Clone>(
    items: &[T],
    send: impl AsyncFn(Vec<T>) -> (Vec<(T, Option<Node>)>, bool),
    note: impl Fn(&T, &Node),
) -> Vec<(T, Option<Node>)> {
    let mut all = Vec::with_capacity(items.len());
    let mut is_over = false;
    for group in items.chunks(NODES_PER_REQUEST) {
        if is_over {
            all.extend(group.iter().map(|item| (item.clone(), None)));
            continue;
        }
        let (results, is_away) = send(group.to_vec()).await;
        is_over = is_away || results.iter().all(|(_, changed)| changed.is_none());
        for (item, changed) in results {
            if let Some(changed) = &changed {
                note(&item, changed);
            }
            all.push((item, changed));
        }
    }
    all
}

/// Leaves out why items failed, and returns with them whether the service is away: nobody can be asked then.
fn fallible<T>(results: Vec<(T, Result<Node, TransferError>)>) -> (Vec<(T, Option<Node>)>, bool) {
    let mut is_away = false;
    let results = results.into_iter().map(|(item, result)| {
        let result = result.inspect_err(|error| {
            tracing::debug!(%error, "not changed with others: it gets a request of its own");
            is_away |= matches!(
                error,
                TransferError::Api(error)
                    if matches!(error.class(), ErrorClass::Offline | ErrorClass::Auth)
            );
        });
        (item, result.ok())
    });
    let results = results.collect();
    (results, is_away)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test]
    async fn after_a_group_in_which_nothing_was_changed_none_is_sent() {
        let items: Vec<usize> = (0..3 * NODES_PER_REQUEST).collect();
        let sent = Cell::new(0);
        let send = async |group: Vec<usize>| {
            sent.set(sent.get() + 1);
            (group.into_iter().map(|item| (item, None)).collect(), false)
        };
        let results = in_groups(&items, send, |_, _| ()).await;
        assert_eq!(sent.get(), 1);
        let items_back: Vec<usize> = results.iter().map(|(item, _)| *item).collect();
        assert_eq!(items_back, items);
        assert!(results.iter().all(|(_, changed)| changed.is_none()));
    }
}
