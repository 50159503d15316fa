//! The versions in which the one who undoes (a command, or a session of tools) has left nodes by changes of its own. A
//! version grows at every change of a node, so that the work of others shows without any clock.

use super::Record;
use cairn_model::NodeId;
use cairn_wire::Timestamp;
use cairn_wire::nodes::{Node, NodeState};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The nodes that the undoing side has changed, each with the version after its last change.
#[derive(Clone, Default, Debug)]
pub struct OwnVersions {
    changed: HashMap<NodeId, Own>,
    /// The nodes that an undo has restored, with the server's time of it; those that were restored along with a folder
    /// have the same.
    restored: HashMap<NodeId, Timestamp>,
}

#[derive(Clone, Copy, Debug)]
struct Own {
    /// The version; `None`: the records don't say.
    version: Option<u64>,
    /// Somebody else changed it between two of one's own changes.
    changed_between: bool,
}

/// The state in which taking a change back has left a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateAfterUndo {
    pub version: u64,
    /// Somebody else changed it between two of one's own changes.
    #[serde(default)]
    pub changed_between: bool,
    /// The server's time at which it was restored by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Timestamp>,
}

/// The author of a node's last change, as far as records tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LastChange {
    /// Made by the side that undoes, and so was every change since its first one.
    Own,
    /// Made by the side that undoes, after changes of somebody else.
    OwnAfterOthers,
    Others,
    /// The side that undoes changed it, and did not record its version.
    Unknown,
}

impl OwnVersions {
    /// Notes a change of one's own.
    pub fn note(&mut self, record: &Record) {
        self.insert(record.node, record.version_before, record.version);
    }

    /// Notes a change of one's own of which there is no [`Record`].
    pub fn note_versions(&mut self, node: NodeId, before: u64, after: u64) {
        self.insert(node, Some(before), Some(after));
    }

    fn insert(&mut self, node: NodeId, before: Option<u64>, version: Option<u64>) {
        match self.changed.entry(node) {
            Entry::Vacant(entry) => {
                entry.insert(Own {
                    version,
                    changed_between: false,
                });
            }
            Entry::Occupied(mut known) => {
                let own = known.get_mut();
                // Between a version that is not known and a known one, somebody else may have changed it.
                own.changed_between |= own.version != before;
                own.version = version;
            }
        }
    }

    /// Returns true if a change of the node was noted.
    #[must_use]
    pub fn contains(&self, node: NodeId) -> bool {
        self.changed.contains_key(&node)
    }

    /// Returns the author of the last change of a node.
    #[must_use]
    pub fn last_change(&self, node: &Node) -> LastChange {
        self.last_change_of(node.id, node.version)
    }

    /// Returns the last change as [`Self::last_change`] does, of a node that has this version now.
    #[must_use]
    pub fn last_change_of(&self, node: NodeId, version: u64) -> LastChange {
        match self.changed.get(&node) {
            Some(Own { version: None, .. }) => LastChange::Unknown,
            Some(own) if own.version != Some(version) => LastChange::Others,
            Some(own) if own.changed_between => LastChange::OwnAfterOthers,
            Some(_) => LastChange::Own,
            None => LastChange::Others,
        }
    }

    /// Notes that taking a change back has led from one state of a node to another: older changes of it are
    /// still to be taken back. A change of somebody else in the same moment is not told apart.
    pub fn note_undone(&mut self, before: &Node, after: &Node) {
        let last = self.last_change(before);
        if let (LastChange::Own | LastChange::OwnAfterOthers, Some(own)) =
            (last, self.changed.get_mut(&after.id))
        {
            own.version = Some(after.version);
        }
        if before.state == NodeState::Trashed && after.state == NodeState::Active {
            self.restored.insert(after.id, after.updated_at);
        }
    }

    /// Notes what [`Self::note_undone`] does, where the state after it could not be read.
    pub fn note_undone_unread(&mut self, before: &Node) {
        let last = self.last_change(before);
        if let (LastChange::Own | LastChange::OwnAfterOthers, Some(own)) =
            (last, self.changed.get_mut(&before.id))
        {
            own.version = None;
        }
    }

    /// Returns the state in which taking a change back has left a node; nothing if its version is not known.
    #[must_use]
    pub fn state_after_undo(&self, node: NodeId) -> Option<StateAfterUndo> {
        let own = self.changed.get(&node)?;
        Some(StateAfterUndo {
            version: own.version?,
            changed_between: own.changed_between,
            restored: self.restored_at(node),
        })
    }

    /// Notes what [`Self::state_after_undo`] has returned after a change of a node was taken back.
    pub fn note_state_after_undo(&mut self, node: NodeId, left: StateAfterUndo) {
        if let Some(own) = self.changed.get_mut(&node) {
            own.version = Some(left.version);
            own.changed_between |= left.changed_between;
        }
        if let Some(at) = left.restored {
            self.restored.insert(node, at);
        }
    }

    /// Returns true if taking back has restored anything.
    pub(super) fn has_restored(&self) -> bool {
        !self.restored.is_empty()
    }

    /// Returns the server's time at which taking back has restored a node.
    pub(super) fn restored_at(&self, node: NodeId) -> Option<Timestamp> {
        self.restored.get(&node).copied()
    }
}
