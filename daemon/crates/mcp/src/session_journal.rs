//! The changes that the tools of one session made to files and folders, so that they can be taken back.

use cairn_model::{NodeId, RevisionId};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;

/// The folder and name of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Position {
    pub(crate) parent: Option<NodeId>,
    pub(crate) name: String,
}

impl Position {
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            parent: node.parent_id,
            name: node.name.clone(),
        }
    }
}

/// A change, with what is needed to take it back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// An empty folder, or a copy with this content.
    Made {
        node: NodeId,
        revision: Option<RevisionId>,
    },
    Moved {
        node: NodeId,
        from: Position,
        to: Position,
    },
    Trashed {
        node: NodeId,
    },
    /// It came out of the trash.
    Restored {
        node: NodeId,
    },
}

/// The changes of a session, oldest first.
#[derive(Default)]
pub(crate) struct SessionJournal(Mutex<Vec<Change>>);

impl SessionJournal {
    pub(crate) fn note(&self, change: Change) {
        self.0.lock().push(change);
    }

    pub(crate) fn take(&self) -> Vec<Change> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Puts back what could not be taken back: another try may.
    pub(crate) fn keep(&self, left: Vec<Change>) {
        let mut changes = self.0.lock();
        let since = std::mem::replace(&mut *changes, left);
        changes.extend(since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(n: u8) -> NodeId {
        NodeId::from_random_bytes([n; 16])
    }

    #[test]
    fn what_could_not_be_taken_back_stays_before_what_came_since() {
        let journal = SessionJournal::default();
        let change = |n| Change::Trashed { node: node(n) };
        journal.note(change(1));
        journal.note(change(2));
        assert_eq!(journal.take(), [change(1), change(2)]);
        journal.note(change(3));
        journal.keep(vec![change(1)]);
        assert_eq!(journal.take(), [change(1), change(3)]);
    }
}
