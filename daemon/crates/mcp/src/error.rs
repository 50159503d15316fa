//! Errors of tools, with messages that say what to do next and never mention cryptography.

use crate::mask;
use cairn_api::ApiError;
use cairn_control::ControlError;
use cairn_space::{ShareError, TeamError};
use cairn_transfer::TransferError;
use serde_json::{Value, json};
use std::io;

pub(crate) type ToolResult<T = ()> = Result<T, ToolError>;

/// A failure of a tool or resource.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// The arguments are not what the tool takes.
    #[error("{0}")]
    Argument(String),
    /// The call can't be done; the text gives the whole reason.
    #[error("{0}")]
    Refused(String),
    #[error(
        "SERVICE_PASSPHRASE is not set: file content needs the account's passphrase; set the variable where this tool server is configured and start it again"
    )]
    NoPassphrase,
    #[error("the passphrase doesn't open this account: check SERVICE_PASSPHRASE")]
    WrongPassphrase,
    #[error("{}", api_message(.0))]
    Api(#[from] ApiError),
    /// An argument names nothing that the service has.
    #[error("not found: {what}; {source_of_ids}")]
    NotFound {
        what: String,
        /// The advice where to get an id that exists.
        source_of_ids: &'static str,
    },
    #[error("{}", transfer_message(.0))]
    Transfer(#[from] TransferError),
    #[error(
        "{0}; have a person look at them, and make the link with `cairn share create --include-unverified`"
    )]
    Unverified(ShareError),
    /// The key of a team's space can't be used.
    #[error("{0}")]
    Team(TeamError),
    #[error("can't {doing}: {source}")]
    Local { doing: String, source: io::Error },
    #[error("the sync daemon refused it: {0}")]
    Daemon(#[from] ControlError),
    #[error("the service did not respond within {seconds} s: it may be busy; try again later")]
    TimedOut { seconds: u64 },
    #[error("not confirmed: nothing was changed")]
    NotConfirmed,
    #[error("cancelled: nothing is left half done")]
    Cancelled,
    #[error("the tool server had an internal error: try again, and report it if it persists")]
    Internal,
}

impl ToolError {
    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::Argument(text.into())
    }

    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }

    /// Adds the attempted operation to an error of a local file.
    pub(crate) fn local(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Local { doing, source }
    }

    /// Returns the message that may leave this process.
    pub(crate) fn public_message(&self) -> String {
        let message = self.to_string();
        if matches!(self, Self::NoPassphrase) {
            return message;
        }
        mask::mask_crypto(crate::clean::text(&message))
    }

    /// Returns the JSON shape of every error.
    pub(crate) fn json(&self) -> Value {
        json!({ "error": self.public_message() })
    }
}

impl From<ShareError> for ToolError {
    fn from(error: ShareError) -> Self {
        match error {
            ShareError::Transfer(error) => error.into(),
            ShareError::Unverified { .. } => Self::Unverified(error),
            ShareError::Rollback { .. }
            | ShareError::SeenSealsUnreadable(_)
            | ShareError::NotListable { .. }
            | ShareError::TooLarge { .. } => Self::refused(error.to_string()),
        }
    }
}

impl From<TeamError> for ToolError {
    fn from(error: TeamError) -> Self {
        match error {
            TeamError::Transfer(error) => error.into(),
            TeamError::Refused { .. } => Self::refused(mask::GENERIC),
            error @ (TeamError::NotGranted { .. }
            | TeamError::NoRight { .. }
            | TeamError::KeyChanged { .. }
            | TeamError::NotShown { .. }
            | TeamError::NotNew { .. }
            | TeamError::Ambiguous { .. }
            | TeamError::KeyWithheld { .. }) => Self::Team(error),
        }
    }
}

fn api_message(error: &ApiError) -> String {
    match error {
        ApiError::Unauthorized => {
            "the service doesn't accept the access token: check SERVICE_API_KEY, it may have expired or been revoked".to_owned()
        }
        ApiError::Forbidden { message } => forbidden_message(message),
        ApiError::NotFound { message } => {
            format!("not found: {message}; list or search first to get a current id")
        }
        ApiError::Conflict { message, .. } => format!("conflict: {message}"),
        ApiError::PreconditionFailed { message } => {
            format!("it was changed by someone else: {message}; read it again and repeat")
        }
        ApiError::Gone { message } => format!("no longer available (410 Gone): {message}"),
        ApiError::TooLarge { message } => format!("too large: {message}"),
        ApiError::QuotaFull { .. } | ApiError::RateLimited { .. } | ApiError::Server { .. } => {
            error.to_string()
        }
        ApiError::Offline(why) => format!(
            "the service can't be reached: {why}; check SERVICE_API_URL and the network"
        ),
        ApiError::Rejected { status, message } => {
            format!("the service refused it ({status}): {message}")
        }
        ApiError::Protocol(why) => format!("the service's response can't be used: {why}"),
    }
}

/// Replaces the service's endpoints in a message by tools.
fn forbidden_message(message: &str) -> String {
    let message = message.replace("POST /useraccount/restore", "restore_account");
    format!("not allowed: {message}")
}

fn transfer_message(error: &TransferError) -> String {
    match error {
        TransferError::Api(error) => api_message(error),
        // The check that failed is for the log, not for whoever reads answers.
        TransferError::Refused { .. } | TransferError::Sealing(_) => {
            "Encryption operation failed".to_owned()
        }
        TransferError::SourceChanged
        | TransferError::UploadLost
        | TransferError::Source(_)
        | TransferError::Target(_) => error.to_string(),
    }
}
