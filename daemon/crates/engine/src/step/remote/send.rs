//! Requests for operations on nodes.

use crate::error::EngineError;
use crate::step::Ctx;
use cairn_api::{Api, ApiError};
use cairn_model::Kind;
use cairn_wire::nodes::{CreateNode, Node, NodeBatch, NodeOperation, NodeResult, UpdateNode};

/// Sends operations: one alone by its own endpoint, several in one batch. The results are in the order of the
/// operations.
pub(super) async fn send(
    ctx: &Ctx,
    mut operations: Vec<NodeOperation>,
) -> Vec<Result<Option<Node>, EngineError>> {
    if operations.len() > 1 {
        return send_batch(ctx, operations).await;
    }
    let api = &ctx.engine.structure_api;
    match operations.pop() {
        Some(operation) => vec![send_one(api, operation).await.map_err(EngineError::Api)],
        None => Vec::new(),
    }
}

/// Sends operations in one batch. The results are in the order of the operations.
pub(super) async fn send_batch(
    ctx: &Ctx,
    operations: Vec<NodeOperation>,
) -> Vec<Result<Option<Node>, EngineError>> {
    let count = operations.len();
    let api = &ctx.engine.structure_api;
    match api.node_batch(&NodeBatch { operations }).await {
        Ok(response) => response.results.into_iter().map(from_result).collect(),
        Err(error) => (0..count)
            .map(|_| Err(EngineError::Api(error.clone())))
            .collect(),
    }
}

async fn send_one(api: &Api, operation: NodeOperation) -> Result<Option<Node>, ApiError> {
    match operation {
        NodeOperation::CreateFolder {
            id,
            parent_id,
            name,
            seal,
        } => {
            let folder = CreateNode {
                id,
                parent_id,
                kind: Kind::Folder,
                name,
                seal,
            };
            api.create_folder(&folder).await.map(Some)
        }
        NodeOperation::Move {
            id,
            name,
            parent_id,
            version,
            seal,
        } => {
            let change = UpdateNode {
                name: Some(name),
                parent_id: Some(parent_id),
                seal,
                ..Default::default()
            };
            api.update_node(id, version, &change).await.map(Some)
        }
        NodeOperation::Trash { id, seen, seal, .. } => {
            match api.delete_node(id, seen.as_deref(), seal.as_ref()).await {
                // Gone is what was wanted.
                Ok(()) | Err(ApiError::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        }
        // No plan has one here: what comes back is a step of its own.
        NodeOperation::Restore { id, .. } => api.restore_node(id).await.map(Some),
    }
}

fn from_result(result: NodeResult) -> Result<Option<Node>, EngineError> {
    let message = result.error.map(|e| e.message).unwrap_or_default();
    match result.status {
        200..=299 => Ok(result.node),
        status => Err(ApiError::from_status(status, message).into()),
    }
}
