//! Nodes whose downloads are being put in place. The change feed may report the deletion of one before its download
//! is recorded: that a person has agreed to it must not be forgotten meanwhile.

use cairn_model::NodeId;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The nodes that are being put in place, each with whether a person has agreed to its deletion since. Files are put
/// in place under the disk lock, so there is one batch at a time.
#[derive(Default)]
pub(crate) struct PlacingNodes(Mutex<BTreeMap<NodeId, bool>>);

impl PlacingNodes {
    /// Adds nodes until the returned guard is dropped.
    pub(crate) fn add(self: &Arc<Self>, nodes: impl IntoIterator<Item = NodeId>) -> PlacingGuard {
        self.0
            .lock()
            .extend(nodes.into_iter().map(|node| (node, false)));
        PlacingGuard(Arc::clone(self))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Records that a person has agreed to the deletion of nodes, as far as they are being put in place.
    pub(crate) fn confirm_deletions(&self, deleted: &BTreeSet<NodeId>) {
        for (node, is_confirmed) in self.0.lock().iter_mut() {
            *is_confirmed |= deleted.contains(node);
        }
    }

    /// Returns whether a person has agreed to the deletion of a node since it was added.
    pub(crate) fn is_deletion_confirmed(&self, node: NodeId) -> bool {
        self.0.lock().get(&node) == Some(&true)
    }
}

/// Empties the set when it is dropped.
pub(crate) struct PlacingGuard(Arc<PlacingNodes>);

impl Drop for PlacingGuard {
    fn drop(&mut self) {
        self.0.0.lock().clear();
    }
}
