//! Reads files and folders of any of the caller's spaces, as they are now.

use crate::error::{ToolError, ToolResult};
use crate::foreign_records::read_node;
use crate::services::Services;
use crate::tool::Verb;
use cairn_api::ApiError;
use cairn_model::NodeId;
use cairn_wire::nodes::Node;
use serde_json::Value;

impl Services {
    /// Returns a node of any of the caller's spaces, active or in the trash.
    ///
    /// # Errors
    /// Those of the service.
    pub(crate) async fn node_as_it_is(&self, id: NodeId) -> ToolResult<Node> {
        read_node(self.node_record(id).await?)
    }

    /// Returns a node as [`Self::node_as_it_is`] does; `None` where the request of a call itself says better what is
    /// wrong, and for a record that can't be read: a service that has others may carry the call out all the same.
    ///
    /// # Errors
    /// Those of the service, but for a node that it doesn't have for this caller.
    pub(crate) async fn node_if_readable(&self, id: NodeId) -> ToolResult<Option<Node>> {
        match self.node_record(id).await {
            Ok(record) => Ok(read_node(record)
                .inspect_err(|error| tracing::debug!(%error, "what was there before is not known"))
                .ok()),
            Err(ToolError::Api(ApiError::NotFound { .. } | ApiError::Forbidden { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn node_record(&self, id: NodeId) -> ToolResult<Value> {
        let id = id.to_string();
        self.request(Verb::Get, &["nodes", &id], &[], None).await
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
