//! Folders of which nothing is synced now: their directory or their folder on the service is gone, or a person has to
//! do something for their space first. Paused ones are left to others.

use crate::failure::{Exit, Failure};
use crate::output::text::clean;
use cairn_control::FolderStatus;
use cairn_model::{Problem, ProblemCode, SyncState};

/// Returns why nothing of a folder is synced now; `None` of one that is, or that is paused.
pub(crate) fn reason(folder: &FolderStatus) -> Option<Failure> {
    let problem = problem(folder)?;
    let exit = match folder.state {
        SyncState::Attention => Exit::Decision,
        SyncState::Error
        | SyncState::Idle
        | SyncState::Syncing
        | SyncState::Paused
        | SyncState::Offline => Exit::Failed,
    };
    let why = format!("{}; {}", problem.message, problem.hint);
    let message = format!(
        "{} is not synced now: {}",
        clean(&folder.local),
        clean(&why)
    );
    Some(Failure::new(exit, message))
}

/// Returns the problem that keeps a whole folder from being synced.
pub(crate) fn problem(folder: &FolderStatus) -> Option<&Problem> {
    let waits = |problem: &&Problem| {
        matches!(
            problem.code,
            ProblemCode::KeysReplaced | ProblemCode::KeyToAccept
        )
    };
    let is_of_folder =
        |problem: &&Problem| problem.path.is_empty() && problem.code != ProblemCode::Watch;
    let mut errors = folder.errors.iter();
    match folder.state {
        // Without one it is all folders that don't sync, and the service says why.
        SyncState::Error => errors.find(is_of_folder),
        SyncState::Attention => errors.find(waits),
        SyncState::Idle | SyncState::Syncing | SyncState::Paused | SyncState::Offline => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(state: SyncState, codes: &[ProblemCode]) -> FolderStatus {
        let errors = codes.iter().map(|code| Problem {
            code: *code,
            message: format!("it is {}", code.as_str()),
            hint: "do this".into(),
            ..Problem::default()
        });
        FolderStatus {
            local: "/f".into(),
            state,
            errors: errors.collect(),
            ..FolderStatus::default()
        }
    }

    #[test]
    fn a_folder_that_nobody_looks_at_has_a_reason_and_an_exit_code() {
        use SyncState::{Attention, Error, Idle, Paused};
        let (gone, watch) = (ProblemCode::FolderGone, ProblemCode::Watch);
        for (state, codes, expected) in [
            (Error, &[watch, gone][..], Some((Exit::Failed, gone))),
            (
                Attention,
                &[ProblemCode::KeysReplaced],
                Some((Exit::Decision, ProblemCode::KeysReplaced)),
            ),
            (Attention, &[ProblemCode::Unreadable], None),
            (Error, &[watch], None),
            (Idle, &[], None),
            (Paused, &[gone], None),
        ] {
            let found = reason(&folder(state, codes)).map(|one| (one.exit, one.message));
            let expected = expected.map(|(exit, code)| {
                let code = code.as_str();
                (exit, format!("/f is not synced now: it is {code}; do this"))
            });
            assert_eq!(found, expected, "{state:?}");
        }
    }
}
