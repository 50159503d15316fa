//! A change that was made, with what is needed to take it back.

use cairn_model::{NodeId, RevisionId};
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;
use serde::{Deserialize, Serialize};

/// A change of a file or folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum NodeChange {
    /// An empty folder was made.
    Made,
    /// A copy was made, of a folder with what was in it.
    Copied,
    /// The node came out of the trash, with what went there along.
    Restored,
    /// `parent` and `name` are the place that it left, `to_parent` and `to_name` the one that it got; that name
    /// is empty in records of earlier versions, which did not note it.
    Moved {
        parent: Option<NodeId>,
        name: String,
        #[serde(default)]
        to_parent: Option<NodeId>,
        #[serde(default)]
        to_name: String,
    },
    Trashed,
    /// A file got another content; `before` is the revision that it had.
    Content {
        before: RevisionId,
        after: RevisionId,
    },
}

impl NodeChange {
    /// Returns the move between two states of a node, if there was one.
    #[must_use]
    pub fn move_between(before: &Node, after: &Node) -> Option<Self> {
        let is_same = (before.parent_id, &before.name) == (after.parent_id, &after.name);
        (!is_same).then(|| Self::Moved {
            parent: before.parent_id,
            name: before.name.clone(),
            to_parent: after.parent_id,
            to_name: after.name.clone(),
        })
    }

    /// Returns the change of content between two states of a file, if there was one.
    #[must_use]
    pub fn content(before: &Node, after: &Node) -> Option<Self> {
        let (before, after) = (before.revision_id?, after.revision_id?);
        (before != after).then_some(Self::Content { before, after })
    }
}

/// A change that was made, and the states of its node on both sides of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Record {
    pub node: NodeId,
    #[serde(flatten)]
    pub change: NodeChange,
    /// The node's version before the change; none for a node that came with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_before: Option<u64>,
    /// The node's version after the change; none where nobody knows it, as in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The server's time of the change: what is newer below a folder was worked on since.
    #[serde(default)]
    pub at: Timestamp,
}

impl Record {
    /// Records a change of a node that was in the state `before`, if it was there, and is in the state `after`.
    #[must_use]
    pub fn new(change: NodeChange, before: Option<&Node>, after: &Node) -> Self {
        Self {
            node: after.id,
            change,
            version_before: before.map(|node| node.version),
            version: Some(after.version),
            at: after.updated_at,
        }
    }
}
