//! The steps of a plan.

use cairn_model::{LocalId, Name, NodeId};

/// The parent of a step's target. It may not exist yet on the side where it is needed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Parent {
    Root,
    /// Known to the service; its local side may come from an earlier step.
    Node(NodeId),
    /// A folder that is local alone so far; its node comes from an earlier step.
    Local(LocalId),
}

/// The target of a step: a parent and the name in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParentAndName {
    pub parent: Parent,
    pub name: Name,
}

/// The reason of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveReason {
    /// The other side moved or renamed it.
    Follow,
    /// Another has its name: it becomes a conflict copy.
    Conflict,
    /// A temporary name breaks a cycle of moves such as a swap.
    Temporary,
    /// The moves of both sides together would make a folder its own ancestor: it goes back to where
    /// the service has it.
    PutBack,
}

/// One step. Each is idempotent, and its preconditions are checked again when it is executed.
///
/// Effect on the synced tree: once both sides have the same parent and name, the synced node takes
/// them; as long as they differ (a temporary name, half of a conflict copy) it keeps the old ones.
/// The same holds for the executable bit. Only transfers and `Adopt` change its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Records that a local and a remote node are the same. No transfer. The node may have been
    /// paired with another local file before, which is gone.
    Adopt {
        local: LocalId,
        node: NodeId,
    },
    /// Drops the synced node: both sides are gone.
    Forget {
        node: NodeId,
    },
    /// Drops the synced node and keeps both sides as they are, as two separate nodes.
    Unlink {
        node: NodeId,
    },

    CreateLocalFolder {
        node: NodeId,
        to: ParentAndName,
    },
    CreateRemoteFolder {
        local: LocalId,
        to: ParentAndName,
    },
    /// The file or folder need not be synced.
    MoveLocal {
        local: LocalId,
        to: ParentAndName,
        reason: MoveReason,
    },
    /// Takes a node that is synced with a local file or folder out of the service's trash, with everything that went
    /// there with it. The synced nodes stay: what was changed here since is the plan after it.
    RestoreRemote {
        node: NodeId,
        local: LocalId,
    },
    /// The node need not be synced.
    MoveRemote {
        node: NodeId,
        to: ParentAndName,
        reason: MoveReason,
    },
    /// Comes before a transfer of the same file, which then carries the bit.
    SetLocalExecutable {
        node: NodeId,
        local: LocalId,
        executable: bool,
    },
    SetRemoteExecutable {
        node: NodeId,
        local: LocalId,
        executable: bool,
    },
    /// `over`: the local file whose content is replaced, and which is paired with the node from then
    /// on; `None`: a new local file.
    Download {
        node: NodeId,
        over: Option<LocalId>,
        to: ParentAndName,
    },
    /// `over`: the node that gets a new revision, made from the one that the remote tree had when
    /// the plan was made, and which is paired with the local file from then on; `None`: a new node.
    Upload {
        local: LocalId,
        over: Option<NodeId>,
        to: ParentAndName,
    },
    /// Moves it to the local trash, with everything below on the disk, and drops the synced nodes of
    /// all that goes.
    TrashLocal {
        node: NodeId,
        local: LocalId,
    },
    /// Moves it to the service's trash, with everything below on the service, in one call, and drops
    /// the synced nodes of all that goes.
    TrashRemote {
        node: NodeId,
    },
}
