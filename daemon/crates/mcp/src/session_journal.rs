//! The changes that the tools of one session made to files, folders and links, so that they can be taken back.

use crate::session_state::{Details, LinkSettings};
use cairn_model::{Kind, NodeId, RevisionId};
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};

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
    Node { node: NodeId, change: NodeChange },
    Link { link: String, change: LinkChange },
}

/// A change of a file or folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NodeChange {
    /// An empty folder was made.
    MadeFolder,
    /// A copy was made, of a folder with what was in it.
    Copied(Arrival),
    /// It came out of the trash, with what went there along.
    Restored(Arrival),
    Moved {
        from: Position,
        to: Position,
    },
    Trashed,
    /// Its description, its labels, or whether it is a favorite.
    Details {
        from: Details,
        to: Details,
    },
}

/// The state in which a node came, against which later work on it shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub(crate) kind: Kind,
    pub(crate) revision: Option<RevisionId>,
    /// The server's time.
    pub(crate) at: Timestamp,
}

impl Arrival {
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            kind: node.kind,
            revision: node.revision_id,
            at: node.updated_at,
        }
    }
}

/// A change of a share link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum LinkChange {
    Made,
    Settings {
        from: LinkSettings,
        to: LinkSettings,
    },
    /// Its password was set; nobody knows the former one.
    Password,
}

/// The changes of a session, oldest first.
#[derive(Default)]
pub(crate) struct SessionJournal(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    changes: Vec<Change>,
    /// The version of each node after the last change that this session made to it.
    versions: HashMap<NodeId, u64>,
    /// Nodes that somebody else changed between two changes of this session.
    changed_between: HashSet<NodeId>,
}

impl SessionJournal {
    /// Notes a change of a node. `before` and `after` are its states on both sides of the change.
    pub(crate) fn note_node(&self, before: Option<&Node>, after: &Node, change: NodeChange) {
        let mut noted = self.0.lock();
        let known = noted.versions.get(&after.id).copied();
        if let (Some(known), Some(before)) = (known, before)
            && before.version != known
        {
            noted.changed_between.insert(after.id);
        }
        noted.versions.insert(after.id, after.version);
        let node = after.id;
        noted.changes.push(Change::Node { node, change });
    }

    pub(crate) fn note_link(&self, link: String, change: LinkChange) {
        self.0.lock().changes.push(Change::Link { link, change });
    }

    /// Remembers the state in which taking a change back has left a node.
    pub(crate) fn remember(&self, node: &Node) {
        self.0.lock().versions.insert(node.id, node.version);
    }

    /// Returns true if this session made the last change of a node.
    pub(crate) fn is_own(&self, node: &Node) -> bool {
        self.0.lock().versions.get(&node.id) == Some(&node.version)
    }

    /// Returns true if nobody else has changed a node since the session's first change of it.
    pub(crate) fn is_untouched(&self, node: &Node) -> bool {
        self.is_own(node) && !self.0.lock().changed_between.contains(&node.id)
    }

    /// Returns the changes whose end puts something into the trash: of files and empty folders, and of folders
    /// with all that is in them.
    pub(crate) fn going_to_trash(&self) -> (usize, usize) {
        let noted = self.0.lock();
        let (mut single, mut whole) = (0, 0);
        for change in &noted.changes {
            let Change::Node { change, .. } = change else {
                continue;
            };
            match change {
                NodeChange::Copied(arrival) | NodeChange::Restored(arrival)
                    if arrival.kind == Kind::Folder =>
                {
                    whole += 1;
                }
                NodeChange::MadeFolder | NodeChange::Copied(_) | NodeChange::Restored(_) => {
                    single += 1;
                }
                NodeChange::Moved { .. } | NodeChange::Trashed | NodeChange::Details { .. } => {}
            }
        }
        (single, whole)
    }

    pub(crate) fn take(&self) -> Vec<Change> {
        std::mem::take(&mut self.0.lock().changes)
    }

    /// Puts back what could not be taken back: a retry may do it.
    pub(crate) fn keep(&self, left: Vec<Change>) {
        let mut noted = self.0.lock();
        let since = std::mem::replace(&mut noted.changes, left);
        noted.changes.extend(since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(version: u64) -> Node {
        let id = "123e4567-e89b-42d3-a456-426614174000";
        let at = "2026-11-22T03:05:53.123Z";
        let node = json!({
            "id": id, "space_id": id, "parent_id": null, "kind": "file", "name": "a",
            "name_format": "plain", "size": 1, "mime_type": null, "category": null,
            "state": "active", "revision_id": null, "version": version, "created_at": at,
            "updated_at": at, "modified_at": null, "executable": false, "description": "",
            "labels": {}, "tags": [], "favorite": false, "content_key": null, "seal": null, "seq": 1,
        });
        serde_json::from_value(node).unwrap()
    }

    #[test]
    fn what_could_not_be_taken_back_stays_before_what_came_since() {
        let journal = SessionJournal::default();
        let link = |n: u8| n.to_string();
        let change = |n| Change::Link {
            link: link(n),
            change: LinkChange::Made,
        };
        journal.note_link(link(1), LinkChange::Made);
        journal.note_link(link(2), LinkChange::Made);
        assert_eq!(journal.take(), [change(1), change(2)]);
        journal.note_link(link(3), LinkChange::Made);
        journal.keep(vec![change(1)]);
        assert_eq!(journal.take(), [change(1), change(3)]);
    }

    #[test]
    fn a_change_of_somebody_else_shows_wherever_it_came() {
        let journal = SessionJournal::default();
        journal.note_node(None, &node(1), NodeChange::MadeFolder);
        assert!(journal.is_untouched(&node(1)));
        assert!(!journal.is_own(&node(2)), "changed after the session's");
        journal.note_node(Some(&node(1)), &node(2), NodeChange::Trashed);
        assert!(journal.is_untouched(&node(2)));
        // Version 3 was somebody else's.
        journal.note_node(Some(&node(3)), &node(4), NodeChange::Trashed);
        assert!(journal.is_own(&node(4)) && !journal.is_untouched(&node(4)));
    }

    #[test]
    fn what_goes_to_the_trash_is_counted() {
        let journal = SessionJournal::default();
        let mut folder = node(1);
        folder.kind = Kind::Folder;
        journal.note_node(None, &node(1), NodeChange::MadeFolder);
        journal.note_node(None, &node(1), NodeChange::Copied(Arrival::of(&node(1))));
        journal.note_node(None, &folder, NodeChange::Restored(Arrival::of(&folder)));
        journal.note_node(None, &node(1), NodeChange::Trashed);
        assert_eq!(journal.going_to_trash(), (2, 1));
    }
}
