//! Failures of making or refreshing a link.

use crate::list_paths::list_paths;
use cairn_api::ApiError;
use cairn_crypto::CryptoError;
use cairn_transfer::TransferError;
use std::io;

/// The reason why nothing was shared.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// Names or places that no device with the keys has sealed: the server may have put them there.
    #[error(
        "no device with your present keys has put these where they are, so nothing was shared: {}",
        list_paths(paths.iter().cloned())
    )]
    Unverified {
        /// From the top of the space.
        paths: Vec<String>,
    },
    /// Seals that are older than some that this device has seen.
    #[error(
        "the service shows older states of these than this device has seen, so nothing was shared: {}; see `cairn status`",
        list_paths(paths.iter().cloned())
    )]
    Rollback {
        /// From the top of the space.
        paths: Vec<String>,
    },
    #[error("what this device has seen of the service can't be read, so nothing was shared: {0}")]
    SeenSealsUnreadable(#[source] io::Error),
    /// A file that can't be in a link.
    #[error("{path} can't be in a link, so nothing was shared: {source}")]
    NotListable {
        /// Below what was to be shared.
        path: String,
        source: CryptoError,
    },
    #[error("{path} is too large for a link, so nothing was shared")]
    TooLarge {
        /// Below what was to be shared.
        path: String,
    },
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

impl From<ApiError> for ShareError {
    fn from(error: ApiError) -> Self {
        Self::Transfer(error.into())
    }
}
