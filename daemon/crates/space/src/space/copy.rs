//! Copies on the service, sealed as far as the originals are. A seal authenticates a node's name, parent and content.
//!
//! The service copies without keys, in one step, and keeps the seal of the top only. Everything below gets its
//! seals afterwards: each for the name and the content that its original was sealed with, and never for what
//! only the service says.

use super::{Space, facts, new_node};
use crate::verify::cycle;
use cairn_crypto::{NodeFacts, SealInfo};
use cairn_model::{Kind, Name, NodeId};
use cairn_transfer::{KnownNumbers, TransferError};
use cairn_wire::nodes::{
    ContentSource, CopyNode, Node, NodeBatch, NodeOperation, NodeResult, NodeState,
};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::{HashMap, HashSet};

/// Nodes of a copied folder that get seals: some seconds of requests.
const MAX_SEALED: usize = 5_000;
/// Folders listed at once.
const FOLDERS_AT_ONCE: usize = 8;
/// Seals in one request; the service takes 1,000.
const BATCH: usize = 500;

/// A copy that was made.
#[derive(Clone, PartialEq, Debug)]
pub struct CopiedNode {
    pub node: Node,
    /// The number of files and folders below it that are not sealed: their originals are not, or they were
    /// changed meanwhile.
    pub unsealed: u64,
    /// False if there are more files and folders below it than get seals at once, or they could not be listed.
    pub is_whole: bool,
}

impl CopiedNode {
    /// Returns a sentence for people if not everything in the copy is verified.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        if !self.is_whole {
            return Some(
                "the copy is made, but not everything in it is verified: it is too large for that, or the service failed; copy the folders in it one by one instead"
                    .to_owned(),
            );
        }
        match self.unsealed {
            0 => None,
            1 => Some(
                "1 file or folder in the copy is not verified: its original is not, or it was changed meanwhile"
                    .to_owned(),
            ),
            many => Some(format!(
                "{many} files and folders in the copy are not verified: their originals are not, or they were changed meanwhile"
            )),
        }
    }
}

/// The nodes that were found below a copied folder.
struct Below {
    /// The copies that are to be sealed, with what their originals were sealed with.
    to_seal: Vec<(Node, SealInfo)>,
    unsealed: u64,
    is_whole: bool,
    /// Folders still to be listed, originals and copies.
    level: Vec<(NodeId, NodeId)>,
    seen: HashSet<NodeId>,
}

impl Space {
    /// Copies a node, a folder with everything below it, in one step. Everything below a folder is sealed after
    /// that, as its originals are; a failure of that leaves it unsealed, which the outcome says.
    ///
    /// # Errors
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if the name is taken,
    /// [`ApiError::PreconditionFailed`](cairn_api::ApiError::PreconditionFailed) if the node was changed since
    /// it was found: the copy is sealed for the content that it had.
    pub async fn copy_node(
        &self,
        node: &Node,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<CopiedNode, TransferError> {
        let id = new_node();
        // The content of an older state than this device has seen is not vouched for once more.
        let known = self.seal(node).filter(|_| self.is_verified(node));
        let seal = known.map(|info| {
            let facts = NodeFacts {
                node: id,
                parent,
                name: name.as_str(),
                ..facts(node)
            };
            self.make_seal(&facts, SealInfo { seq: 1, ..info })
        });
        let copy = CopyNode {
            id: Some(id),
            parent_id: parent,
            name: Some(name.as_str().to_owned()),
            seal,
        };
        let sealed_for = copy.seal.as_ref().map(|_| node.version);
        let copy = self.api.copy_node(node.id, sealed_for, &copy).await?;
        if copy.id != id {
            return Err(TransferError::protocol(format!(
                "it sent the node {} instead of the copy {id}",
                copy.id
            )));
        }
        match node.kind {
            Kind::File => Ok(CopiedNode {
                node: copy,
                unsealed: 0,
                is_whole: true,
            }),
            Kind::Folder => Ok(self.seal_copied_folder(node, copy, name).await),
        }
    }

    async fn seal_copied_folder(&self, original: &Node, copy: Node, name: &Name) -> CopiedNode {
        let below = match self.below_copy(original, &copy).await {
            Ok(below) => below,
            Err(error) => {
                tracing::warn!(node = %copy.id, %error, "what is in the copy is not sealed");
                return CopiedNode {
                    node: copy,
                    unsealed: 0,
                    is_whole: false,
                };
            }
        };
        let wanted = below.to_seal.len();
        let sealed = self.seal_all(&below.to_seal).await;
        let mut copied = CopiedNode {
            node: copy,
            unsealed: below.unsealed + wanted.saturating_sub(sealed) as u64,
            is_whole: below.is_whole,
        };
        if sealed == wanted && wanted > 0 {
            // Its time is that of the whole work then: what is newer in it is the work of others.
            match self
                .move_node(&copied.node, copied.node.parent_id, name)
                .await
            {
                Ok(node) => copied.node = node,
                Err(error) => tracing::debug!(node = %copied.node.id, %error, "not sealed again"),
            }
        }
        copied
    }

    /// Finds the copies below a copied folder, with their originals.
    async fn below_copy(&self, original: &Node, copy: &Node) -> Result<Below, TransferError> {
        let mut below = Below {
            to_seal: Vec::new(),
            unsealed: 0,
            is_whole: true,
            level: vec![(original.id, copy.id)],
            seen: HashSet::from([copy.id]),
        };
        while !below.level.is_empty() {
            let listed = stream::iter(std::mem::take(&mut below.level))
                .map(|(from, to)| async move {
                    let originals = self.children(Some(from)).await?;
                    let copies = self.children(Some(to)).await?;
                    Ok::<_, TransferError>((originals, copies))
                })
                .buffered(FOLDERS_AT_ONCE)
                .try_collect::<Vec<_>>()
                .await?;
            for (originals, copies) in listed {
                let by_name = |node: Node| (node.name.clone(), node);
                let mut originals: HashMap<_, _> = originals.into_iter().map(by_name).collect();
                for copy in copies {
                    if below.seen.len() > MAX_SEALED {
                        below.is_whole = false;
                        return Ok(below);
                    }
                    let original = originals.remove(&copy.name);
                    self.add_copy(&mut below, original, copy)?;
                }
            }
        }
        Ok(below)
    }

    fn add_copy(
        &self,
        below: &mut Below,
        original: Option<Node>,
        copy: Node,
    ) -> Result<(), TransferError> {
        if !below.seen.insert(copy.id) {
            return Err(cycle());
        }
        let Some(original) = original else {
            below.unsealed += 1;
            return Ok(());
        };
        if (original.kind, copy.kind) == (Kind::Folder, Kind::Folder) {
            below.level.push((original.id, copy.id));
        }
        if self.seal(&copy).is_some() {
            return Ok(());
        }
        match self.seal_of_original(&original, &copy) {
            Some(info) => below.to_seal.push((copy, info)),
            None => below.unsealed += 1,
        }
        Ok(())
    }

    /// Returns what the original was sealed with, if the copy has its name and content.
    fn seal_of_original(&self, original: &Node, copy: &Node) -> Option<SealInfo> {
        let info = self.seal(original)?;
        // Without an answer it counts as past, so that nothing is sealed.
        if self.is_past(original).unwrap_or(true) {
            return None;
        }
        let own_content = original.revision_id.map(|revision_id| ContentSource {
            node_id: original.id,
            revision_id,
        });
        let is_same = (original.kind, original.executable, original.name.as_str())
            == (copy.kind, copy.executable, copy.name.as_str())
            && (original.state, copy.state) == (NodeState::Active, NodeState::Active)
            && copy.content_source == original.content_source.or(own_content);
        is_same.then_some(info)
    }

    /// Seals nodes where they are; returns the number of those that nobody else had changed.
    async fn seal_all(&self, nodes: &[(Node, SealInfo)]) -> usize {
        let mut sealed = 0;
        for nodes in nodes.chunks(BATCH) {
            let operations = nodes.iter().map(|(node, info)| self.sealing(node, *info));
            let operations = match operations.collect::<Result<Vec<_>, _>>() {
                Ok(operations) => operations,
                Err(error) => {
                    tracing::warn!(%error, "some of the copy is not sealed");
                    continue;
                }
            };
            match self
                .api
                .node_batch(&NodeBatch::each_alone(operations))
                .await
            {
                Ok(response) => {
                    let is_done = |result: &&NodeResult| (200..300).contains(&result.status);
                    sealed += response.results.iter().filter(is_done).count();
                }
                Err(error) => tracing::warn!(%error, "some of the copy is not sealed"),
            }
        }
        sealed
    }

    /// Returns the operation that leaves a node where it is, and seals it.
    fn sealing(&self, node: &Node, info: SealInfo) -> Result<NodeOperation, TransferError> {
        let known = KnownNumbers {
            seal_seq: 0,
            sealed: false,
            revision: None,
            version: node.version,
        };
        let seq = known.next_seal()?;
        Ok(NodeOperation::Move {
            id: node.id,
            name: node.name.clone(),
            parent_id: node.parent_id,
            version: Some(node.version),
            seal: Some(self.make_seal(&facts(node), SealInfo { seq, ..info })),
        })
    }
}
