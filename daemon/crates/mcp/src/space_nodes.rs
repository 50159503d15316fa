//! Reads files and folders of any of the caller's spaces, as they are now.

use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use crate::tool::Verb;
use cairn_model::NodeId;
use cairn_wire::nodes::Node;

impl Services {
    /// Returns a node of any of the caller's spaces, active or in the trash.
    ///
    /// # Errors
    /// Those of the service.
    pub(crate) async fn node_as_it_is(&self, id: NodeId) -> ToolResult<Node> {
        let id = id.to_string();
        let node = self.request(Verb::Get, &["nodes", &id], &[], None).await?;
        serde_json::from_value(node).map_err(|_| ToolError::Internal)
    }

    /// Returns the files and folders directly in a folder of any of the caller's spaces.
    ///
    /// # Errors
    /// Those of the service.
    pub(crate) async fn children_of(&self, folder: &Node) -> ToolResult<Vec<Node>> {
        let own = self.own_space_id().await?;
        let children = if folder.space_id == own {
            self.reads.children(Some(folder.id), None).await?
        } else {
            let api = self.reads_in(folder.space_id).await;
            api.children(Some(folder.id), None).await?
        };
        Ok(children)
    }
}
