//! The account's key bundle: `GET /keys`, `PUT /keys`. The server stores it and can't open it.

use crate::Sealed;
use cairn_model::SpaceId;
use serde::{Deserialize, Serialize};

/// How the root key is derived from the passphrase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct KdfParams {
    /// `pbkdf2-hmac-sha256`.
    pub algorithm: String,
    pub iterations: u32,
    /// 32 bytes.
    pub salt: Sealed,
}

/// A space key, wrapped under the account key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct WrappedSpaceKey {
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
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
