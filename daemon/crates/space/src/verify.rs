//! Verification of names and places: the nodes that a device with the keys has put where they are.
//!
//! A listing or a path is the server's word; a seal is not.

use crate::Space;
use cairn_model::{Name, NodeId};
use cairn_transfer::{Download, TransferError};
use cairn_wire::nodes::Node;

/// The most folders above one another; more is a ring, which a server must not be able to make us
/// follow.
const MAX_DEPTH: usize = 1_000;

impl Space {
    /// Returns true if a seal covers the present state of a node that was listed in a folder.
    pub(crate) fn is_sealed_in(&self, node: &Node, parent: Option<NodeId>) -> bool {
        // The seal names the parent: a node listed where it is not would pass with its own.
        node.parent_id == parent && self.seal(node).is_some()
    }

    /// Returns the paths of those nodes from the top of the space down to one, itself included, that
    /// no device with the keys has put where they are.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) for folders that contain each other.
    pub async fn unverified_path(&self, node: &Node) -> Result<Vec<String>, TransferError> {
        Ok(self.path_and_unverified(node).await?.1)
    }

    /// Returns the path of a node, and the paths of the unverified nodes on it.
    pub(crate) async fn path_and_unverified(
        &self,
        node: &Node,
    ) -> Result<(String, Vec<String>), TransferError> {
        let mut chain = vec![node.clone()];
        let mut above = node.parent_id;
        while let Some(id) = above {
            if chain.len() > MAX_DEPTH {
                return Err(ring());
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
        let mut unverified = Vec::new();
        for node in chain.iter().rev() {
            check_name(node)?;
            path = format!("{path}/{}", node.name);
            if !self.is_sealed_in(node, node.parent_id) {
                unverified.push(path.clone());
            }
        }
        Ok((path, unverified))
    }

    /// Returns true if a node's content is what some device with the keys has written into it, given
    /// that the node itself is verified: a past revision can be said to be a copy of another file.
    #[must_use]
    pub fn is_own_content(&self, download: &Download) -> bool {
        download.manifest_hash.is_some() || download.source.is_none()
    }
}

pub(crate) fn ring() -> TransferError {
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
