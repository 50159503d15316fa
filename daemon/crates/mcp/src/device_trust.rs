//! The boundary to what this device trusts: other people's pinned public keys, and the setting `sync.verify`.

use cairn_crypto::AccountKeys;
use cairn_model::{SpaceId, Verification};
use cairn_space::{SeenSeals, Trust};
use std::sync::Arc;

/// The public keys of other people that this device has pinned, and its setting for unverified changes.
pub trait DeviceTrust: Send + Sync {
    /// Passes the pins and notes of an account to `change` and stores them if they changed.
    ///
    /// # Errors
    /// The reason why it can't be read or kept; nothing may be opened then.
    fn update(&self, keys: &AccountKeys, change: &mut dyn FnMut(&mut Trust)) -> Result<(), String>;

    /// Returns the treatment of content that no device with the keys has signed.
    ///
    /// # Errors
    /// The reason why the setting can't be read.
    fn verification(&self) -> Result<Verification, String>;

    /// Returns the device's memory of the seals that its synced folders have seen in a team's space, or in the
    /// account's own; `None` where none has.
    fn seen_seals(&self, _team: Option<SpaceId>) -> Option<Arc<dyn SeenSeals>> {
        None
    }
}
