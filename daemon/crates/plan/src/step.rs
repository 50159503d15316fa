//! The steps of a plan.

use cairn_model::{LocalId, Name, NodeId};

/// A folder that may not exist yet on the side where it is needed: named by what identifies it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Parent {
    Root,
    /// Known to the service; its local side may come from an earlier step.
    Node(NodeId),
    /// Only local so far; its node comes from an earlier step.
    Local(LocalId),
}

/// Where something shall stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub parent: Parent,
    pub name: Name,
}

/// Why something is moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveReason {
    /// The other side moved or renamed it.
    Follow,
    /// It lost its name to another: it becomes a conflict copy.
    Conflict,
    /// Out of the way for a moment, to break a ring of moves.
    Detour,
    /// Moves would have made a ring: it goes back to where the service has it.
    PutBack,
}

/// One step. Each is idempotent and is checked again against the world when it is executed.
///
/// What a step does to the synced tree: once both sides stand at one place, the synced node takes
/// that place; as long as they differ (a detour, half of a conflict copy) it keeps the old one. The
/// same holds for the executable bit. Only what transfers or links changes its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Both sides are equal: record it. No transfer. The node may have been linked to another local
    /// file before, which is gone.
    Link {
        local: LocalId,
        node: NodeId,
    },
    /// Both sides are gone: drop the synced node.
    Forget {
        node: NodeId,
    },
    /// The two sides part: drop the synced node, keep both sides as they are.
    Unlink {
        node: NodeId,
    },

    CreateLocalFolder {
        node: NodeId,
        to: Place,
    },
    CreateRemoteFolder {
        local: LocalId,
        to: Place,
    },
    /// The file or folder need not be linked.
    MoveLocal {
        local: LocalId,
        to: Place,
        reason: MoveReason,
    },
    /// The node need not be linked.
    MoveRemote {
        node: NodeId,
        to: Place,
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
    /// `over`: the local file whose content is replaced, and which is linked to the node from then
    /// on; `None`: a new local file.
    Download {
        node: NodeId,
        over: Option<LocalId>,
        to: Place,
    },
    /// `over`: the node that gets a new revision, made from the one that the remote tree had when
    /// the plan was made, and which is linked to the local file from then on; `None`: a new node.
    Upload {
        local: LocalId,
        over: Option<NodeId>,
        to: Place,
    },
    /// To the local trash, with everything below on the disk; the synced nodes of all that goes
    /// are dropped.
    TrashLocal {
        node: NodeId,
        local: LocalId,
    },
    /// To the service's trash, with everything below on the service, in one call; the synced nodes
    /// of all that goes are dropped.
    TrashRemote {
        node: NodeId,
    },
}
