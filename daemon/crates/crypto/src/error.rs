//! The errors of this crate: one opaque error for every authenticity failure, and a machine-readable class for the
//! user's reports. No error ever contains a secret.

use crate::{MAX_ITERATIONS, MIN_ITERATIONS};
use cairn_log::LogError;
use cairn_model::SpaceId;

/// The reason why a key, a seal or a parameter was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CryptoError {
    /// Any authenticity failure. The failed check is not named on purpose: that could help somebody who
    /// probes with altered data.
    #[error(
        "the data can't be opened: it was altered, belongs elsewhere, or was sealed with another key"
    )]
    NotAuthentic,
    #[error("the key derivation has {0} iterations; fewer than {MIN_ITERATIONS} are unsafe")]
    WeakKdf(u32),
    #[error("the key derivation has {0} iterations; more than {MAX_ITERATIONS} are not accepted")]
    CostlyKdf(u32),
    #[error("the parameters of the key derivation can't be used: {0}")]
    BadKdf(&'static str),
    #[error(
        "there is no key for space {space} with epoch {epoch}; log in again or request access from its owner"
    )]
    KeyMissing { space: SpaceId, epoch: u32 },
    #[error(
        "a public key of this account was replaced; compare its fingerprint before you continue"
    )]
    KeyChanged,
    #[error(
        "version {served} was served, but version {seen} was seen before: the server was restored from a backup, or withholds changes; ask its operator"
    )]
    Rollback { seen: u64, served: u64 },
    #[error("this program can't read format {0}; update it")]
    UnsupportedFormat(u32),
    #[error("{0}")]
    InvalidInput(&'static str),
}

/// The machine-readable class of a [`CryptoError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    AuthFailed,
    /// Parameters of the key derivation that are refused: too few or too many iterations, or another algorithm.
    WeakKdf,
    KeyMissing,
    KeyChanged,
    Rollback,
    UnsupportedFormat,
    InvalidInput,
}

impl CryptoError {
    /// Returns the class under which the error is reported.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::NotAuthentic => Class::AuthFailed,
            Self::WeakKdf(_) | Self::CostlyKdf(_) | Self::BadKdf(_) => Class::WeakKdf,
            Self::KeyMissing { .. } => Class::KeyMissing,
            Self::KeyChanged => Class::KeyChanged,
            Self::Rollback { .. } => Class::Rollback,
            Self::UnsupportedFormat(_) => Class::UnsupportedFormat,
            Self::InvalidInput(_) => Class::InvalidInput,
        }
    }
}

impl Class {
    /// Returns the name of the class in reports: `auth_failed`, `weak_kdf`, ….
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AuthFailed => "auth_failed",
            Self::WeakKdf => "weak_kdf",
            Self::KeyMissing => "key_missing",
            Self::KeyChanged => "key_changed",
            Self::Rollback => "rollback",
            Self::UnsupportedFormat => "unsupported_format",
            Self::InvalidInput => "invalid_input",
        }
    }
}

impl From<LogError> for CryptoError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::NotGenuine => Self::NotAuthentic,
            LogError::UnsupportedFormat(format) => Self::UnsupportedFormat(format),
            LogError::InvalidInput(reason) => Self::InvalidInput(reason),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, CryptoError>;

/// Returns [`CryptoError::NotAuthentic`] if a check failed; the error doesn't say which.
pub(crate) fn require(is_authentic: bool) -> Result<()> {
    if is_authentic {
        Ok(())
    } else {
        Err(CryptoError::NotAuthentic)
    }
}
