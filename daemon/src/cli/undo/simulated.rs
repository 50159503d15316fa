//! An undo that changes nothing: the requests that would change the service change a copy of what it has.

use super::remote::UndoingRemote;
use crate::failure::{CommandResult, Failure};
use cairn_model::{Name, NodeId, RevisionId};
use cairn_space::undo::{OwnVersions, Undoing};
use cairn_wire::nodes::{Node, NodeState};
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The service, as it would be after some changes.
pub(super) struct Simulated<'a> {
    service: &'a UndoingRemote<'a>,
    changed: Mutex<BTreeMap<NodeId, Node>>,
}

impl<'a> Simulated<'a> {
    pub(super) fn new(service: &'a UndoingRemote<'a>) -> Self {
        Self {
            service,
            changed: Mutex::default(),
        }
    }

    fn change(&self, node: &Node, change: impl FnOnce(&mut Node)) {
        let mut after = node.clone();
        after.version += 1;
        change(&mut after);
        self.changed.lock().insert(node.id, after);
    }
}

impl Undoing for Simulated<'_> {
    type Error = Failure;

    const MAX_NODES: usize = UndoingRemote::MAX_NODES;

    fn own_versions(&self) -> &Mutex<OwnVersions> {
        self.service.own_versions()
    }

    async fn node(&self, id: NodeId) -> CommandResult<Option<Node>> {
        let changed = self.changed.lock().get(&id).cloned();
        match changed {
            Some(node) => Ok(Some(node)),
            None => self.service.node(id).await,
        }
    }

    async fn children(&self, folder: &Node) -> CommandResult<Vec<Node>> {
        let mut children = self.service.children(folder).await?;
        let changed = self.changed.lock();
        children.retain(|child| !changed.contains_key(&child.id));
        let here = changed
            .values()
            .filter(|node| node.parent_id == Some(folder.id) && node.state == NodeState::Active);
        children.extend(here.cloned());
        Ok(children)
    }

    async fn trash(&self, node: &Node) -> CommandResult<()> {
        self.change(node, |node| node.state = NodeState::Trashed);
        Ok(())
    }

    async fn restore(&self, node: &Node) -> CommandResult<()> {
        self.change(node, |node| node.state = NodeState::Active);
        Ok(())
    }

    async fn move_to(&self, node: &Node, parent: Option<NodeId>, name: &Name) -> CommandResult<()> {
        self.change(node, |node| {
            node.parent_id = parent;
            node.name = name.to_string();
        });
        Ok(())
    }

    async fn restore_content(&self, node: &Node, revision: RevisionId) -> CommandResult<bool> {
        let is_kept = self.service.keeps(node, revision).await?;
        if is_kept {
            // It gets a new revision, which nobody knows yet.
            self.change(node, |node| node.revision_id = None);
        }
        Ok(is_kept)
    }
}
