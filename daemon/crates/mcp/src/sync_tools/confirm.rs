//! The decision on deletions, and on overwriting, that wait for a person.

use super::connection::request;
use super::target;
use crate::call::{Call, with_success};
use crate::error::{ToolError, ToolResult};
use crate::question::{Asking, quote};
use crate::tool::ToolFuture;
use cairn_control::{Confirmation, Status, typed};
use cairn_model::{ConfirmationKind, DeletionDecision, Side};
use futures_util::FutureExt as _;
use serde_json::json;

/// The name of what waits among the things that a question is about.
const WAITING: &str = "waiting";

pub(crate) fn confirm(call: Call) -> ToolFuture {
    async move {
        // The schema has let through nothing else; what keeps files is the safe one.
        let decision = call.arguments.required_text("answer")?.parse();
        let decision = decision.unwrap_or(DeletionDecision::Keep);
        let given = call.arguments.required_text("folder")?;
        if decision != DeletionDecision::Keep && !call.is_confirmed {
            return Err(unconfirmed_error(given, decision));
        }
        let status: Status = request(&call.services, typed::Status {}).await?;
        let folder = target::folder(&status, given)?;
        let now = confirmations(&status, &folder);
        if decision != DeletionDecision::Keep && !is_as_asked(&call, now) {
            return Err(changed_error(given));
        }
        // Afterwards nothing waits any more.
        let done = outcome(decision, now);
        let response = request(&call.services, typed::Confirm { folder, decision }).await?;
        Ok(with_success(json!(response), Some(&done)))
    }
    .boxed()
}

/// Returns what waits in a synced folder.
fn confirmations<'a>(status: &'a Status, local: &str) -> &'a [Confirmation] {
    let folder = status.folders.iter().find(|folder| folder.local == local);
    folder.map_or(&[], |folder| folder.confirmations.as_slice())
}

/// Returns whether what waits is what a person was asked about.
fn is_as_asked(call: &Call, now: &[Confirmation]) -> bool {
    call.subject.state(WAITING) == Some(json!(now))
}

/// Returns the error for what a person was not asked about, in part or at all.
fn changed_error(folder: &str) -> ToolError {
    ToolError::refused(format!(
        "other changes wait in {} than the person was asked about, and all go on waiting: call again to have them asked about those",
        quote(folder)
    ))
}

/// Returns what comes of a decision.
fn outcome(decision: DeletionDecision, waiting: &[Confirmation]) -> String {
    match decision {
        DeletionDecision::Delete => format!("the files are deleted {} too", deletion_place(waiting)),
        DeletionDecision::Overwrite => "the service's versions are overwritten".to_owned(),
        DeletionDecision::Keep => {
            "the files come back; versions that were not to be overwritten stay, with what is here beside them".to_owned()
        }
    }
}

/// Returns where the deletions that wait are carried out.
fn deletion_place(waiting: &[Confirmation]) -> &'static str {
    let deletions = waiting
        .iter()
        .filter(|waiting| waiting.kind == ConfirmationKind::Deletion);
    Side::place(deletions.map(|waiting| waiting.side))
}

/// Returns the error for what waits for a person, so that a client that can't ask one can't let it go on.
fn unconfirmed_error(folder: &str, decision: DeletionDecision) -> ToolError {
    ToolError::refused(format!(
        "only a person can let what waits in {} go on, and nobody was asked here: have them run `cairn confirm FOLDER {decision}`; the answer `keep` brings the files back and overwrites nothing",
        quote(folder)
    ))
}

/// Returns the question before files are deleted or overwritten; keeping them needs none.
pub(crate) fn held_changes(call: &Call) -> Asking<'_> {
    async move {
        let answer = call.arguments.text("answer");
        let kind = match answer.and_then(|answer| answer.parse().ok()) {
            Some(DeletionDecision::Delete) => ConfirmationKind::Deletion,
            Some(DeletionDecision::Overwrite) => ConfirmationKind::Overwriting,
            Some(DeletionDecision::Keep) | None => return Ok(None),
        };
        let status: Status = request(&call.services, typed::Status {}).await?;
        let local = target::folder(&status, call.arguments.required_text("folder")?)?;
        let waiting = confirmations(&status, &local);
        call.subject.note(WAITING, json!(waiting));
        question(&local, kind, waiting).map(Some)
    }
    .boxed()
}

/// Returns the question before what waits in a folder is carried out.
///
/// # Errors
/// [`ToolError::Refused`] if nothing of that kind waits.
fn question(local: &str, kind: ConfirmationKind, waiting: &[Confirmation]) -> ToolResult<String> {
    let local = quote(local);
    let meant = waiting.iter().filter(|waiting| waiting.kind == kind);
    let files = match meant.map(|waiting| waiting.files).sum::<u64>() {
        0 => {
            return Err(ToolError::refused(format!(
                "nothing in {local} waits for this answer: sync_status shows what waits"
            )));
        }
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    Ok(match kind {
        ConfirmationKind::Deletion => {
            format!("Delete {files} of {local} {} too?", deletion_place(waiting))
        }
        ConfirmationKind::Overwriting => format!(
            "{files} of {local} look encrypted now. Overwrite the service's versions with them?"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;

    fn waiting(kind: ConfirmationKind, side: Side, files: u64) -> Confirmation {
        Confirmation { side, files, kind }
    }

    #[test]
    fn a_deletion_is_asked_about_and_reported_with_its_place() {
        let here = waiting(ConfirmationKind::Deletion, Side::Local, 1);
        let there = waiting(ConfirmationKind::Deletion, Side::Remote, 60);
        let overwriting = waiting(ConfirmationKind::Overwriting, Side::Remote, 5);
        for (all, asked, done) in [
            (
                vec![here.clone(), overwriting.clone()],
                "Delete 1 file of `/x` on this device too?",
                "the files are deleted on this device too",
            ),
            (
                vec![there.clone()],
                "Delete 60 files of `/x` on the service too?",
                "the files are deleted on the service too",
            ),
            (
                vec![here, there],
                "Delete 61 files of `/x` on the other side too?",
                "the files are deleted on the other side too",
            ),
        ] {
            let question = question("/x", ConfirmationKind::Deletion, &all);
            assert_eq!(question.unwrap(), asked);
            assert_eq!(outcome(DeletionDecision::Delete, &all), done);
        }
        let all = [overwriting];
        let question = question("/x", ConfirmationKind::Overwriting, &all).unwrap();
        assert!(
            question.starts_with("5 files of `/x` look encrypted"),
            "{question}"
        );
    }

    #[test]
    fn only_what_was_asked_about_goes_on() {
        let call = crate::test_services::call(json!({}));
        let asked = waiting(ConfirmationKind::Deletion, Side::Remote, 300);
        assert!(!is_as_asked(&call, from_ref(&asked)), "nobody was asked");
        call.subject.note(WAITING, json!([asked]));
        assert!(is_as_asked(&call, from_ref(&asked)));
        let more = waiting(ConfirmationKind::Deletion, Side::Remote, 524);
        let there = waiting(ConfirmationKind::Deletion, Side::Local, 1);
        for now in [vec![more], vec![asked, there], vec![]] {
            assert!(!is_as_asked(&call, &now), "{now:?}");
        }
    }

    #[test]
    fn nobody_is_asked_where_nothing_waits() {
        let overwriting = [waiting(ConfirmationKind::Overwriting, Side::Remote, 5)];
        for all in [&overwriting[..], &[]] {
            let refused = question("/x", ConfirmationKind::Deletion, all).unwrap_err();
            let message = refused.to_string();
            assert!(message.contains("nothing in `/x` waits"), "{message}");
        }
    }
}
