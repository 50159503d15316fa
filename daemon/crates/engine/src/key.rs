//! Keys by which steps and transfers are told apart.

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
