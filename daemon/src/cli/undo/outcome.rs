//! The outcome of taking the changes of a command back.

use super::remote::take_back;
use crate::failure::{CommandResult, Failure};
use crate::remote::Remote;
use crate::remote::journal::Entry;
use cairn_space::undo::Undoing;

/// Notes that a session was taken back, unless nothing of it was.
pub(super) fn end(remote: &Remote, first: &Entry, outcome: &Outcome) -> CommandResult {
    if outcome.left.is_empty() || !outcome.taken.is_empty() {
        remote.journal.end(first.session)?;
    }
    Ok(())
}

/// The changes of a session that were taken back, and those that were left, in words.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) taken: Vec<String>,
    pub(super) left: Vec<String>,
}

/// Takes the changes of a session back, newest first.
pub(super) async fn take_all_back<S: Undoing<Error = Failure>>(
    service: &S,
    session: &[Entry],
) -> CommandResult<Outcome> {
    let mut outcome = Outcome::default();
    for record in session.iter().rev().filter_map(|e| e.change.as_ref()) {
        match take_back(service, record).await? {
            Ok(text) => outcome.taken.push(text),
            Err(text) => outcome.left.push(text),
        }
    }
    Ok(outcome)
}
