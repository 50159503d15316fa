//! The order of changes of one file or folder: the journal of a session notes the state before and after each, so that
//! two that ran at once could not be taken back one after the other.

use cairn_model::NodeId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

type Turn = Arc<tokio::sync::Mutex<()>>;

/// The turns of the nodes that are being changed.
#[derive(Default)]
pub(crate) struct NodeTurns(Mutex<HashMap<NodeId, Turn>>);

impl NodeTurns {
    /// Waits until no other call changes the node, and holds it until the turn is dropped.
    pub(crate) async fn wait(&self, node: NodeId) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock();
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            turns.entry(node).or_default().clone()
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn changes_of_one_node_wait_for_each_other() {
        let turns = NodeTurns::default();
        let node = |n| NodeId::from_random_bytes([n; 16]);
        let first = turns.wait(node(1)).await;
        assert!(turns.wait(node(2)).now_or_never().is_some());
        let mut second = Box::pin(turns.wait(node(1)));
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert!(second.now_or_never().is_some());
        drop(turns.wait(node(3)).await);
        assert!(turns.0.lock().len() <= 2, "turns that ended are forgotten");
    }
}
