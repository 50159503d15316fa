//! Failures of a command: one line for a person, and an exit code for a script.

use cairn_api::{ApiError, ErrorClass, TransportError};
use cairn_control::{ControlError, FailureCode};
use cairn_engine::{EngineError, PollFailure};
use cairn_index::IndexError;
use cairn_model::SyncState;
use cairn_platform::lock::LockError;
use cairn_platform::secrets::SecretsError;
use cairn_space::{CryptoError, ShareError, TeamError};
use cairn_transfer::TransferError;
use std::fmt::Display;
use std::io;

/// The exit codes that scripts rely on; 0 is success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Exit {
    Failed = 1,
    Usage = 2,
    NotLoggedIn = 3,
    Offline = 4,
    Decision = 5,
    TimedOut = 124,
}

/// A failure, ready to be shown.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// The document for programs is out already: there must be only one.
    pub(crate) is_reported: bool,
}

pub(crate) type CommandResult<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            is_reported: false,
        }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Marks a failure whose document for programs is out already.
    pub(crate) fn mark_reported(self) -> Self {
        Self {
            is_reported: true,
            ..self
        }
    }

    /// Adds what follows from it, or what to do.
    pub(crate) fn adding(self, text: &str) -> Self {
        Self {
            message: format!("{}; {text}", self.message),
            ..self
        }
    }

    /// Adds what was being done, and to what.
    pub(crate) fn during(self, what: impl Display) -> Self {
        Self {
            message: format!("can't {what}: {}", self.message),
            ..self
        }
    }
}

/// Reports what was being done, and to what, when something failed.
pub(crate) trait Context<T> {
    fn context(self, what: impl Display) -> CommandResult<T>;
}

impl<T, E: Into<Failure>> Context<T> for Result<T, E> {
    fn context(self, what: impl Display) -> CommandResult<T> {
        self.map_err(|error| error.into().during(what))
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        if error.is_too_long_to_send() {
            return Self::usage(error.to_string());
        }
        let exit = match error.class() {
            ErrorClass::Auth => Exit::NotLoggedIn,
            ErrorClass::Offline => Exit::Offline,
            ErrorClass::Stale => Exit::Decision,
            ErrorClass::Transient
            | ErrorClass::Missing
            | ErrorClass::Limit
            | ErrorClass::Refused
            | ErrorClass::Protocol => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Api(error) => error.into(),
            TransferError::SourceChanged
            | TransferError::UploadLost
            | TransferError::Refused { .. }
            | TransferError::Sealing(_)
            | TransferError::Source(_)
            | TransferError::Target(_) => Self::new(Exit::Failed, error.to_string()),
        }
    }
}

impl From<TeamError> for Failure {
    fn from(error: TeamError) -> Self {
        let exit = match error {
            TeamError::Transfer(error) => return error.into(),
            TeamError::NewGranter { .. }
            | TeamError::KeyChanged { .. }
            | TeamError::NotShown { .. }
            | TeamError::NotNew { .. } => Exit::Decision,
            TeamError::NotGranted { .. }
            | TeamError::NoRight { .. }
            | TeamError::KeyWithheld { .. }
            | TeamError::Ambiguous { .. }
            | TeamError::Refused { .. } => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<ShareError> for Failure {
    fn from(error: ShareError) -> Self {
        let message = error.to_string();
        match error {
            ShareError::Transfer(error) => error.into(),
            ShareError::Rollback { .. }
            | ShareError::SeenSealsUnreadable(_)
            | ShareError::NotListable { .. }
            | ShareError::TooLarge { .. } => Self::failed(message),
            ShareError::Unverified { .. } => Self::new(
                Exit::Decision,
                format!("{message}; look at them, then add --include-unverified to share them"),
            ),
        }
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        let exit = match &error {
            ControlError::Refused(refused) => match refused.code {
                FailureCode::Failed => Exit::Failed,
                FailureCode::Usage => Exit::Usage,
                FailureCode::NotLoggedIn => Exit::NotLoggedIn,
                FailureCode::Offline => Exit::Offline,
                FailureCode::Decision => Exit::Decision,
                FailureCode::TimedOut => Exit::TimedOut,
            },
            ControlError::NotRunning
            | ControlError::Socket { .. }
            | ControlError::Version { .. }
            | ControlError::Closed
            | ControlError::Silent { .. }
            | ControlError::Protocol(_) => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let message = error.to_string();
        match error {
            EngineError::NoMerge { .. }
            | EngineError::OnlyCopy(_)
            | EngineError::WhoseCopy(_)
            | EngineError::WentBack => Self::new(Exit::Decision, message),
            EngineError::Api(error) => error.into(),
            EngineError::Transfer(error) => error.into(),
            EngineError::Index(_)
            | EngineError::Disk(_)
            | EngineError::Stale
            | EngineError::Paused
            | EngineError::ReplanExhausted
            | EngineError::NotRecorded
            | EngineError::NameClash { .. }
            | EngineError::Name(_)
            | EngineError::Stopped
            | EngineError::NothingToConfirm
            | EngineError::NoHeldDisk(_)
            | EngineError::NoConflict(_)
            | EngineError::RootGone(_)
            | EngineError::RemoteIsFile(_)
            | EngineError::RemoteGone(_)
            | EngineError::HoldsUnrecorded
            | EngineError::RulesTooLarge(_)
            | EngineError::PollPanicked
            | EngineError::Protocol(_) => Self::failed(message),
        }
    }
}

impl From<PollFailure> for Failure {
    fn from(failure: PollFailure) -> Self {
        let exit = if failure.is_login_ended {
            Exit::NotLoggedIn
        } else if failure.state == SyncState::Offline {
            Exit::Offline
        } else {
            Exit::Failed
        };
        Self::new(exit, failure.message)
    }
}

/// Errors that are always exit code 1 and say everything themselves.
macro_rules! plainly_failed {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::failed(error.to_string())
            }
        })*
    };
}

plainly_failed!(
    CryptoError,
    IndexError,
    LockError,
    SecretsError,
    TransportError,
    io::Error
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_says_what_kind_of_failure_it_is() {
        let cases = [
            (ApiError::Unauthorized, Exit::NotLoggedIn),
            (ApiError::Offline("refused".into()), Exit::Offline),
            (
                ApiError::Conflict {
                    head: None,
                    message: "taken".into(),
                },
                Exit::Decision,
            ),
            (
                ApiError::Server {
                    status: 500,
                    message: "oh".into(),
                    retry_after: None,
                },
                Exit::Failed,
            ),
        ];
        for (error, exit) in cases {
            let failed: Result<(), _> = Err(error);
            assert_eq!(failed.context("list /a").unwrap_err().exit, exit);
        }
    }

    #[test]
    fn a_failure_says_what_was_being_done() {
        let failed: Result<(), _> = Err(ApiError::Offline("connection refused".into()));
        let message = failed.context("list /a").unwrap_err().message;
        assert!(
            message.starts_with("can't list /a: the server can't be reached"),
            "{message}"
        );
    }
}
