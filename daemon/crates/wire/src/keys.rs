//! The account's key bundle (its private keys and space keys, encrypted on the client): `GET /keys`, `PUT /keys`. The
//! server stores it and can't open it.

use crate::{Sealed, Timestamp};
use cairn_model::SpaceId;
use serde::{Deserialize, Serialize};

/// Parameters of the derivation of the root key from the passphrase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct KdfParams {
    /// `argon2id`, or `pbkdf2-hmac-sha256` of an account from before.
    pub algorithm: String,
    /// The rounds of PBKDF2, or the passes of Argon2id over its memory.
    pub iterations: u32,
    /// KiB; only of Argon2id, like `lanes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<u32>,
    /// 32 bytes.
    pub salt: Sealed,
}

/// A space key, wrapped under the account key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct WrappedSpaceKey {
    pub space_id: SpaceId,
    pub epoch: u32,
    pub key: Sealed,
}

/// All wrapped keys of one account. `version` grows with every change (`ETag`, `If-Match`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct KeyBundle {
    pub format: u32,
    pub version: u64,
    pub kdf: KdfParams,
    pub account_key: Sealed,
    pub rsa_public: Sealed,
    pub rsa_private: Sealed,
    pub signing_public: Sealed,
    pub signing_private: Sealed,
    pub spaces: Vec<WrappedSpaceKey>,
    /// The account key wrapped under the recovery key, if one was set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Sealed>,
    /// The replacement of all keys that made this bundle, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<KeyReplacement>,
}

/// The time and device of a replacement of all keys of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct KeyReplacement {
    pub at: Timestamp,
    /// The name of the device at that time.
    pub device: String,
}

/// `PUT /keys`. Making the first bundle needs no `current_auth`; a later one needs the AUTH value of
/// the passphrase in force (403 otherwise), so that a stolen token can't replace the keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PutKeys {
    pub bundle: KeyBundle,
    /// AUTH derived from the new passphrase, 64 hexadecimal digits; the server keeps a hash of it.
    pub auth: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_auth: Option<String>,
    /// A verifier of the recovery key, 64 hexadecimal digits; may stand for `current_auth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_auth: Option<String>,
}

/// The maker of the recovery key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RecoveryKeyOrigin {
    Client,
    Server,
}

/// Response of `GET /keys/recovery`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RecoveryStatus {
    pub configured: bool,
    pub made_by: Option<RecoveryKeyOrigin>,
    /// True for one that a client made: it opens the account key. One of the server's only proves
    /// whose account it is.
    pub opens_files: bool,
    /// The account has keys.
    pub has_keys: bool,
    pub set_up_at: Option<Timestamp>,
}

/// `POST /keys/recovery/setup`. With `recovery` and `recovery_auth` it stores what a client made;
/// without, the server makes a key that can open nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SetUpRecovery {
    /// AUTH of the passphrase in force, 64 hexadecimal digits.
    pub passphrase_hash: String,
    /// The account key, wrapped under the recovery key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Sealed>,
    /// The recovery key's verifier, 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_auth: Option<String>,
}

/// Response of `POST /keys/recovery/setup`: the only time that a key made here is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RecoverySetUp {
    /// Null for one that the client made.
    pub recovery_key: Option<String>,
    #[serde(flatten)]
    pub status: RecoveryStatus,
}
