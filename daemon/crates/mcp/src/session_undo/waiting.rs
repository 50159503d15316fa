//! The changes that are still to be undone. Those that are left when a call ends or is cancelled stay in the
//! session's journal.

use crate::session_journal::{Noted, SessionJournal};
use cairn_model::NodeId;
use cairn_space::undo::StateAfterUndo;

/// The changes of a session that wait for being taken back, newest first.
pub(super) struct Waiting<'a> {
    journal: &'a SessionJournal,
    /// The id of a session that has ended; its journal is a file that keeps what waits anyway.
    session: Option<&'a str>,
    /// Oldest first.
    waiting: Vec<Noted>,
    /// The changes that could not be taken back, newest first.
    kept: Vec<Noted>,
}

impl<'a> Waiting<'a> {
    pub(super) fn of_this_session(journal: &'a SessionJournal) -> Self {
        Self {
            journal,
            session: None,
            waiting: journal.take(),
            kept: Vec::new(),
        }
    }

    pub(super) fn of_earlier(
        journal: &'a SessionJournal,
        session: &'a str,
        changes: Vec<Noted>,
    ) -> Self {
        Self {
            journal,
            session: Some(session),
            waiting: changes,
            kept: Vec::new(),
        }
    }

    /// Returns the change that is to be taken back next; it waits until that is noted.
    pub(super) fn next(&self) -> Option<&Noted> {
        self.waiting.last()
    }

    /// Notes that the next change is no more.
    pub(super) fn mark_undone(&mut self) {
        if let Some(noted) = self.waiting.pop() {
            self.journal.mark_undone(self.session, noted.number);
        }
    }

    /// Notes that the next change stays: a retry may take it back.
    pub(super) fn keep(&mut self) {
        self.kept.extend(self.waiting.pop());
    }

    /// Notes how the next change has left its node.
    pub(super) fn note_state_after_undo(&self, node: NodeId, left: StateAfterUndo) {
        self.journal.note_state_after_undo(self.session, node, left);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.session.is_none() {
            let mut left = std::mem::take(&mut self.waiting);
            left.extend(self.kept.drain(..).rev());
            self.journal.keep(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_journal::LinkChange;

    #[test]
    fn what_is_not_taken_back_stays_in_the_journal_in_its_order() {
        let journal = SessionJournal::default();
        for number in 0..4 {
            journal.note_link(number.to_string(), LinkChange::Made);
        }
        let mut waiting = Waiting::of_this_session(&journal);
        waiting.keep();
        waiting.mark_undone();
        assert_eq!(waiting.next().map(|noted| noted.number), Some(1));
        assert!(
            journal.noted_changes().is_empty(),
            "another call takes nothing back twice"
        );
        // A call that is cancelled ends here.
        drop(waiting);
        let left: Vec<_> = journal
            .noted_changes()
            .iter()
            .map(|noted| noted.number)
            .collect();
        assert_eq!(left, [0, 1, 3]);
    }
}
