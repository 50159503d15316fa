//! The changes that the tools of one session made to files, folders and links, so that they can be taken back.

use crate::session_file::{Earlier, Line, SessionFiles};
use crate::session_state::{Details, LinkSettings};
use cairn_model::{Kind, NodeId, SpaceId};
use cairn_space::undo::{NodeChange, OwnVersions, Record};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A change, with what is needed to take it back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LinkChange {
    Made,
    Settings {
        from: LinkSettings,
        to: LinkSettings,
    },
    /// Its password was set; nobody knows the former one.
    Password,
}

/// A change with its number in its session, from 0.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Noted {
    pub(crate) number: u64,
    pub(crate) change: Change,
}

/// The changes of a session, oldest first; also in a file, where the settings name a place for it.
#[derive(Default)]
pub(crate) struct SessionJournal {
    changes: Mutex<Vec<Noted>>,
    /// The versions in which the session left the nodes that it changed.
    pub(crate) own: Mutex<OwnVersions>,
    next: AtomicU64,
    files: Option<Arc<dyn SessionFiles>>,
    is_begun: AtomicBool,
}

impl SessionJournal {
    pub(crate) fn new(files: Option<Arc<dyn SessionFiles>>) -> Self {
        Self {
            files,
            ..Self::default()
        }
    }

    /// Returns true before [`Self::begin`], where there is a file to begin.
    pub(crate) fn is_to_begin(&self) -> bool {
        self.files.is_some() && !self.is_begun.load(Ordering::Relaxed)
    }

    /// Begins the file of this session, of the account that has this space. Changes before that are known to
    /// this process only.
    pub(crate) fn begin(&self, space: SpaceId) {
        let is_written = self.append(&Line::Begun { space });
        self.is_begun.store(is_written, Ordering::Relaxed);
    }

    /// Notes a change of a node. `before` and `after` are its states on both sides of the change.
    pub(crate) fn note_node(&self, before: Option<&Node>, after: &Node, change: NodeChange) {
        let record = Record::new(change, before, after);
        self.own.lock().note(&record);
        let kind = after.kind;
        self.note(Change::Node { kind, record });
    }

    /// Notes that the details of a node were changed, unless they are the same.
    pub(crate) fn note_details(&self, before: &Node, after: &Node) {
        let (node, from, to) = (after.id, Details::of(before), Details::of(after));
        self.own
            .lock()
            .note_versions(node, before.version, after.version);
        self.write(&Line::Touched {
            node,
            before: before.version,
            after: after.version,
        });
        if from != to {
            self.note(Change::Details { node, from, to });
        }
    }

    pub(crate) fn note_link(&self, link: String, change: LinkChange) {
        self.note(Change::Link { link, change });
    }

    fn note(&self, change: Change) {
        let mut changes = self.changes.lock();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let noted = Noted { number, change };
        // A change is made whether it can be noted or not.
        self.write(&Line::Changed(noted.clone()));
        changes.push(noted);
    }

    fn write(&self, line: &Line) {
        if self.is_begun.load(Ordering::Relaxed) {
            self.append(line);
        }
    }

    /// Returns whether the line is in the file.
    fn append(&self, line: &Line) -> bool {
        let Some(files) = &self.files else {
            return false;
        };
        let written = line.text().and_then(|text| files.append(&text));
        if let Err(error) = &written {
            tracing::warn!(%error, "the session's journal can't be written: only this process can take its changes back");
        }
        written.is_ok()
    }

    /// Notes that a change of this session is no more.
    pub(crate) fn taken_back(&self, number: u64) {
        self.write(&Line::TakenBack { number });
    }

    /// Returns the sessions that have ended, newest first, with what is left to take back.
    ///
    /// # Errors
    /// Those of the files.
    pub(crate) fn earlier(&self) -> io::Result<Vec<Earlier>> {
        let ended = self.files.as_ref().map(|files| files.ended()).transpose()?;
        let ended = ended.unwrap_or_default();
        Ok(ended.into_iter().filter_map(Earlier::read).collect())
    }

    /// Notes that a change of an earlier session is no more.
    pub(crate) fn taken_back_of(&self, session: &str, number: u64) {
        let line = Line::TakenBack { number }.text();
        let noted = match (&self.files, line) {
            (Some(files), Ok(line)) => files.append_to(session, &line),
            (_, Err(error)) => Err(error),
            (None, _) => Ok(()),
        };
        if let Err(error) = noted {
            tracing::warn!(%error, "the journal of a session can't be written");
        }
    }

    /// Returns how many things go to the trash if this session's changes are taken back.
    pub(crate) fn going_to_trash(&self) -> (usize, usize) {
        going_to_trash(&self.changes.lock())
    }

    pub(crate) fn take(&self) -> Vec<Noted> {
        std::mem::take(&mut *self.changes.lock())
    }

    /// Puts back what could not be taken back: a retry may do it.
    pub(crate) fn keep(&self, left: Vec<Noted>) {
        let mut changes = self.changes.lock();
        let since = std::mem::replace(&mut *changes, left);
        changes.extend(since);
    }
}

/// Returns the changes whose end puts something into the trash: of files and empty folders, and of folders with
/// all that is in them.
pub(crate) fn going_to_trash(changes: &[Noted]) -> (usize, usize) {
    let (mut single, mut whole) = (0, 0);
    for noted in changes {
        let Change::Node { kind, record } = &noted.change else {
            continue;
        };
        match (&record.change, kind) {
            (NodeChange::Copied | NodeChange::Restored, Kind::Folder) => whole += 1,
            (NodeChange::Made | NodeChange::Copied | NodeChange::Restored, _) => single += 1,
            (NodeChange::Moved { .. } | NodeChange::Trashed | NodeChange::Content { .. }, _) => {}
        }
    }
    (single, whole)
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
        let change = |n: u8| Noted {
            number: u64::from(n) - 1,
            change: Change::Link {
                link: link(n),
                change: LinkChange::Made,
            },
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
