//! Keys that identify what steps and transfers touch: a row of the local tree or a node of the service. They
//! are locked while a transfer runs, and parked after a failure.

use cairn_model::{LocalId, NodeId};
use std::collections::BTreeSet;

/// One side of what a step touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Key {
    Local(LocalId),
    Node(NodeId),
}

/// Keys that a running transfer uses: no step touches them meanwhile.
pub(crate) type LockedKeys = BTreeSet<Key>;
