//! Nodes (files and folders on the service) that running uploads are creating. The change feed may report one
//! before its upload is recorded: it must not be taken for another device's file then.

use crate::key::Key;
use cairn_model::NodeId;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The set of nodes that are being created.
#[derive(Default)]
pub(crate) struct ArrivingNodes(Mutex<BTreeSet<NodeId>>);

impl ArrivingNodes {
    /// Adds nodes until the returned guard is dropped.
    pub(crate) fn add(self: &Arc<Self>, nodes: Vec<NodeId>) -> ArrivingGuard {
        self.0.lock().extend(nodes.iter().copied());
        ArrivingGuard {
            set: Arc::clone(self),
            nodes,
        }
    }

    /// Returns whether a running upload is creating this node.
    pub(crate) fn contains(&self, key: Key) -> bool {
        match key {
            Key::Node(node) => self.0.lock().contains(&node),
            Key::Local(_) => false,
        }
    }
}

/// Removes its nodes from the set when it is dropped.
pub(crate) struct ArrivingGuard {
    set: Arc<ArrivingNodes>,
    nodes: Vec<NodeId>,
}

impl Drop for ArrivingGuard {
    fn drop(&mut self) {
        let mut set = self.set.0.lock();
        for node in &self.nodes {
            set.remove(node);
        }
    }
}
