//! The requests that undo what a session changed of files and folders: sealed by this client where it has the keys,
//! else the service makes the change.

use super::if_kept;
use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use crate::session_link_tools::LinkTools;
use crate::tool::Verb;
use cairn_model::{Name, NodeId, RevisionId};
use cairn_space::restore_without_keys;
use cairn_space::undo::{OwnVersions, Undoing};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use serde_json::json;

/// The session whose changes are taken back.
pub(super) struct UndoingSession<'a> {
    pub(super) services: &'a Services,
    /// The versions in which it has left the nodes that it changed.
    pub(super) own: &'a Mutex<OwnVersions>,
    /// The changes of links that may be taken back.
    pub(super) link_tools: LinkTools,
}

impl Undoing for UndoingSession<'_> {
    type Error = ToolError;

    // Some seconds of requests, which a call may take.
    const MAX_NODES: usize = 5_000;

    fn own_versions(&self) -> &Mutex<OwnVersions> {
        self.own
    }

    async fn node(&self, id: NodeId) -> ToolResult<Option<Node>> {
        if_kept(self.services.node_as_it_is(id).await)
    }

    async fn children(&self, folder: &Node) -> ToolResult<Vec<Node>> {
        self.services.children_of(folder).await
    }

    /// The deletion gates of other devices ask their users as at any mass deletion.
    async fn trash(&self, node: &Node) -> ToolResult<()> {
        if let Some((space, node)) = self.services.node_if_opened(node.id).await? {
            space.trash_node(&node).await?;
        } else {
            let id = node.id.to_string();
            self.services
                .request(Verb::Delete, &["nodes", &id], &[], None)
                .await?;
        }
        Ok(())
    }

    async fn restore(&self, node: &Node) -> ToolResult<()> {
        if let Some((space, node)) = self.services.node_if_opened(node.id).await? {
            space.restore_node(&node).await?;
            return Ok(());
        }
        let api = self.services.writes.in_space(node.space_id);
        if restore_without_keys(&api, node).await?.is_none() {
            let id = node.id.to_string();
            let path = ["trash", &id, "restore"];
            self.services.request(Verb::Post, &path, &[], None).await?;
        }
        Ok(())
    }

    async fn move_to(&self, node: &Node, parent: Option<NodeId>, name: &Name) -> ToolResult<()> {
        if let Some((space, node)) = self.services.node_if_opened(node.id).await? {
            space.move_node(&node, parent, name).await?;
        } else {
            let id = node.id.to_string();
            let body = json!({ "parent_id": parent, "name": name.as_str() });
            self.services
                .request(Verb::Put, &["nodes", &id], &[], Some(&body))
                .await?;
        }
        Ok(())
    }

    async fn restore_content(&self, node: &Node, revision: RevisionId) -> ToolResult<bool> {
        if let Some((space, node)) = self.services.node_if_opened(node.id).await? {
            let revisions = space.api().revisions(node.id).await?;
            let Some(revision) = revisions.iter().find(|kept| kept.id == revision) else {
                return Ok(false);
            };
            space.restore_revision(&node, revision).await?;
            return Ok(true);
        }
        let (id, revision) = (node.id.to_string(), revision.to_string());
        let path = ["nodes", &id, "revisions", &revision, "restore"];
        let restored = self.services.request(Verb::Post, &path, &[], None).await;
        Ok(if_kept(restored)?.is_some())
    }
}
