//! What can go wrong, told in two ways: one opaque error for every authenticity failure, and a
//! machine-readable class that the user's reports carry. No error ever contains a secret.

use crate::{MAX_ITERATIONS, MIN_ITERATIONS};
use cairn_model::SpaceId;

/// Why a key, a seal or a parameter was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CryptoError {
    /// Every authenticity failure: which check failed is deliberately not told.
    #[error(
        "the data could not be opened: it was altered, belongs elsewhere, or the key is another one"
    )]
    Opaque,
    #[error(
        "the key derivation asks for {0} iterations; less than {MIN_ITERATIONS} is unsafe and refused"
    )]
    WeakKdf(u32),
    #[error("the key derivation asks for {0} iterations; more than {MAX_ITERATIONS} is refused")]
    CostlyKdf(u32),
    #[error("the key derivation parameters are not usable: {0}")]
    BadKdf(&'static str),
    #[error(
        "there is no key for space {space} with epoch {epoch}; sign in again or ask its owner for access"
    )]
    KeyMissing { space: SpaceId, epoch: u32 },
    #[error("a public key of this account was replaced; compare its fingerprint before going on")]
    KeyChanged,
    #[error(
        "version {served} was served, but version {seen} was seen before; the server may have been reset"
    )]
    Rollback { seen: u64, served: u64 },
    #[error("format {0} is not known to this version of the program; update it")]
    UnsupportedFormat(u32),
    #[error("{0}")]
    InvalidInput(&'static str),
}

/// The machine-readable class of a [`CryptoError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    AuthFailed,
    WeakKdf,
    KeyMissing,
    KeyChanged,
    Rollback,
    UnsupportedFormat,
    InvalidInput,
}

impl CryptoError {
    /// The class under which the error is reported.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Opaque => Class::AuthFailed,
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
    /// The class as it stands in reports: `auth_failed`, `weak_kdf`, ….
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

pub(crate) type Result<T> = std::result::Result<T, CryptoError>;
