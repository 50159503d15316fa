//! Failures of making or refreshing a link.

use cairn_api::ApiError;
use cairn_transfer::TransferError;

/// Paths that a message lists; the rest is counted.
const LISTED: usize = 10;

/// The reason why nothing was shared.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// Names or places that no device with the keys has sealed: the server may have put them there.
    #[error(
        "no device with your keys has put these where they are, so that nothing was shared: {}",
        listed(paths)
    )]
    Unverified {
        /// From the top of the space.
        paths: Vec<String>,
    },
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

impl From<ApiError> for ShareError {
    fn from(error: ApiError) -> Self {
        Self::Transfer(error.into())
    }
}

fn listed(paths: &[String]) -> String {
    let shown = paths.iter().take(LISTED).cloned().collect::<Vec<_>>();
    let shown = shown.join(", ");
    match paths.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
