//! Verification of names and parents of nodes: which nodes a device with the keys has put where they are.
//!
//! A listing or a path is only the server's claim; a seal (a MAC made with the space's key) proves it.

use crate::Space;
use crate::space::MAX_DEPTH;
use cairn_crypto::SealInfo;
use cairn_model::{Name, NodeId};
use cairn_transfer::{Download, TransferError};
use cairn_wire::nodes::Node;

/// The seals of the service's nodes that this device has seen: an older one is a rollback.
pub trait SeenSeals: Send + Sync {
    /// Returns the number of the newest seal of a node that was seen; 0 if none was.
    ///
    /// # Errors
    /// The index's, if it can't be read.
    fn newest_number(&self, node: NodeId) -> std::io::Result<u64>;

    /// Returns whether a node's valid seal of an epoch (generation of the space's key) before the present one
    /// vouches for it: this device saw it before it had listed everything with the present keys. Afterwards,
    /// whoever lost access when the key was replaced may have made it.
    ///
    /// # Errors
    /// The index's, if it can't be read.
    fn still_vouches(
        &self,
        present_epoch: u32,
        node: &Node,
        info: SealInfo,
    ) -> std::io::Result<bool>;
}

impl Space {
    /// Returns true if a seal covers the present state of a node that was listed in a folder.
    pub(crate) fn is_sealed_in(&self, node: &Node, parent: Option<NodeId>) -> bool {
        // The seal names the parent: a node listed where it is not would pass with its own.
        node.parent_id == parent && self.seal(node).is_some()
    }

    /// Returns true if a seal covers the present state of a node that was listed in a folder, and this device has
    /// seen no later one. Nothing is verified if that can't be read.
    pub(crate) fn is_verified_in(&self, node: &Node, parent: Option<NodeId>) -> bool {
        if !self.is_sealed_in(node, parent) {
            return false;
        }
        let is_past = self.is_past(node);
        if let Err(error) = &is_past {
            tracing::warn!(%error, "what this device has seen of the service can't be read");
        }
        is_past.is_ok_and(|is_past| !is_past)
    }

    /// Returns true if a seal covers the present state of a node, and this device has seen no later one.
    #[must_use]
    pub fn is_verified(&self, node: &Node) -> bool {
        self.is_verified_in(node, node.parent_id)
    }

    /// Returns the paths of those nodes from the top of the space down to one, itself included, that
    /// no device with the keys has put where they are, or of which this device has seen a later state.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) for folders that contain each other.
    pub async fn unverified_path(&self, node: &Node) -> Result<Vec<String>, TransferError> {
        Ok(self.unverified_paths_in(self.chain(node).await?))
    }

    /// Returns the paths of the unverified nodes among those from the top of the space down to one.
    pub(crate) fn unverified_paths_in(&self, mut chain: Vec<(String, Node)>) -> Vec<String> {
        chain.retain(|(_, node)| !self.is_verified(node));
        chain.into_iter().map(|(path, _)| path).collect()
    }

    /// Returns true if the seal of a node is older than one that this device has seen: somebody shows a past
    /// state as the present one.
    pub(crate) fn is_past(&self, node: &Node) -> std::io::Result<bool> {
        let (Some(seen), Some(info)) = (&self.seen, self.seal_of_any_epoch(node)) else {
            return Ok(false);
        };
        Ok(info.seq < seen.newest_number(node.id)?)
    }

    /// Returns the nodes from the top of the space down to one, itself included, each with its path.
    pub(crate) async fn chain(&self, node: &Node) -> Result<Vec<(String, Node)>, TransferError> {
        let mut chain = vec![node.clone()];
        let mut above = node.parent_id;
        while let Some(id) = above {
            if chain.len() > MAX_DEPTH {
                return Err(cycle());
            }
            let parent = self.node(id).await?;
            if parent.id != id {
                return Err(TransferError::protocol(format!(
                    "it sent the node {} instead of {id}",
                    parent.id
                )));
            }
            above = parent.parent_id;
            chain.push(parent);
        }
        let mut path = String::new();
        let mut found = Vec::with_capacity(chain.len());
        for node in chain.into_iter().rev() {
            check_name(&node)?;
            path = format!("{path}/{}", node.name);
            found.push((path.clone(), node));
        }
        Ok(found)
    }
}

/// Returns what no seal covers in a content of a file: the nodes of its `unverified_path`, or, if that has none, the
/// revision.
#[must_use]
pub fn unverified_content(
    node: &Node,
    content: &Download,
    mut unverified_path: Vec<String>,
) -> Vec<String> {
    if unverified_path.is_empty() && !is_own_content(content) {
        unverified_path.push(format!("{} in revision {}", node.name, content.revision));
    }
    unverified_path
}

/// Returns true if a node's content is what some device with the keys has written into it, given
/// that the node itself is verified: a past revision can be said to be a copy of another file.
fn is_own_content(download: &Download) -> bool {
    download.manifest_hash.is_some() || download.source.is_none()
}

/// Returns the path of the last of the nodes from the top of the space down to it.
pub(crate) fn path_in(chain: &[(String, Node)]) -> String {
    chain
        .last()
        .map(|(path, _)| path.clone())
        .unwrap_or_default()
}

pub(crate) fn cycle() -> TransferError {
    TransferError::protocol("the server's folders contain each other: nothing was done")
}

/// Refuses a name that can't be one: names become paths in somebody else's archive.
pub(crate) fn check_name(node: &Node) -> Result<(), TransferError> {
    match Name::new(node.name.clone()) {
        Ok(_) => Ok(()),
        Err(error) => Err(TransferError::protocol(format!(
            "the node {} has an impossible name: {error}",
            node.id
        ))),
    }
}
