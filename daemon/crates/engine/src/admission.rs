//! The policy for changes that no device of the account vouches for.

use cairn_model::Verification;
use std::sync::atomic::{AtomicBool, Ordering};

/// The changes that are accepted without asking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    All,
    /// Those that a device of the account vouches for; others wait for a person.
    Verified,
}

/// The present policy, which a setting can change at any time.
pub(crate) struct AdmissionSetting(AtomicBool);

impl AdmissionSetting {
    pub(crate) fn new(mode: Verification) -> Self {
        Self(AtomicBool::new(mode == Verification::Strict))
    }

    pub(crate) fn set(&self, mode: Verification) {
        self.0
            .store(mode == Verification::Strict, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Admission {
        if self.0.load(Ordering::Relaxed) {
            Admission::Verified
        } else {
            Admission::All
        }
    }
}
