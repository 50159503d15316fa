//! The outcome of planning.

use crate::Step;
use cairn_model::{LocalId, NodeId, RelPath};

/// A fact without which a decision would be a guess.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Need {
    /// Read the local file and record its hash.
    LocalHash(LocalId),
    /// Open the manifest of the node's current revision and record its hash.
    RemoteHash(NodeId),
}

/// A conflict that the plan settles by keeping both versions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// What keeps the name.
    pub node: Option<NodeId>,
    /// What becomes the conflict copy.
    pub copy: LocalId,
    pub kind: ConflictKind,
    /// The place where the winner stands, and that of the copy.
    pub path: RelPath,
    pub copy_path: RelPath,
}

/// What met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConflictKind {
    /// Both sides changed the same file.
    Edit,
    /// Both sides made something of the same name.
    Create,
    /// A move or rename met a name that was taken.
    Move,
    /// A file met a folder.
    Type,
}

/// What to do. With `needs`, nothing else is there: get the facts and plan again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    pub needs: Vec<Need>,
    pub steps: Vec<Step>,
    pub conflicts: Vec<Conflict>,
    /// Synced files that the plan removes (or would remove, if deletions are held) on this device.
    pub local_deletions: u64,
    /// Synced files that the plan removes (or would remove) on the service.
    pub remote_deletions: u64,
}
