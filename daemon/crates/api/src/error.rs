//! What can go wrong with a call, by what the caller can do about it.

use cairn_model::RevisionId;
use std::time::Duration;

/// The longest text of a server that is quoted; it may be hostile.
const MAX_QUOTE: usize = 300;

/// Why a call failed. Texts quote the server, shortened and without control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    #[error("the server doesn't accept the access token: log in again")]
    Unauthorized,
    #[error("the server forbids it: {message}")]
    Forbidden { message: String },
    #[error("the server doesn't know it: {message}")]
    NotFound { message: String },
    /// The name is taken, or the base is no longer the head; `head` is the revision that is.
    #[error("it changed on the server meanwhile: {message}")]
    Conflict {
        head: Option<RevisionId>,
        message: String,
    },
    #[error("it has another version on the server: {message}")]
    PreconditionFailed { message: String },
    /// A cursor from another history, or an exhausted link.
    #[error("it is no longer available: {message}")]
    Gone { message: String },
    #[error("it is too large for the server: {message}")]
    TooLarge { message: String },
    #[error("a quota on the server is used up: {message}")]
    QuotaFull { message: String },
    #[error("the server asks to slow down: try again in {} s", retry_after.as_secs())]
    RateLimited { retry_after: Duration },
    #[error("the server can't be reached: {0}; check the address and the network")]
    Offline(String),
    #[error("the server failed with {status}: {message}; try again later")]
    Server { status: u16, message: String },
    /// Any other 4xx.
    #[error("the server refused with {status}: {message}")]
    Rejected { status: u16, message: String },
    /// The answer broke the contract.
    #[error("the server's answer can't be used: {0}")]
    Protocol(String),
}

impl ApiError {
    /// Tells whether the same call may succeed later without anyone doing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Offline(_) | Self::Server { .. } => true,
            Self::Unauthorized
            | Self::Forbidden { .. }
            | Self::NotFound { .. }
            | Self::Conflict { .. }
            | Self::PreconditionFailed { .. }
            | Self::Gone { .. }
            | Self::TooLarge { .. }
            | Self::QuotaFull { .. }
            | Self::Rejected { .. }
            | Self::Protocol(_) => false,
        }
    }
}

/// A server's text, fit for a line of output.
pub(crate) fn quote(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_QUOTE)
        .collect();
    clean.trim().to_owned()
}
