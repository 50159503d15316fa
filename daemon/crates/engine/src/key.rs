//! Keys that identify what steps and transfers touch: a row of the local tree or a node of the service. They
//! are locked while a transfer runs, and parked after a failure.

use cairn_model::{LocalId, NodeId};
use cairn_plan::Step;
use std::collections::BTreeSet;

/// One side of what a step touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Key {
    Local(LocalId),
    Node(NodeId),
}

/// Keys that a running transfer uses: no step touches them meanwhile.
pub(crate) type LockedKeys = BTreeSet<Key>;

/// Returns the keys that a step touches; the first is the one that is parked if it fails.
pub(crate) fn keys_of(step: &Step) -> Vec<Key> {
    match step {
        Step::Adopt { local, node }
        | Step::RestoreRemote { local, node }
        | Step::SetLocalExecutable { node, local, .. }
        | Step::SetRemoteExecutable { node, local, .. }
        | Step::TrashLocal { node, local } => vec![Key::Node(*node), Key::Local(*local)],
        Step::Forget { node }
        | Step::Unlink { node }
        | Step::CreateLocalFolder { node, .. }
        | Step::MoveRemote { node, .. }
        | Step::TrashRemote { node } => vec![Key::Node(*node)],
        Step::CreateRemoteFolder { local, .. } | Step::MoveLocal { local, .. } => {
            vec![Key::Local(*local)]
        }
        Step::Download { node, over, .. } => std::iter::once(Key::Node(*node))
            .chain(over.map(Key::Local))
            .collect(),
        Step::Upload { local, over, .. } => std::iter::once(Key::Local(*local))
            .chain(over.map(Key::Node))
            .collect(),
    }
}
