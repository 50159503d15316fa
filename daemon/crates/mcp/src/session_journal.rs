//! The journal of a session: the changes that its tool calls made to files, folders and links, so that they can be
//! undone. A session is all calls of one client, from the start to the end of this process.

use crate::session_file::{Earlier, Line, SessionFiles};
use crate::session_state::{Details, LinkSettings};
use cairn_model::{Kind, NodeId, SpaceId};
use cairn_space::undo::{LastChange, NodeChange, OwnVersions, Record, StateAfterUndo};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::io;
use std::mem::discriminant;
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

impl Change {
    /// Returns the file or folder that was changed.
    pub(crate) fn node(&self) -> Option<NodeId> {
        match self {
            Self::Node { record, .. } => Some(record.node),
            Self::Details { node, .. } => Some(*node),
            Self::Link { .. } => None,
        }
    }
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
    /// A password was set; nobody knows the former one.
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
        self.note_touched(before, after);
        if from != to {
            self.note(Change::Details { node, from, to });
        }
    }

    /// Notes that the session has led a node from one version to another, whether there is anything to take back or
    /// not: by these versions the work of others is recognised.
    pub(crate) fn note_touched(&self, before: &Node, after: &Node) {
        let node = after.id;
        self.own
            .lock()
            .note_versions(node, before.version, after.version);
        self.write(&Line::Touched {
            node,
            before: before.version,
            after: after.version,
        });
    }

    /// Notes a node that a call has made, unless it is known: a lost call and its repetition find the same one.
    pub(crate) fn note_new_node(&self, node: &Node, change: NodeChange) {
        if !self.own.lock().contains(node.id) {
            self.note_node(None, node, change);
        }
    }

    /// Returns true if a noted change has led the node to the very version that it has.
    pub(crate) fn has_noted(&self, node: &Node) -> bool {
        let last = self.own.lock().last_change(node);
        matches!(last, LastChange::Own | LastChange::OwnAfterOthers)
    }

    /// Returns true if a noted change has led the node on from this state of it.
    pub(crate) fn has_noted_since(&self, before: &Node) -> bool {
        let left = self.own.lock().state_after_undo(before.id);
        left.is_some_and(|left| left.version > before.version)
    }

    pub(crate) fn note_link(&self, link: String, change: LinkChange) {
        self.note(Change::Link { link, change });
    }

    /// Notes a change of a link, unless the last one of its kind that was noted is the same: a call without a result
    /// and its repetition are found by the same look.
    pub(crate) fn note_link_once(&self, link: String, change: LinkChange) {
        let last = self.changes.lock().iter().rev().find_map(|noted| {
            let Change::Link {
                link: of,
                change: last,
            } = &noted.change
            else {
                return None;
            };
            if discriminant(last) != discriminant(&change) {
                return None;
            }
            (*of == link).then(|| last.clone())
        });
        if last.as_ref() != Some(&change) {
            self.note_link(link, change);
        }
    }

    /// Notes a link that a call has made, unless it is noted already.
    pub(crate) fn note_new_link(&self, link: String) {
        self.note_link_once(link, LinkChange::Made);
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

    /// Returns the sessions that have ended, newest first, with what is left to take back.
    ///
    /// # Errors
    /// Returns the error of reading a file.
    pub(crate) fn earlier_sessions(&self) -> io::Result<Vec<Earlier>> {
        let ended = self
            .files
            .as_ref()
            .map(|files| files.ended_sessions())
            .transpose()?;
        let ended = ended.unwrap_or_default();
        Ok(ended.into_iter().filter_map(Earlier::read).collect())
    }

    /// Notes that a change is no more, of a session that has ended or of this one.
    pub(crate) fn mark_undone(&self, session: Option<&str>, number: u64) {
        self.write_undone(session, &Line::TakenBack { number });
    }

    /// Notes how taking a change back has left a node ([`OwnVersions::state_after_undo`]), for a later attempt.
    pub(crate) fn note_state_after_undo(
        &self,
        session: Option<&str>,
        node: NodeId,
        left: StateAfterUndo,
    ) {
        let line = Line::Left { node, left };
        self.write_undone(session, &line);
    }

    fn write_undone(&self, session: Option<&str>, line: &Line) {
        let Some(files) = &self.files else {
            return;
        };
        if session.is_none() && !self.is_begun.load(Ordering::Relaxed) {
            return;
        }
        let written = line.text();
        let written = written.and_then(|text| files.append_undone(session, &text));
        if let Err(error) = written {
            tracing::warn!(%error, "the journal of a session can't be written");
        }
    }

    /// Returns the changes that are left to take back.
    pub(crate) fn noted_changes(&self) -> Vec<Noted> {
        self.changes.lock().clone()
    }

    pub(crate) fn take(&self) -> Vec<Noted> {
        std::mem::take(&mut *self.changes.lock())
    }

    /// Puts back what could not be taken back: a retry may do it.
    pub(crate) fn keep(&self, left: Vec<Noted>) {
        let mut changes = self.changes.lock();
        changes.extend(left);
        // Two calls at once may put theirs back in any order.
        changes.sort_by_key(|noted| noted.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_link_is_noted_once_where_it_is_found_twice() {
        let journal = SessionJournal::default();
        let settings = |text: &str| LinkSettings::of(&serde_json::json!({ "access_mode": text }));
        let changed = |from, to| LinkChange::Settings {
            from: settings(from),
            to: settings(to),
        };
        let note = |change| journal.note_link_once("1".to_owned(), change);
        for _ in 0..2 {
            note(LinkChange::Password);
            note(changed("a", "b"));
        }
        assert_eq!(journal.noted_changes().len(), 2);
        note(changed("b", "a"));
        note(changed("a", "b"));
        assert_eq!(journal.noted_changes().len(), 4);
        for link in ["1", "1", "2", "1"] {
            journal.note_new_link(link.to_owned());
        }
        assert_eq!(journal.noted_changes().len(), 6);
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
}
