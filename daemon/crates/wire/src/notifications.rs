//! Notifications: `/api/v1/social/notifications`.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The subject of a notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotificationKind {
    Share,
    ShareInvite,
    Comment,
    Follow,
    Tip,
    Team,
    Payment,
    Security,
    System,
}

/// Something that the account should hear of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Notification {
    pub id: Uuid,
    #[serde(rename = "type")]
    pub kind: NotificationKind,
    pub title: String,
    /// Details; the fields vary by type.
    pub data: serde_json::Value,
    pub read: bool,
    pub created_at: Timestamp,
    pub read_at: Option<Timestamp>,
}

/// `GET /social/notifications`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct ListNotifications {
    /// 1 to 100; 20 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_only: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Another name of `limit`, which every list has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}
