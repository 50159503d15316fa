//! The result of planning.

use crate::Step;
use cairn_model::{ConflictKind, Kind, LocalId, NodeId, RelPath, RevisionId, Side};

/// A fact without which a decision would be a guess.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Need {
    /// Read the local file and record its hash.
    LocalHash(LocalId),
    /// Open the manifest of the node's current revision and record its hash.
    RemoteHash(NodeId),
}

/// A conflict, resolved by keeping both versions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The node that keeps the name; `None` if it is only local so far.
    pub node: Option<NodeId>,
    /// The local file or folder that becomes the conflict copy.
    pub copy: LocalId,
    pub kind: ConflictKind,
    /// The revision of the node that both versions of one file were made from.
    pub base: Option<RevisionId>,
    /// The final path of the winner.
    pub path: RelPath,
    /// The final path of the copy.
    pub copy_path: RelPath,
}

/// A synced file or folder that a plan removes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deletion {
    pub node: NodeId,
    pub kind: Kind,
}

/// The steps that make the trees equal. If `needs` isn't empty, everything else is: get these facts
/// and plan again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    pub needs: Vec<Need>,
    pub steps: Vec<Step>,
    pub conflicts: Vec<Conflict>,
    /// All that the plan removes (or would remove, if deletions are blocked) on this device: what is
    /// in a folder that goes as a whole is named, too.
    pub local_deletions: Vec<Deletion>,
    /// The same on the service.
    pub remote_deletions: Vec<Deletion>,
    /// Says that the steps bring back nodes on which other decisions depend. Only they are planned; everything else
    /// is, as the trees are after them.
    pub rest_waits: bool,
}

impl Plan {
    /// Returns what the plan removes, or would remove, on one side.
    #[must_use]
    pub fn deletions(&self, side: Side) -> &[Deletion] {
        match side {
            Side::Local => &self.local_deletions,
            Side::Remote => &self.remote_deletions,
        }
    }
}
