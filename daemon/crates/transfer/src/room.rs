//! The memory that a batch of downloads may fill with content.

use crate::error::TransferError;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of content that are still expected.
#[derive(Debug)]
pub(crate) struct Room(AtomicU64);

impl Room {
    pub(crate) fn of(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    /// Takes the room of one file, before anything of it is opened.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) if there isn't as much.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), TransferError> {
        let less = |left: u64| left.checked_sub(bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .map(|_| ())
            .map_err(|_| {
                TransferError::protocol("the files of a batch are longer than was said before")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_room_takes_none() {
        let room = Room::of(10);
        assert!(room.take(4).is_ok() && room.take(7).is_err());
        assert!(room.take(6).is_ok() && room.take(1).is_err());
        assert!(room.take(0).is_ok());
    }
}
