//! Walks from nodes up to the top of the space: paths, and what lies in what.

use super::{MAX_DEPTH, Space};
use crate::verify::cycle;
use cairn_model::NodeId;
use cairn_transfer::TransferError;
use cairn_wire::nodes::Node;
use std::collections::{HashMap, HashSet};

impl Space {
    /// Returns the path of a node from the top of the space. `known` saves asking twice for the same folder.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) for folders that contain each other.
    pub async fn path_of(
        &self,
        node: &Node,
        known: &mut HashMap<NodeId, String>,
    ) -> Result<String, TransferError> {
        let mut names = vec![node.name.clone()];
        let mut at = node.parent_id;
        let mut base = String::new();
        while let Some(id) = at {
            if let Some(path) = known.get(&id) {
                base.clone_from(path);
                break;
            }
            if names.len() > MAX_DEPTH {
                return Err(cycle());
            }
            let parent = self.node(id).await?;
            names.push(parent.name.clone());
            at = parent.parent_id;
        }
        names.push(base);
        names.reverse();
        let path = names.join("/");
        if let (Some(parent), Some((above, _))) = (node.parent_id, path.rsplit_once('/')) {
            known.insert(parent, above.to_owned());
        }
        Ok(path)
    }

    /// Returns true if a folder is a node, or lies below it.
    ///
    /// # Errors
    /// As the server gives them.
    pub async fn is_at_or_below(
        &self,
        folder: Option<NodeId>,
        node: NodeId,
    ) -> Result<bool, TransferError> {
        let mut at = folder;
        for _ in 0..MAX_DEPTH {
            let Some(id) = at else { break };
            if id == node {
                return Ok(true);
            }
            at = self.api.node(id).await?.parent_id;
        }
        Ok(false)
    }

    /// Leaves out what goes along with another one: it is given twice, or lies in a folder that is given, too.
    ///
    /// # Errors
    /// As for [`Space::node`].
    pub async fn find_outermost(&self, nodes: Vec<Node>) -> Result<Vec<Node>, TransferError> {
        let given: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
        let mut parents: HashMap<NodeId, Option<NodeId>> = HashMap::new();
        let (mut kept, mut seen) = (Vec::new(), HashSet::new());
        for node in nodes {
            let mut above = node.parent_id;
            for _ in 0..MAX_DEPTH {
                let Some(id) = above.filter(|id| !given.contains(id)) else {
                    break;
                };
                above = match parents.get(&id) {
                    Some(parent) => *parent,
                    None => {
                        let parent = self.node(id).await?.parent_id;
                        *parents.entry(id).or_insert(parent)
                    }
                };
            }
            if above.is_none() && seen.insert(node.id) {
                kept.push(node);
            }
        }
        Ok(kept)
    }
}
