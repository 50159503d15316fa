//! The changes that the tools of one session made to files, folders and links, so that they can be taken back.

use crate::session_state::{Details, LinkSettings};
use cairn_model::{Kind, NodeId};
use cairn_space::undo::{NodeChange, OwnVersions, Record};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;

/// A change, with what is needed to take it back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Node {
        kind: Kind,
        record: Record,
    },
    /// The description of a node, its labels, or whether it is a favorite.
    Details {
        node: NodeId,
        from: Details,
        to: Details,
    },
    Link {
        link: String,
        change: LinkChange,
    },
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
pub(crate) struct SessionJournal {
    changes: Mutex<Vec<Change>>,
    /// The versions in which the session left the nodes that it changed.
    pub(crate) own: Mutex<OwnVersions>,
}

impl SessionJournal {
    /// Notes a change of a node. `before` and `after` are its states on both sides of the change.
    pub(crate) fn note_node(&self, before: Option<&Node>, after: &Node, change: NodeChange) {
        let record = Record::new(change, before, after);
        self.own.lock().note(&record);
        let kind = after.kind;
        self.changes.lock().push(Change::Node { kind, record });
    }

    /// Notes that the details of a node were changed, unless they are the same.
    pub(crate) fn note_details(&self, before: &Node, after: &Node) {
        self.own.lock().note_states(before, after);
        let (node, from, to) = (after.id, Details::of(before), Details::of(after));
        if from != to {
            let mut changes = self.changes.lock();
            changes.push(Change::Details { node, from, to });
        }
    }

    pub(crate) fn note_link(&self, link: String, change: LinkChange) {
        self.changes.lock().push(Change::Link { link, change });
    }

    /// Returns the changes whose end puts something into the trash: of files and empty folders, and of folders
    /// with all that is in them.
    pub(crate) fn going_to_trash(&self) -> (usize, usize) {
        let (mut single, mut whole) = (0, 0);
        for change in &*self.changes.lock() {
            let Change::Node { kind, record } = change else {
                continue;
            };
            match (&record.change, kind) {
                (NodeChange::Copied | NodeChange::Restored, Kind::Folder) => whole += 1,
                (NodeChange::Made | NodeChange::Copied | NodeChange::Restored, _) => single += 1,
                (
                    NodeChange::Moved { .. } | NodeChange::Trashed | NodeChange::Content { .. },
                    _,
                ) => {}
            }
        }
        (single, whole)
    }

    pub(crate) fn take(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock())
    }

    /// Puts back what could not be taken back: a retry may do it.
    pub(crate) fn keep(&self, left: Vec<Change>) {
        let mut changes = self.changes.lock();
        let since = std::mem::replace(&mut *changes, left);
        changes.extend(since);
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
    fn what_goes_to_the_trash_is_counted() {
        let journal = SessionJournal::default();
        let mut folder = node(1);
        folder.kind = Kind::Folder;
        journal.note_node(None, &node(1), NodeChange::Made);
        journal.note_node(None, &node(1), NodeChange::Copied);
        journal.note_node(None, &folder, NodeChange::Restored);
        journal.note_node(None, &node(1), NodeChange::Trashed);
        assert_eq!(journal.going_to_trash(), (2, 1));
    }
}
