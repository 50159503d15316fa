//! The caller's account: `/api/v1/useraccount/composite`, quota, API keys, devices.

use crate::Timestamp;
use cairn_model::{AccountId, DeviceId, SpaceId};
use serde::{Deserialize, Serialize};

/// Answer of `GET /useraccount/composite`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountInfo {
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
    pub id: AccountId,
    pub email: String,
    pub display_name: String,
    /// The personal space.
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
    pub space_id: SpaceId,
    pub created_at: Timestamp,
    pub usage: Quota,
    /// The server's clock, for diagnosis of a wrong one here.
    pub server_time: Timestamp,
    /// The change feed's epoch.
    pub epoch: String,
}

/// Answer of `GET /userusage/quota-limit`; bytes, or counts.
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

/// Answer of `POST /apikeys`: the only time that the whole key is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatedApiKey {
    pub key: String,
    #[serde(flatten)]
    pub info: ApiKey,
}

/// `PUT /devices/{id}` and an element of `GET /devices`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Device {
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
    pub id: DeviceId,
    /// 1 to 100 characters.
    pub name: String,
}
