//! The three trees that a plan is made from.
//!
//! A snapshot may be partial (only what changed, with its surroundings), under these promises:
//! - closed under links: a synced node comes with its local and its remote node where they exist,
//!   and a linked local or remote node comes with its synced node;
//! - closed upwards: the parents of every node, in its own tree, up to the root;
//! - the node that holds a wanted name is there: for each local node the remote node of the same
//!   name in the counterpart of its folder, and the other way round;
//! - of a folder that is gone on one side, all descendants on the other side.
//!
//! So a synced node without a local node *was deleted locally*; absence is never a mere gap.

use cairn_model::{ContentHash, Kind, LocalId, Name, NodeId, RevisionId};
use std::collections::BTreeMap;

/// What a scan saw. `parent: None` is the folder's root, which is no node itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalNode {
    pub id: LocalId,
    pub parent: Option<LocalId>,
    pub name: Name,
    pub kind: Kind,
    /// Of the bytes as they are now; `None`: changed since they were last read, or never read.
    pub hash: Option<ContentHash>,
    pub size: u64,
    pub executable: bool,
    /// Ignored, unreadable, or its name clashes on this disk: it and all below stay as they are.
    ///
    /// What was moved or renamed into such a place has left: for the service it is deleted. Not so
    /// a node whose name a sibling shares after normalisation. A [detour](crate::is_detour) must
    /// not be held for its name.
    pub held: bool,
}

/// What the change feed said. `parent: None` is the linked remote folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteNode {
    pub id: NodeId,
    pub parent: Option<NodeId>,
    pub name: Name,
    pub kind: Kind,
    /// Present on files.
    pub revision: Option<RevisionId>,
    /// Of the revision's plaintext, if its manifest was opened before.
    pub hash: Option<ContentHash>,
    pub size: u64,
    pub executable: bool,
    /// Held: it and all below stay as they are. What was moved below such a node has left: for this
    /// device it is deleted.
    pub hold: Hold,
}

/// Whether a remote node is held, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Hold {
    #[default]
    No,
    /// Not acceptable on this device, or not known well enough. What is synced stays, because its
    /// name may be the reason.
    Unfit,
    /// Not selected for this device. What was moved or renamed to such a place has left.
    Unselected,
}

/// What both sides last agreed on: the merge base.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncedNode {
    pub node: NodeId,
    pub local: LocalId,
    pub parent: Option<NodeId>,
    pub name: Name,
    pub kind: Kind,
    pub revision: Option<RevisionId>,
    pub hash: Option<ContentHash>,
    pub size: u64,
    pub executable: bool,
}

/// The planner's whole view of the world.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trees {
    pub local: BTreeMap<LocalId, LocalNode>,
    pub remote: BTreeMap<NodeId, RemoteNode>,
    pub synced: BTreeMap<NodeId, SyncedNode>,
}
