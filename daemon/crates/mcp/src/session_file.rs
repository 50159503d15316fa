//! The journals of sessions on disk: an assistant's program restarts this server whenever it likes, and what
//! was changed before can be undone all the same. A session is all calls of one client, from the start to the
//! end of this process.
//!
//! One line of JSON for each event, appended when it has happened. A line that can't be read is passed over.

use crate::session_journal::{Change, Noted};
use cairn_model::{NodeId, SpaceId};
use cairn_space::undo::{OwnVersions, StateAfterUndo};
use cairn_wire::Timestamp;
use serde::{Deserialize, Serialize};
use std::io;

/// The files in which sessions keep their journals, and the one of this session.
pub trait SessionFiles: Send + Sync {
    /// Appends a line about a change to the file of this session, which the first one makes.
    ///
    /// # Errors
    /// The file system's, or that the file is full.
    fn append(&self, line: &str) -> io::Result<()>;

    /// Returns the sessions that are kept and whose process has ended, newest first.
    ///
    /// # Errors
    /// The error of the file system.
    fn ended_sessions(&self) -> io::Result<Vec<EndedSession>>;

    /// Appends a line about what was taken back to the file of a session that [`Self::ended_sessions`] has returned, or
    /// of this one, however full it is.
    ///
    /// # Errors
    /// The error of the file system.
    fn append_undone(&self, session: Option<&str>, line: &str) -> io::Result<()>;
}

/// The journal of a session whose process has ended.
pub struct EndedSession {
    pub id: String,
    /// The time of its last line, without those of later sessions that took something back.
    pub at: Timestamp,
    pub lines: String,
}

/// A line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// The account's own space: only sessions of the same account are offered.
    Begun {
        space: SpaceId,
    },
    Changed(Noted),
    /// The details of a node were set, or its name to what it was, which led from one version of it to another.
    Touched {
        node: NodeId,
        before: u64,
        after: u64,
    },
    /// Taking a change back has left a node like this. Nothing is written where that could not be read: what
    /// was known before holds, by which a later attempt leaves the node alone.
    Left {
        node: NodeId,
        #[serde(flatten)]
        left: StateAfterUndo,
    },
    /// The change of this number is no more.
    TakenBack {
        number: u64,
    },
}

impl Line {
    /// Returns the line without its end.
    pub(crate) fn text(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)?)
    }
}

/// The changes of an ended session that were not taken back yet.
pub(crate) struct Earlier {
    pub(crate) id: String,
    pub(crate) at: Timestamp,
    pub(crate) space: SpaceId,
    pub(crate) changes: Vec<Noted>,
    pub(crate) own: OwnVersions,
}

impl Earlier {
    /// Reads a journal; `None` if nothing is left to take back.
    pub(crate) fn read(ended: EndedSession) -> Option<Self> {
        let mut space = None;
        let mut changes: Vec<Noted> = Vec::new();
        let mut own = OwnVersions::default();
        for line in ended.lines.lines() {
            match serde_json::from_str(line) {
                Ok(Line::Begun { space: begun }) => space = Some(begun),
                Ok(Line::Changed(noted)) => {
                    if let Change::Node { record, .. } = &noted.change {
                        own.note(record);
                    }
                    changes.push(noted);
                }
                Ok(Line::Touched {
                    node,
                    before,
                    after,
                }) => own.note_versions(node, before, after),
                Ok(Line::Left { node, left }) => own.note_state_after_undo(node, left),
                Ok(Line::TakenBack { number }) => changes.retain(|noted| noted.number != number),
                // The last line of a process that was killed.
                Err(_) => {}
            }
        }
        let space = space.filter(|_| !changes.is_empty())?;
        Some(Self {
            id: ended.id,
            at: ended.at,
            space,
            changes,
            own,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_journal::LinkChange;
    use cairn_model::SpaceId;

    fn read(lines: &[Line]) -> Option<Earlier> {
        let texts: Vec<_> = lines.iter().map(|line| line.text().unwrap()).collect();
        Earlier::read(EndedSession {
            id: "1".to_owned(),
            at: Timestamp::default(),
            // A killed process leaves half a line.
            lines: format!("{}\n{{\"changed\":{{\"num", texts.join("\n")),
        })
    }

    fn changed_line(number: u64) -> Line {
        let change = Change::Link {
            link: number.to_string(),
            change: LinkChange::Made,
        };
        Line::Changed(Noted { number, change })
    }

    #[test]
    fn what_was_taken_back_is_left_out() {
        let space = SpaceId::from_random_bytes([1; 16]);
        let begun = || Line::Begun { space };
        let taken_back = |number| Line::TakenBack { number };
        let earlier = read(&[begun(), changed_line(0), changed_line(1), taken_back(0)]).unwrap();
        let left: Vec<_> = earlier.changes.iter().map(|noted| noted.number).collect();
        assert_eq!((left, earlier.space), (vec![1], space));
        assert!(read(&[begun(), changed_line(0), taken_back(0)]).is_none());
        assert!(read(&[changed_line(0)]).is_none(), "of an unknown account");
    }
}
