//! The reasons why the folders of a space (the files of the account or a team) are not synced, as the status shows
//! them.

use crate::failure::{CommandResult, Exit, Failure};
use crate::output::text::{clean, rfc3339, shell_word};
use crate::rotation;
use cairn_api::{ApiError, ErrorClass};
use cairn_control::ProblemGroup;
use cairn_engine::WaitResult;
use cairn_model::{Problem, ProblemCause, ProblemCode, ProblemValues, SyncState};
use cairn_platform::Zone;
use cairn_space::account_keys::Replacement;
use cairn_space::{KeyRemedy, TeamError};
use cairn_transfer::TransferError;

/// The reason why nothing of the space is synced. Its folders are not touched meanwhile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Halt {
    pub(super) state: SyncState,
    /// `None`: it is no problem, such as a start.
    pub(super) problem: Option<Box<Problem>>,
}

const KEPT: &str = "the files here stay as they are";

impl Halt {
    /// The key is being opened.
    pub(super) fn at_start() -> Self {
        Self {
            state: SyncState::Syncing,
            problem: None,
        }
    }

    /// The server says that the account doesn't belong to the team, or that there is no such team.
    pub(super) fn not_a_member(team: &str) -> Self {
        Self::error(
            Problem::new(
                "",
                ProblemCause::NotAMember,
                format!("you don't belong to the team {team} any more, or it was deleted; {KEPT}"),
                "ask its owner to invite you again, or run `cairn remove` for this folder",
            )
            .with(team_value(team)),
        )
    }

    /// The server can't be asked, or doesn't answer the question.
    pub(super) fn of_api(error: &ApiError) -> Self {
        let message = error.to_string();
        match error.class() {
            ErrorClass::Offline | ErrorClass::Transient => {
                let values = ProblemValues::of_detail(&message);
                let problem = Problem::new(
                    "",
                    ProblemCause::Offline,
                    message,
                    "syncing resumes by itself when the server can be reached again",
                );
                Self::of_problem(SyncState::Offline, problem.with(values))
            }
            ErrorClass::Auth => Self::error(Problem::new(
                "",
                ProblemCause::Unauthorized,
                message,
                "run `cairn login` again",
            )),
            ErrorClass::Stale
            | ErrorClass::Missing
            | ErrorClass::Limit
            | ErrorClass::Refused
            | ErrorClass::Protocol => Self::of_failure(message),
        }
    }

    /// The team's key can't be had, or can't be trusted.
    pub(super) fn of_team(team: &str, error: &TeamError) -> Self {
        let word = shell_word(team);
        match error {
            TeamError::Transfer(TransferError::Api(error)) => Self::of_api(error),
            TeamError::NotGranted { remedy, .. } => Self::not_granted(team, *remedy),
            TeamError::NewGranter {
                who, fingerprint, ..
            } => Self::new_granter(team, who, fingerprint),
            TeamError::NoRight { .. }
            | TeamError::KeyChanged { .. }
            | TeamError::NotShown { .. }
            | TeamError::NotNew { .. }
            | TeamError::Ambiguous { .. }
            | TeamError::KeyWithheld { .. }
            | TeamError::Refused { .. }
            | TeamError::Transfer(_) => Self::error(
                Problem::new(
                    "",
                    ProblemCause::TeamKeyRefused,
                    error.to_string(),
                    format!("{KEPT}; see `cairn teams keys {word}`"),
                )
                .with(ProblemValues {
                    detail: Some(error.to_string()),
                    ..with_command(team, format!("cairn teams keys {word}"))
                }),
            ),
        }
    }

    /// A key that the account lacks, with who may change that.
    fn not_granted(team: &str, remedy: KeyRemedy) -> Self {
        let grant = format!("cairn teams grant {}", shell_word(team));
        let (cause, message, command) = match remedy {
            KeyRemedy::Make => (
                ProblemCause::TeamWithoutKey,
                format!("the team {team} has no key yet, which its files need"),
                grant,
            ),
            KeyRemedy::Renew => (
                ProblemCause::TeamWithoutKey,
                format!("the key of the team {team} was granted to the keys that you had before"),
                format!("{grant} --new-key"),
            ),
            KeyRemedy::Ask => (
                ProblemCause::KeyNotGranted,
                format!(
                    "the present key of the team {team} was not granted to you yet; {KEPT}, and are synced once it is"
                ),
                grant,
            ),
        };
        let hint = match remedy {
            KeyRemedy::Make | KeyRemedy::Renew => format!("run `{command}`, which makes one"),
            KeyRemedy::Ask => {
                format!("ask somebody else who owns or administers the team to run `{command}`")
            }
        };
        Self::error(Problem::new("", cause, message, hint).with(with_command(team, command)))
    }

    /// A key of somebody whom nobody has accepted on this device.
    fn new_granter(team: &str, who: &str, fingerprint: &str) -> Self {
        let (word, person) = (shell_word(team), shell_word(who));
        let command = format!("cairn teams keys {word} --accept-new {person}");
        let problem = Problem::new(
            "",
            ProblemCause::KeyToAccept,
            format!(
                "the key of the team {team} was granted by {who}, with the fingerprint {fingerprint}, which nobody has accepted on this device; {KEPT}"
            ),
            format!(
                "compare the fingerprint with {who} by another way than this service, then run `{command}`"
            ),
        );
        Self::of_problem(
            SyncState::Attention,
            problem.with(ProblemValues {
                who: Some(who.to_owned()),
                fingerprint: Some(fingerprint.to_owned()),
                ..with_command(team, command)
            }),
        )
    }

    /// The keys of the account were replaced on another device, as the server says.
    pub(super) fn keys_replaced(replaced: Option<&Replacement>, zone: &Zone) -> Self {
        let problem = Problem::new(
            "",
            ProblemCause::KeysReplaced,
            rotation::describe(replaced, zone),
            format!(
                "{}; until then nothing is synced, and {KEPT}",
                rotation::UPDATE_HINT
            ),
        );
        Self::of_problem(
            SyncState::Attention,
            problem.with(ProblemValues {
                who: replaced.map(|replaced| clean(&replaced.device)),
                at: replaced.map(|replaced| rfc3339(replaced.at_ms)),
                ..ProblemValues::default()
            }),
        )
    }

    /// Anything else.
    pub(super) fn of_failure(message: String) -> Self {
        let hint = format!("{KEPT}; it is tried again by itself, `cairn doctor` may tell more");
        let values = ProblemValues::of_detail(&message);
        Self::error(Problem::new("", ProblemCause::Failed, message, hint).with(values))
    }

    fn error(problem: Problem) -> Self {
        Self::of_problem(SyncState::Error, problem)
    }

    fn of_problem(state: SyncState, problem: Problem) -> Self {
        Self {
            state,
            problem: Some(Box::new(problem)),
        }
    }

    /// Returns the end of waiting for a space without an engine; `None` if it may still get one by itself.
    pub(super) fn end_of_waiting(&self) -> Option<WaitResult> {
        let code = self.problem.as_ref().map(|problem| problem.code);
        if code == Some(ProblemCode::Unauthorized) {
            return Some(WaitResult::LoginEnded);
        }
        matches!(self.state, SyncState::Error | SyncState::Attention)
            .then_some(WaitResult::NeedsPerson)
    }

    /// Checks that it is not the connection that is missing, or the login.
    pub(super) fn check_connection(&self) -> CommandResult {
        let code = self.problem.as_ref().map(|problem| problem.code);
        let exits = [
            (ProblemCode::Offline, Exit::Offline),
            (ProblemCode::Unauthorized, Exit::NotLoggedIn),
        ];
        match exits.into_iter().find(|(wanted, _)| code == Some(*wanted)) {
            Some((_, exit)) => Err(Failure::new(exit, self.sentence())),
            None => Ok(()),
        }
    }

    /// Returns the reason with the remedy, for a request that needs the folder to be synced.
    pub(super) fn sentence(&self) -> String {
        match &self.problem {
            None => "its space is only being opened: try again in a moment".to_owned(),
            Some(problem) => format!("{}: {}", problem.message, problem.hint),
        }
    }

    /// Returns the problem as the status groups problems.
    pub(super) fn group(&self) -> Option<ProblemGroup> {
        self.problem.as_ref().map(|problem| ProblemGroup {
            code: problem.code,
            count: 1,
            bytes: 0,
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            examples: Vec::new(),
            cause: problem.cause,
            values: problem.values.clone(),
        })
    }
}

fn team_value(team: &str) -> ProblemValues {
    ProblemValues {
        team: Some(team.to_owned()),
        ..ProblemValues::default()
    }
}

/// Returns the team, and the command that helps.
fn with_command(team: &str, command: String) -> ProblemValues {
    ProblemValues {
        command: Some(command),
        ..team_value(team)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_grant_says_whom_to_ask_and_an_outage_asks_nobody() {
        let error = TeamError::NotGranted {
            team: "My Crew".into(),
            remedy: KeyRemedy::Ask,
        };
        let halt = Halt::of_team("My Crew", &error);
        assert_eq!(halt.state, SyncState::Error);
        assert!(halt.sentence().contains("not granted to you yet"));
        assert!(halt.sentence().contains("`cairn teams grant 'My Crew'`"));
        let error = TeamError::NotGranted {
            team: "My Crew".into(),
            remedy: KeyRemedy::Renew,
        };
        let sentence = Halt::of_team("My Crew", &error).sentence();
        assert!(
            sentence.contains("run `cairn teams grant 'My Crew' --new-key`"),
            "{sentence}"
        );
        let offline = TeamError::from(ApiError::Offline("no route".into()));
        let halt = Halt::of_team("Crew", &offline);
        assert_eq!(halt.state, SyncState::Offline);
        assert_eq!(halt.group().unwrap().code, ProblemCode::Offline);
        assert_eq!(halt.check_connection().unwrap_err().exit, Exit::Offline);
        let login = Halt::of_api(&ApiError::Unauthorized);
        assert!(login.sentence().contains("cairn login"));
        assert_eq!(
            login.check_connection().unwrap_err().exit,
            Exit::NotLoggedIn
        );
        assert_eq!(Halt::not_a_member("Crew").check_connection(), Ok(()));
    }

    #[test]
    fn a_granter_whom_nobody_has_accepted_waits_for_a_person_to_compare() {
        let error = TeamError::NewGranter {
            team: "My Crew".into(),
            who: "ada@example.com".into(),
            fingerprint: "1234 5678".into(),
        };
        let halt = Halt::of_team("My Crew", &error);
        assert_eq!(halt.end_of_waiting(), Some(WaitResult::NeedsPerson));
        let sentence = halt.sentence();
        assert!(sentence.contains("fingerprint 1234 5678"), "{sentence}");
        let command = "`cairn teams keys 'My Crew' --accept-new ada@example.com`";
        assert!(sentence.contains(command), "{sentence}");
        let group = halt.group().unwrap();
        assert_eq!(group.cause, ProblemCause::KeyToAccept);
        assert_eq!(group.values.who.as_deref(), Some("ada@example.com"));
        assert_eq!(
            group.values.command.as_deref(),
            Some(&command[1..command.len() - 1])
        );
    }

    #[test]
    fn waiting_ends_where_only_a_person_can_help() {
        let login = Halt::of_api(&ApiError::Unauthorized);
        assert_eq!(login.end_of_waiting(), Some(WaitResult::LoginEnded));
        let gone = Halt::not_a_member("Crew");
        assert_eq!(gone.end_of_waiting(), Some(WaitResult::NeedsPerson));
        let offline = Halt::of_api(&ApiError::Offline("no route".into()));
        assert_eq!(offline.end_of_waiting(), None);
        assert_eq!(Halt::at_start().end_of_waiting(), None);
        let by = Replacement {
            at_ms: 0,
            device: "desk".into(),
        };
        let replaced = Halt::keys_replaced(Some(&by), &Zone::system());
        assert_eq!(replaced.end_of_waiting(), Some(WaitResult::NeedsPerson));
        assert_eq!(replaced.state, SyncState::Attention);
        let sentence = replaced.sentence();
        assert!(
            sentence.contains("by desk: run `cairn keys update`"),
            "{sentence}"
        );
    }
}
