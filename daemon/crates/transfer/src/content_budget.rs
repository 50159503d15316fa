//! The memory that a batch of downloads may fill with content.

use crate::error::TransferError;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of content that are still expected.
#[derive(Debug)]
pub(crate) struct ContentBudget(AtomicU64);

impl ContentBudget {
    pub(crate) fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    /// Reserves the bytes of one file, before anything of it is opened.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) if the budget has fewer left.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), TransferError> {
        let less = |left: u64| left.checked_sub(bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .map(|_| ())
            .map_err(|_| {
                TransferError::protocol(
                    "the files of a batch are larger than their announced sizes",
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beyond_the_budget_reserves_nothing() {
        let budget = ContentBudget::new(10);
        assert!(budget.reserve(4).is_ok() && budget.reserve(7).is_err());
        assert!(budget.reserve(6).is_ok() && budget.reserve(1).is_err());
        assert!(budget.reserve(0).is_ok());
    }
}
