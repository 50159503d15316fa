//! The second factor of the caller's account: `/useraccount/second-factor`.
//!
//! Making and removing it need the password, so that a stolen token can't keep the owner out.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// Response of `GET /useraccount/second-factor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SecondFactorStatus {
    /// Logins ask for a code after the password.
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<Timestamp>,
    pub recovery_codes_left: u64,
}

/// `POST /useraccount/second-factor`: begins to set one up.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BeginSecondFactor {
    /// The account's password, not the passphrase of its files.
    pub password: String,
}

/// Response of `POST /useraccount/second-factor`: the only time that the secret is shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BegunSecondFactor {
    /// The secret to type into an authenticator app: base 32.
    pub secret: String,
    /// The same for the app to read, from a QR code or a link.
    pub otpauth_uri: String,
}

/// `POST /useraccount/second-factor/confirm`: shows that the app has the secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ConfirmSecondFactor {
    /// Six digits, as the app shows them now.
    pub code: String,
}

/// Response of `POST /useraccount/second-factor/confirm`: the only time that the recovery codes are shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RecoveryCodes {
    /// Each stands in for a code of the app, once.
    pub recovery_codes: Vec<String>,
}

/// `POST /useraccount/second-factor/remove`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RemoveSecondFactor {
    /// The account's password, not the passphrase of its files.
    pub password: String,
    /// Six digits, as the app shows them now, or a recovery code.
    pub code: String,
}
