//! The numbers that a change gives a node: that of its revision, and that of its seal (the MAC over its name, parent
//! and content).
//!
//! A rollback shows by a lower number of the seal, so the server must not be able to choose the number: with one at
//! the maximum, all later seals would have the same.

use crate::error::TransferError;

/// The highest number of a revision, seal or version; JSON carries integers exactly up to here.
pub const MAX_NUMBER: u64 = 1 << 53;
/// The most changes without a seal that a server may claim after the last sealed one.
const MAX_JUMP: u64 = 1 << 32;

/// The numbers of a node that are known before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownNumbers {
    /// The highest sequence of a checked seal of the node; 0 without one.
    pub seal_seq: u64,
    /// A checked seal covers the present state.
    pub sealed: bool,
    /// The number in the checked manifest of the present revision, if that was opened.
    pub revision: Option<u64>,
    /// The server's count of the node's changes, which no seal covers.
    pub version: u64,
}

impl KnownNumbers {
    /// Returns the sequence of the node's next seal: above that of every earlier one.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) if the server's count is needed and can't be one.
    pub fn next_seal(&self) -> Result<u64, TransferError> {
        if self.sealed {
            return next_number(self.seal_seq);
        }
        next_number(self.seal_seq.max(self.plausible_version()?))
    }

    /// Returns the number of the node's next revision: above that of every earlier one.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) if the server's count is needed and can't be one.
    pub fn next_revision(&self) -> Result<u64, TransferError> {
        match self.revision {
            Some(number) if self.sealed => next_number(number),
            number => next_number(number.unwrap_or(0).max(self.plausible_version()?)),
        }
    }

    /// Returns the server's number of versions, if it is possible: a state without a seal may have lost count of
    /// sealed ones, and only the server knows how many there were.
    fn plausible_version(&self) -> Result<u64, TransferError> {
        let last = self.seal_seq.max(self.revision.unwrap_or(0));
        if self.version > MAX_NUMBER || self.version.saturating_sub(last) > MAX_JUMP {
            return Err(impossible_error(self.version));
        }
        Ok(self.version)
    }
}

/// Returns the number after one that was checked.
///
/// # Errors
/// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) at the end of all numbers.
fn next_number(number: u64) -> Result<u64, TransferError> {
    if number >= MAX_NUMBER {
        return Err(impossible_error(number));
    }
    Ok(number + 1)
}

fn impossible_error(number: u64) -> TransferError {
    TransferError::protocol(format!(
        "it counts {number} changes of one file, which can't be; nothing was changed"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEALED: KnownNumbers = KnownNumbers {
        seal_seq: 7,
        sealed: true,
        revision: Some(3),
        version: 9,
    };

    #[test]
    fn the_server_does_not_choose_the_numbers_of_a_sealed_node() {
        for version in [0, 9, MAX_NUMBER, u64::MAX] {
            let known = KnownNumbers { version, ..SEALED };
            assert_eq!(known.next_seal().unwrap(), 8);
            assert_eq!(known.next_revision().unwrap(), 4);
        }
    }

    #[test]
    fn a_state_without_a_seal_is_numbered_above_all_that_the_server_counted() {
        let known = KnownNumbers {
            sealed: false,
            ..SEALED
        };
        assert_eq!(known.next_seal().unwrap(), 10);
        assert_eq!(known.next_revision().unwrap(), 10);
        let behind = KnownNumbers {
            version: 2,
            ..known
        };
        assert_eq!(behind.next_seal().unwrap(), 8);
        assert_eq!(behind.next_revision().unwrap(), 4);
    }

    #[test]
    fn an_inflated_count_is_refused() {
        for version in [u64::MAX, MAX_NUMBER + 1, MAX_NUMBER, (1 << 32) + 8] {
            let known = KnownNumbers {
                sealed: false,
                version,
                ..SEALED
            };
            assert!(known.next_seal().is_err(), "{version}");
            assert!(known.next_revision().is_err(), "{version}");
        }
        let full = KnownNumbers {
            seal_seq: MAX_NUMBER,
            ..SEALED
        };
        assert!(full.next_seal().is_err());
    }
}
