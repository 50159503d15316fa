//! Errors of tools, with messages that say what to do next and never mention cryptography.

mod names;

pub(crate) use names::quote_paths;

use crate::mask::{self, Author};
use cairn_api::ApiError;
use cairn_control::ControlError;
use cairn_space::{ShareError, TeamError};
use cairn_transfer::TransferError;
use serde_json::{Map, Value, json};
use std::io;

pub(crate) type ToolResult<T = ()> = Result<T, ToolError>;

/// The longest message, in bytes. It may quote arguments, which have no limit.
const MAX_MESSAGE: usize = 1_000;
/// The part of a longer message that is kept of its end, which says what to do.
const KEPT_END: usize = 400;

/// A failure of a tool or resource.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// The arguments are not what the tool takes.
    #[error("{0}")]
    Argument(String),
    /// The call can't be done; the text gives the whole reason.
    #[error("{0}")]
    Refused(String),
    /// The same in the words of another part of the program, which may name files.
    #[error("{0}")]
    Quoting(String),
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
    /// A link was not made.
    #[error("{}", names::share_message(.0))]
    Unshared(ShareError),
    /// The key of a team's space can't be used.
    #[error("{}", names::team_message(.0))]
    Team(TeamError),
    #[error("can't {doing}: {source}")]
    Local { doing: String, source: io::Error },
    #[error("{}", daemon_message(.0))]
    Daemon(#[from] ControlError),
    #[error("the service did not respond within {seconds} s: it may be busy; try again later")]
    TimedOut { seconds: u64 },
    /// A change of which nobody knows whether it was made.
    #[error(
        "{}; it may have been done all the same: {advice}",
        names::without_advice(.cause)
    )]
    MayBeDone {
        cause: Box<ToolError>,
        /// The advice for whoever repeats it: mostly the call that shows whether it was done.
        advice: &'static str,
    },
    #[error("not confirmed: nothing was changed")]
    NotConfirmed,
    #[error("cancelled: no file is left half written")]
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
        self.message_for(None)
    }

    /// Returns the message that may leave this process, for a call with these arguments.
    pub(crate) fn message_for(&self, arguments: Option<&Map<String, Value>>) -> String {
        let message = crate::clean::text(&self.to_string());
        if matches!(self, Self::NoPassphrase) {
            return message;
        }
        let author = if self.is_of_service() {
            Author::Service
        } else {
            Author::Ourselves
        };
        let mut given = Vec::new();
        for argument in arguments.into_iter().flat_map(Map::values) {
            collect_texts(argument, &mut given);
        }
        limit_length(mask::mask_crypto(message, author, &given))
    }

    /// Returns true for an error whose words are those of the service.
    fn is_of_service(&self) -> bool {
        match self {
            Self::Api(_) | Self::Transfer(_) | Self::NotFound { .. } => true,
            Self::MayBeDone { cause, .. } => cause.is_of_service(),
            Self::Argument(_)
            | Self::Refused(_)
            | Self::Quoting(_)
            | Self::NoPassphrase
            | Self::WrongPassphrase
            | Self::Unshared(_)
            | Self::Team(_)
            | Self::Local { .. }
            | Self::Daemon(_)
            | Self::TimedOut { .. }
            | Self::NotConfirmed
            | Self::Cancelled
            | Self::Internal => false,
        }
    }

    /// Returns the JSON shape of every error.
    pub(crate) fn json(&self) -> Value {
        json!({ "error": self.public_message() })
    }
}

/// Returns a message of the service about one of many items as it may leave this process.
pub(crate) fn public_item_message(message: &str) -> String {
    limit_length(mask::mask_crypto(message.to_owned(), Author::Service, &[]))
}

/// Returns the message, without its middle if it is too long.
fn limit_length(message: String) -> String {
    if message.len() <= MAX_MESSAGE {
        return message;
    }
    let begin = &message[..message.floor_char_boundary(MAX_MESSAGE - KEPT_END)];
    let end = &message[message.ceil_char_boundary(message.len() - KEPT_END)..];
    format!("{begin} … {end}")
}

/// Collects the texts in an argument.
fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|item| collect_texts(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl From<ShareError> for ToolError {
    fn from(error: ShareError) -> Self {
        match error {
            ShareError::Transfer(error) => error.into(),
            ShareError::Unverified { .. }
            | ShareError::Rollback { .. }
            | ShareError::SeenSealsUnreadable(_)
            | ShareError::NotListable { .. }
            | ShareError::TooLarge { .. } => Self::Unshared(error),
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
            | TeamError::NewGranter { .. }
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
            let message = without_header(message);
            format!("not found: {message}; list or search first to get a current id")
        }
        ApiError::Conflict { message, .. } => format!("conflict: {message}"),
        ApiError::PreconditionFailed { message } => {
            // The service's message ends with the advice to read it again.
            format!("it was changed by someone else: {message}")
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

fn daemon_message(error: &ControlError) -> String {
    match error {
        ControlError::Refused(why) => format!("the sync daemon refused it: {why}"),
        // Nobody was there to refuse anything.
        ControlError::NotRunning
        | ControlError::Socket { .. }
        | ControlError::Version { .. }
        | ControlError::Closed
        | ControlError::Silent { .. }
        | ControlError::Protocol(_) => error.to_string(),
    }
}

/// Replaces the service's endpoints in a message by tools.
fn forbidden_message(message: &str) -> String {
    let message = message.replace("POST /useraccount/restore", "restore_account");
    format!("not allowed: {}", without_header(&message))
}

/// Removes the header that names a space: tools find the space of an id themselves.
fn without_header(message: &str) -> String {
    message
        .replace(" from this space (`X-Space-Id`)", "")
        .replace(" (`X-Space-Id`)", "")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_never_long_and_keeps_its_end() {
        let name = "ü".repeat(500_000);
        let message = ToolError::argument(format!("new_name can't be \"{name}\": it is too long"));
        let message = message.public_message();
        assert!(message.len() <= MAX_MESSAGE + 10, "{} bytes", message.len());
        assert!(message.starts_with("new_name can't be"), "{message}");
        assert!(message.ends_with("it is too long"), "{message}");
    }

    #[test]
    fn advice_is_for_tools_and_given_once() {
        let changed = ApiError::PreconditionFailed {
            message: "it has version 2; read it again".to_owned(),
        };
        let message = ToolError::from(changed).public_message();
        assert_eq!(message.matches("read it again").count(), 1, "{message}");
        let forbidden = ApiError::Forbidden {
            message: "you may not reach the node 5 from this space (`X-Space-Id`)".to_owned(),
        };
        let message = ToolError::from(forbidden).public_message();
        assert_eq!(message, "not allowed: you may not reach the node 5");
    }

    #[test]
    fn names_and_arguments_are_not_taken_for_cryptography() {
        let own = ToolError::refused("`salt` is not text");
        assert_eq!(own.public_message(), "`salt` is not text");
        let taken = || ApiError::Conflict {
            head: None,
            message: "the username salt is taken".to_owned(),
        };
        let error = ToolError::from(taken());
        assert_eq!(error.public_message(), mask::GENERIC);
        let arguments = json!({ "username": "salt" });
        let message = error.message_for(arguments.as_object());
        assert_eq!(message, "conflict: the username salt is taken");
    }
}
