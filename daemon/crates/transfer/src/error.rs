//! Errors of a transfer, by the action that a caller can take.

use cairn_api::ApiError;
use cairn_crypto::{Class, CryptoError};
use cairn_model::RevisionId;
use std::io;
use std::time::Duration;

/// The reason why a transfer did not happen.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// Look at the file again when it is quiet; nothing of it was committed.
    #[error("the file changed while it was read; it is tried again when it is quiet")]
    SourceChanged,
    /// Plan again: the head or the name is not what the plan was made for.
    #[error("it changed on the server meanwhile: {message}")]
    Conflict {
        head: Option<RevisionId>,
        message: String,
    },
    /// Plan again: the node or revision is not there (any more).
    #[error("the server no longer has it: {message}")]
    Gone { message: String },
    /// Begin the upload again: the server forgot it.
    #[error("the server no longer knows the upload; it begins again")]
    UploadLost,
    #[error("a quota on the server is used up: {message}")]
    QuotaFull { message: String },
    #[error("it is too large for the server: {message}")]
    TooLarge { message: String },
    #[error("the server doesn't accept the access token: log in again")]
    Unauthorized,
    #[error("the server forbids it: {message}")]
    Forbidden { message: String },
    #[error("the server asks to slow down: try again in {} s", retry_after.as_secs())]
    RateLimited { retry_after: Duration },
    #[error("the server can't be reached: {0}; check the address and the network")]
    Offline(String),
    #[error("the server failed with {status}: {message}; try again later")]
    Server { status: u16, message: String },
    #[error("the server refused with {status}: {message}")]
    Rejected { status: u16, message: String },
    #[error("the server's answer can't be used: {0}")]
    Protocol(String),
    /// The server's reply is not authentic. Nothing of it was written.
    #[error("what the server sent was refused at the {check} ({}): {source}", source.class().as_str())]
    Refused { check: Check, source: CryptoError },
    /// The keys or the input at hand do not allow it.
    #[error("it can't be sealed: {0}")]
    Sealing(CryptoError),
    #[error("the local file can't be read: {0}")]
    Source(#[source] io::Error),
    #[error("the local file can't be written: {0}")]
    Target(#[source] io::Error),
}

/// Which check on what the server sent failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// The manifest: its seal, its ids, its hash in the node seal.
    Manifest,
    /// The wrapped content key.
    ContentKey,
    /// One chunk.
    Chunk,
    /// The whole content against the manifest.
    Content,
}

impl Check {
    /// The check as it stands in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::ContentKey => "content_key",
            Self::Chunk => "chunk",
            Self::Content => "content",
        }
    }
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TransferError {
    /// The class for reports, if authenticity is what failed.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        match self {
            Self::Refused { source, .. } | Self::Sealing(source) => Some(source.class()),
            Self::SourceChanged
            | Self::Conflict { .. }
            | Self::Gone { .. }
            | Self::UploadLost
            | Self::QuotaFull { .. }
            | Self::TooLarge { .. }
            | Self::Unauthorized
            | Self::Forbidden { .. }
            | Self::RateLimited { .. }
            | Self::Offline(_)
            | Self::Server { .. }
            | Self::Rejected { .. }
            | Self::Protocol(_)
            | Self::Source(_)
            | Self::Target(_) => None,
        }
    }

    /// An error for one file of a batch, from the status that the server gave it.
    pub(crate) fn from_status(status: u16, message: String) -> Self {
        ApiError::from_status(status, message).into()
    }
}

impl From<ApiError> for TransferError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Unauthorized => Self::Unauthorized,
            ApiError::Forbidden { message } => Self::Forbidden { message },
            ApiError::NotFound { message } | ApiError::Gone { message } => Self::Gone { message },
            ApiError::Conflict { head, message } => Self::Conflict { head, message },
            ApiError::PreconditionFailed { message } => Self::Conflict {
                head: None,
                message,
            },
            ApiError::TooLarge { message } => Self::TooLarge { message },
            ApiError::QuotaFull { message } => Self::QuotaFull { message },
            ApiError::RateLimited { retry_after } => Self::RateLimited { retry_after },
            ApiError::Offline(why) => Self::Offline(why),
            ApiError::Server { status, message } => Self::Server { status, message },
            ApiError::Rejected { status, message } => Self::Rejected { status, message },
            ApiError::Protocol(why) => Self::Protocol(why),
        }
    }
}

/// Makes the error for a check that failed.
pub(crate) fn refused(check: Check) -> impl Fn(CryptoError) -> TransferError {
    move |source| TransferError::Refused { check, source }
}
