//! The device's memory of other people's keys between sessions, and how strict it is.

use cairn_crypto::AccountKeys;
use cairn_model::Verification;
use cairn_space::{SeenSeals, Trust};
use std::sync::Arc;

/// The device's memory of other people's keys, and its settings of trust.
pub trait DeviceTrust: Send + Sync {
    /// Lets `change` look at what is pinned and noted, and keeps what it changed.
    ///
    /// # Errors
    /// The reason why it can't be read or kept; nothing may be opened then.
    fn update(&self, keys: &AccountKeys, change: &mut dyn FnMut(&mut Trust)) -> Result<(), String>;

    /// Returns the treatment of content that no device with the keys vouches for.
    ///
    /// # Errors
    /// The reason why the setting can't be read.
    fn verification(&self) -> Result<Verification, String>;

    /// Returns the device's memory of the seals that its synced folders have seen; `None` where none has.
    fn seen_seals(&self) -> Option<Arc<dyn SeenSeals>> {
        None
    }
}
