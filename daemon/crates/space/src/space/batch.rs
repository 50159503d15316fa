//! Moves, deletions and restores of many nodes in few requests, each sealed as in a request of its own.
//!
//! Each node succeeds or fails alone. A caller that gets an error back may try that node with a request of its own,
//! which looks again; the two never contradict each other, because each change says which version it is made for.

use super::{Space, facts};
use cairn_api::ApiError;
use cairn_crypto::{NodeFacts, SealInfo, manifest_hash};
use cairn_model::{Cursor, Name, NodeId};
use cairn_transfer::{TransferError, each};
use cairn_wire::nodes::{Node, NodeBatch, NodeOperation, NodeResult};
use cairn_wire::transfer::{DownloadBatch, DownloadFile};
use std::collections::HashMap;

/// The most nodes to change in one request. The service takes more; a command that is interrupted has not yet noted
/// for `cairn undo` what its last request changed.
pub const NODES_PER_REQUEST: usize = 250;

/// A node that gets another place.
#[derive(Clone, PartialEq, Debug)]
pub struct Relocation {
    /// The node as it was found.
    pub node: Node,
    pub parent: Option<NodeId>,
    pub name: Name,
}

impl Space {
    /// Moves or renames up to [`NODES_PER_REQUEST`] nodes in their order, as [`Space::move_node`] does.
    pub async fn move_nodes(
        &self,
        moves: Vec<Relocation>,
    ) -> Vec<(Relocation, Result<Node, TransferError>)> {
        let operation = |one: &Relocation| {
            let moved = NodeFacts {
                parent: one.parent,
                name: one.name.as_str(),
                ..facts(&one.node)
            };
            Ok(NodeOperation::Move {
                id: one.node.id,
                name: one.name.as_str().to_owned(),
                parent_id: one.parent,
                version: Some(one.node.version),
                seal: self.next_seal(&one.node, moved)?,
            })
        };
        let results = self.run(moves, operation).await.into_iter();
        let checked = results.map(|(one, result)| {
            let result = result.and_then(|node| {
                self.expect(&node, one.node.id)?;
                is_at(&node, one.parent, &one.name)
                    .then_some(node)
                    .ok_or_else(|| {
                        TransferError::protocol("a node was moved to another place than asked for")
                    })
            });
            (one, result)
        });
        checked.collect()
    }

    /// Moves up to [`NODES_PER_REQUEST`] nodes to the trash, as [`Space::trash_seen`] does.
    pub async fn trash_nodes_seen(
        &self,
        nodes: Vec<Node>,
        seen: &Cursor,
    ) -> Vec<(Node, Result<Node, TransferError>)> {
        let operation = |node: &Node| {
            let deleted = NodeFacts {
                deleted: true,
                ..facts(node)
            };
            Ok(NodeOperation::Trash {
                id: node.id,
                seen: Some(seen.0.clone()),
                version: Some(node.version),
                seal: self.seal_after(node, self.confirmed_seal(node), deleted)?,
            })
        };
        let results = self.run(nodes, operation).await.into_iter();
        let checked = results.map(|(node, result)| {
            let is_same = |trashed: &Node| trashed.id == node.id;
            let other =
                || TransferError::protocol("the response has another node than the deleted");
            let result =
                result.and_then(|trashed| is_same(&trashed).then_some(trashed).ok_or_else(other));
            (node, result)
        });
        checked.collect()
    }

    /// Takes up to [`NODES_PER_REQUEST`] nodes out of the trash in their order, as [`Space::restore_node`] does.
    pub async fn restore_nodes(
        &self,
        trashed: Vec<Node>,
    ) -> Vec<(Node, Result<Node, TransferError>)> {
        let hashes = self.hashes_of_confirmed(&trashed).await;
        let operation = |node: &Node| {
            let info = self.seal(node);
            let info = info
                .map(|info| without_mark(info, node, &hashes))
                .transpose()?;
            Ok(NodeOperation::Restore {
                id: node.id,
                version: Some(node.version),
                seal: self.seal_after(node, info, facts(node))?,
                in_place: false,
                name: self.name_with_number(node, 2)?,
            })
        };
        let mut checked = Vec::with_capacity(trashed.len());
        for (trashed, result) in self.run(trashed, operation).await {
            let info = self.seal(&trashed);
            let result = match result {
                Ok(node) if info.is_none() || self.seal(&node).is_some() => {
                    self.expect(&node, trashed.id).map(|()| node)
                }
                // It came back to another place than the one for which it was sealed.
                Ok(node) => self.seal_restored(&trashed, node, info).await,
                Err(error) => Err(error),
            };
            checked.push((trashed, result));
        }
        checked
    }

    /// Returns the hashes of the sealed manifests of files whose deletion a person has confirmed: their seal has only
    /// the first half of it. Those that can't be read are missing.
    pub(super) async fn hashes_of_confirmed(&self, trashed: &[Node]) -> HashMap<NodeId, [u8; 32]> {
        let confirmed = trashed.iter().filter_map(|node| {
            let info = self.seal(node).filter(SealInfo::is_confirmed)?;
            Some((node, info, node.revision_id?))
        });
        let confirmed: Vec<_> = confirmed.collect();
        if confirmed.is_empty() {
            return HashMap::new();
        }
        let files = confirmed.iter().map(|(node, _, revision)| DownloadFile {
            node_id: node.id,
            revision_id: *revision,
        });
        let batch = DownloadBatch {
            files: files.collect(),
            content: false,
        };
        let contents = match self.api.download_batch(&batch).await {
            Ok((response, _)) => response.files,
            Err(error) => {
                tracing::debug!(%error, "the manifests of deleted files can't be read together");
                return HashMap::new();
            }
        };
        let hashes = confirmed
            .iter()
            .zip(contents)
            .filter_map(|((node, info, _), file)| {
                let hash = manifest_hash(&file.content?.manifest.0);
                info.is_of(Some(hash)).then_some((node.id, hash))
            });
        hashes.collect()
    }

    /// Sends one operation for each item, and returns each item with the node that came of it.
    async fn run<T>(
        &self,
        items: Vec<T>,
        operation: impl Fn(&T) -> Result<NodeOperation, TransferError>,
    ) -> Vec<(T, Result<Node, TransferError>)> {
        let mut results = Vec::with_capacity(items.len());
        let mut sending = Vec::with_capacity(items.len());
        for item in items {
            match operation(&item) {
                Ok(operation) => sending.push((item, operation)),
                Err(error) => results.push((item, Err(error))),
            }
        }
        if sending.is_empty() {
            return results;
        }
        let sent = each(sending, async |operations: Vec<NodeOperation>| {
            let count = operations.len();
            match self
                .api
                .node_batch(&NodeBatch::each_alone(operations))
                .await
            {
                Ok(response) => response.results.into_iter().map(node_of).collect(),
                Err(error) => (0..count).map(|_| Err(error.clone().into())).collect(),
            }
        });
        results.extend(sent.await);
        results
    }
}

pub(super) fn is_at(node: &Node, parent: Option<NodeId>, name: &Name) -> bool {
    let has_name = Name::new(node.name.clone()).is_ok_and(|own| own.key() == name.key());
    node.parent_id == parent && has_name
}

/// Returns the content of a seal as it was before a person confirmed the deletion; one that was not confirmed as it is.
pub(super) fn without_mark(
    info: SealInfo,
    node: &Node,
    hashes: &HashMap<NodeId, [u8; 32]>,
) -> Result<SealInfo, TransferError> {
    if !info.is_confirmed() {
        return Ok(info);
    }
    let manifest_hash = hashes.get(&node.id).copied();
    if !info.is_of(manifest_hash) {
        let text = format!("the manifest of {} can't be read with others", node.id);
        return Err(TransferError::protocol(text));
    }
    Ok(SealInfo {
        manifest_hash,
        ..info
    })
}

pub(super) fn node_of(result: NodeResult) -> Result<Node, TransferError> {
    match (result.status, result.node) {
        (200..=299, Some(node)) => Ok(node),
        (200..=299, None) => Err(TransferError::protocol("a change came without its node")),
        (status, _) => {
            let message = result.error.map(|error| error.message).unwrap_or_default();
            Err(ApiError::from_status(status, message).into())
        }
    }
}
