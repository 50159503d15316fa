//! The three trees that a plan is made from.
//!
//! A snapshot may be partial (only what changed, with the nodes around it), under these rules:
//! - closed under pairing: a synced node comes with its local and its remote node where they exist,
//!   and a local or remote node that is synced comes with its synced node;
//! - closed upwards: the parents of every node, in its own tree, up to the root;
//! - the node that has a wanted name is included: for each local node the remote node of the same
//!   name in the counterpart of its folder, and the other way round; for one under a temporary name also
//!   those that have its original name, or the place that it had when both sides were last equal, on both sides;
//! - of a folder that one side lacks, or has moved to where it is blocked, all descendants on the other side.
//!
//! So a synced node without a local node *was deleted locally*; absence is never a gap in the snapshot.

use cairn_model::{ContentHash, Kind, LocalId, Name, NodeId, RevisionId};
use std::collections::{BTreeMap, BTreeSet};

/// A node of the local tree, as a scan saw it. `parent: None` is the folder's root, which is no node itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalNode {
    pub id: LocalId,
    pub parent: Option<LocalId>,
    pub name: Name,
    pub kind: Kind,
    /// The hash of the current bytes; `None` if they changed since they were last read, or were never
    /// read.
    pub hash: Option<ContentHash>,
    pub size: u64,
    pub executable: bool,
    /// Ignored, unreadable, or with a name that differs from a sibling's by case or normalisation
    /// alone: it and all below stay as they are.
    ///
    /// A node that was moved or renamed to where it is blocked has left the folder: for the service
    /// it is deleted. Not so a node whose name a sibling shares after normalisation. A node must not
    /// be blocked for its [temporary name](cairn_model::is_temporary_name).
    pub blocked: bool,
    /// Blocked for now: its content can't be read, or changes while it is read. A move didn't take it out of sync.
    pub is_unknown: bool,
}

/// A node of the remote tree, as the change feed gave it. `parent: None` is the paired remote folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteNode {
    pub id: NodeId,
    pub parent: Option<NodeId>,
    pub name: Name,
    pub kind: Kind,
    /// Present on files.
    pub revision: Option<RevisionId>,
    /// The hash of the revision's plaintext, if its manifest was opened before.
    pub hash: Option<ContentHash>,
    pub size: u64,
    pub executable: bool,
    /// A seal vouches for the executable bit. If none does and there is no merge base, the local bit stays.
    pub is_executable_sealed: bool,
    /// If blocked, it and all below stay as they are. A node that was moved below a blocked one has
    /// left: for this device it is deleted.
    pub blocked: Blocked,
}

/// The reason for which a remote node is blocked, if it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Blocked {
    #[default]
    No,
    /// A node that this device can't accept, or doesn't know well enough. A synced one stays, because its name
    /// may be the reason.
    Unsupported,
    /// A node that is not selected for this device. One that was moved or renamed to be unselected has left.
    Unselected,
}

/// A node of the synced tree, as both sides last agreed on it: the merge base.
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

/// The three trees: everything that a plan is made from, besides the policy.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trees {
    pub local: BTreeMap<LocalId, LocalNode>,
    pub remote: BTreeMap<NodeId, RemoteNode>,
    pub synced: BTreeMap<NodeId, SyncedNode>,
    /// Synced nodes that are gone from the remote tree because a device has put each into the service's trash, for
    /// itself and not with its folder, and that can be taken out of it as far as is known.
    pub trashed: BTreeSet<NodeId>,
    /// Other names that this disk takes for those of local nodes, as far as is known (`A` beside `a` on a disk that
    /// ignores case): what is to get such a name in the folder of the node waits until that has another one.
    pub aliases: BTreeMap<LocalId, BTreeSet<Name>>,
}
