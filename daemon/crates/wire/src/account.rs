//! The caller's account: `/api/v1/useraccount/composite`, quota, API keys, devices.

use crate::Timestamp;
use crate::payments::Subscription;
use crate::social::Profile;
use cairn_model::{AccountId, DeviceId, KeyEvent, SpaceId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Response of `GET /useraccount/composite`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountInfo {
    pub id: AccountId,
    pub email: String,
    pub display_name: String,
    /// The personal space.
    pub space_id: SpaceId,
    pub created_at: Timestamp,
    pub usage: Quota,
    /// The server's clock, for diagnosis of a wrong one here.
    pub server_time: Timestamp,
    /// Id of the change feed's history; another one after a backup was restored.
    #[serde(rename = "epoch")]
    pub history_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription: Option<Subscription>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<AccountSettings>,
    /// Present once the account's deletion was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<PendingDeletion>,
}

/// The settings of the account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountSettings {
    pub email_preferences: EmailPreferences,
    pub recovery_key_configured: bool,
}

/// An account on its way out. It can sign in, read, download and be restored until `purge_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PendingDeletion {
    pub requested_at: Timestamp,
    /// 60 days later: the account and all of its data go.
    pub purge_at: Timestamp,
}

/// State of an account: response of `DELETE /useraccount` and `POST /useraccount/restore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountStatus {
    pub status: AccountState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<PendingDeletion>,
}

/// The states of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    Active,
    PendingDeletion,
}

/// `GET /useraccount/email-preferences`: what the account wants by mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct EmailPreferences {
    pub share_notifications: bool,
    pub follow_notifications: bool,
    pub system_announcements: bool,
    pub marketing_emails: bool,
}

impl Default for EmailPreferences {
    fn default() -> Self {
        Self {
            share_notifications: true,
            follow_notifications: true,
            system_announcements: true,
            marketing_emails: false,
        }
    }
}

/// `PUT /useraccount/email-preferences`; what is absent stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UpdateEmailPreferences {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_notifications: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_notifications: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_announcements: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marketing_emails: Option<bool>,
    /// True turns all of them off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsubscribe_all: Option<bool>,
}

/// Something that happened to the account's keys: an element of `GET /useraccount/encryption-audit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditEvent {
    pub id: Uuid,
    /// `keys_created`, `key_rotated`, `passphrase_changed`, `recovery_key_set_up`,
    /// `recovery_key_used` or `recovery_key_removed`.
    #[cfg_attr(feature = "utoipa", schema(value_type = String))]
    pub event: KeyEvent,
    /// The version of the key bundle from then on.
    pub key_version: u64,
    pub created_at: Timestamp,
}

/// Response of `GET /userusage/quota-limit`; bytes, or counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Quota {
    pub storage_used: u64,
    pub storage_limit: u64,
    pub bandwidth_used: u64,
    pub bandwidth_limit: u64,
    pub file_count: u64,
    pub file_count_limit: u64,
}

/// `POST /apikeys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateApiKey {
    /// 1 to 100 characters.
    pub name: String,
    /// Such as `30d`, `12h`; never if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<String>,
}

/// An API key's metadata: an element of `GET /apikeys`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ApiKey {
    pub id: String,
    pub name: String,
    /// The first characters, enough to recognise it.
    pub prefix: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub active: bool,
}

/// Response of `POST /apikeys`: the only time that the whole key is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatedApiKey {
    pub key: String,
    #[serde(flatten)]
    pub info: ApiKey,
}

/// An element of `GET /devices`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct KnownDevice {
    pub id: DeviceId,
    pub name: String,
    /// The time of its last request that named it, to within a few minutes; `None` before its first.
    #[serde(default)]
    pub last_seen_at: Option<Timestamp>,
}

/// Response of `DELETE /devices/{id}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RemovedDevice {
    /// Logins of the device that ended. An API key that it uses stays valid.
    pub logins_ended: u64,
}

/// `PUT /devices/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Device {
    pub id: DeviceId,
    /// 1 to 100 characters.
    pub name: String,
}
