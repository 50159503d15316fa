//! The setting for changes from the service without a valid seal of the account's devices (unverified changes):
//! they are accepted or blocked. It can change at any time.

use cairn_model::Verification;
use parking_lot::Mutex;

/// The present setting.
pub(crate) struct VerificationSetting(Mutex<Verification>);

impl VerificationSetting {
    pub(crate) fn new(mode: Verification) -> Self {
        Self(Mutex::new(mode))
    }

    pub(crate) fn set(&self, mode: Verification) {
        *self.0.lock() = mode;
    }

    pub(crate) fn get(&self) -> Verification {
        *self.0.lock()
    }
}
