//! Requests for operations on nodes.

use crate::error::EngineError;
use crate::step::Ctx;
use cairn_api::{Api, ApiError};
use cairn_model::Kind;
use cairn_wire::nodes::{
    CreateNode, Node, NodeBatch, NodeOperation, NodeResult, Together, UpdateNode,
};
use std::collections::BTreeMap;

/// Sends operations: one alone by its own endpoint, several in one batch. The results are in the order of the
/// operations.
///
/// A node that is moved twice has a temporary name in between. That is nothing that other devices may see, nor may the
/// second move take place without the first: its version may be that of somebody else's change by then, which has another
/// seal. So all from the first move to the second are done together.
pub(super) async fn send(
    ctx: &Ctx,
    mut operations: Vec<NodeOperation>,
) -> Vec<Result<Option<Node>, EngineError>> {
    if operations.len() > 1 {
        let together = exchanges(&operations);
        return send_batch(
            ctx,
            NodeBatch {
                operations,
                together,
            },
        )
        .await;
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
    batch: NodeBatch,
) -> Vec<Result<Option<Node>, EngineError>> {
    let count = batch.operations.len();
    let api = &ctx.engine.structure_api;
    match api.node_batch(&batch).await {
        Ok(response) => response.results.into_iter().map(from_result).collect(),
        Err(error) => (0..count)
            .map(|_| Err(EngineError::Api(error.clone())))
            .collect(),
    }
}

/// Returns the groups of operations that move a node more than once, with all that is between.
fn exchanges(operations: &[NodeOperation]) -> Vec<Together> {
    let mut groups: Vec<Together> = Vec::new();
    let mut moved = BTreeMap::new();
    for (at, operation) in (0..).zip(operations) {
        let NodeOperation::Move { id, .. } = operation else {
            continue;
        };
        let Some(mut first) = moved.insert(*id, at) else {
            continue;
        };
        // Groups that meet are one.
        while let Some(before) = groups.pop_if(|before| first <= before.last) {
            first = first.min(before.first);
        }
        groups.push(Together { first, last: at });
    }
    groups
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

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::NodeId;

    fn groups(moved: &[u8]) -> Vec<(u32, u32)> {
        let operations: Vec<NodeOperation> = moved
            .iter()
            .map(|id| NodeOperation::Move {
                id: NodeId::from_random_bytes([*id; 16]),
                name: "n".into(),
                parent_id: None,
                version: None,
                seal: None,
            })
            .collect();
        let groups = exchanges(&operations);
        groups
            .iter()
            .map(|group| (group.first, group.last))
            .collect()
    }

    #[test]
    fn what_is_moved_twice_is_moved_with_all_between() {
        assert_eq!(groups(&[1, 2, 3]), []);
        assert_eq!(groups(&[9, 1, 2, 1, 9 - 1]), [(1, 3)]);
        assert_eq!(groups(&[1, 2, 1, 3, 4, 3]), [(0, 2), (3, 5)]);
        assert_eq!(groups(&[1, 2, 1, 2]), [(0, 3)], "they overlap");
        assert_eq!(
            groups(&[1, 2, 3, 2, 1]),
            [(0, 4)],
            "one is within the other"
        );
        assert_eq!(groups(&[1, 2, 1, 1]), [(0, 3)]);
    }
}
