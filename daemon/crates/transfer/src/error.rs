//! Errors of a transfer, by the action that a caller can take.

use cairn_api::{ApiError, ErrorClass};
use cairn_crypto::{Class, CryptoError};
use std::io;

/// The reason why a transfer did not happen.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// Look at the file again when it is quiet; nothing of it was committed.
    #[error("the file changed while it was read; it is tried again when it is quiet")]
    SourceChanged,
    /// The server refuses, fails or can't be reached; its [class](ApiError::class) says what follows.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// Begin the upload again: the server forgot it.
    #[error("the server no longer knows the upload; it begins again")]
    UploadLost,
    /// The server's reply is not authentic. Nothing of it was written.
    #[error("what the server sent was refused at the {check} ({}): {source}", source.class().as_str())]
    Refused { check: Check, source: CryptoError },
    /// The caller's keys or input do not allow it.
    #[error("it can't be sealed: {0}")]
    Sealing(CryptoError),
    #[error("the local file can't be read: {0}")]
    Source(#[source] io::Error),
    #[error("the local file can't be written: {0}")]
    Target(#[source] io::Error),
}

/// The check that data from the server failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// The manifest of the revision or its list of chunks: authenticity, ids, the hash in the node seal.
    Manifest,
    /// The wrapped key of a link.
    LinkKey,
    /// One chunk.
    Chunk,
    /// The whole content against the manifest.
    Content,
}

impl Check {
    /// Returns the name of the check in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::LinkKey => "link_key",
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
    /// Returns the class for reports, if authenticity is what failed.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        match self {
            Self::Refused { source, .. } | Self::Sealing(source) => Some(source.class()),
            Self::SourceChanged
            | Self::Api(_)
            | Self::UploadLost
            | Self::Source(_)
            | Self::Target(_) => None,
        }
    }

    /// Returns the error for a response that breaks the contract.
    #[must_use]
    pub fn protocol(why: impl Into<String>) -> Self {
        Self::Api(ApiError::Protocol(why.into()))
    }

    /// Returns whether the server has another state than the call was made for, or the name is taken.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Api(error) if error.class() == ErrorClass::Stale)
    }
}

/// Makes the error for a check that failed.
pub(crate) fn refused_error(check: Check) -> impl Fn(CryptoError) -> TransferError {
    move |source| TransferError::Refused { check, source }
}
