//! People to each other: profiles, following, blocking, the feed, tips and reports (`/api/v1/social`).

use crate::{Amount, Timestamp};
use cairn_model::AccountId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The audience of a profile and its activity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    Public,
    Private,
    FollowersOnly,
}

/// A social profile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Profile {
    pub user_id: AccountId,
    pub display_name: String,
    pub username: Option<String>,
    pub vanity_url: Option<String>,
    pub bio: String,
    pub avatar_url: Option<String>,
    pub visibility: Visibility,
    pub is_verified: bool,
    pub follower_count: u64,
    pub following_count: u64,
    /// The account that receives tips for this person.
    pub tip_jar_id: Uuid,
    pub created_at: Timestamp,
}

/// `PUT /social/profile`; what is absent stays.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UpdateProfile {
    /// 1 to 100 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// At most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bio: Option<String>,
    /// An https address; empty clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
}

/// `PUT /social/username`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SetUsername {
    /// 1 to 30 letters, digits, `-`, `_`.
    pub username: String,
}

/// `PUT /social/vanity-url`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SetVanityUrl {
    /// 3 to 30 letters, digits, `-`, `_`.
    pub vanity_url: String,
}

/// `PUT /social/visibility`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SetVisibility {
    pub visibility: Visibility,
}

/// The caller's relationship to somebody.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Relationship {
    None,
    Following,
    FollowsYou,
    /// Both follow each other.
    Friends,
}

/// An element of `GET /social/followers` and `GET /social/following`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Contact {
    pub user_id: AccountId,
    pub display_name: String,
    pub username: Option<String>,
    pub relationship: Relationship,
    pub since: Timestamp,
}

/// Response of `GET /social/connections/{user_id}`, and of following, blocking and muting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Connection {
    pub user_id: AccountId,
    pub relationship: Relationship,
    pub is_following: bool,
    pub is_followed_by: bool,
    pub is_blocked: bool,
    pub is_muted: bool,
}

/// `POST /social/follow/bulk`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FollowMany {
    /// 1 to 20.
    pub user_ids: Vec<AccountId>,
}

/// The result for one account of [`FollowMany`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Followed {
    pub user_id: AccountId,
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Connection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<crate::ErrorBody>,
}

/// Response of `POST /social/follow/bulk`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FollowedMany {
    pub results: Vec<Followed>,
    pub total: u64,
    pub succeeded: u64,
    pub failed: u64,
}

/// An element of `GET /social/suggestions`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Suggestion {
    pub user_id: AccountId,
    pub display_name: String,
    pub username: Option<String>,
    /// People that the caller follows and who follow this one.
    pub mutual_connections: u64,
    /// Teams that both belong to.
    pub shared_teams: u64,
    pub follower_count: u64,
}

/// The kind of something that an account did for its followers to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FeedEntryKind {
    Followed,
    ProfileUpdated,
    PlanCreated,
    Tipped,
}

/// An element of `GET /social/feed`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FeedEntry {
    pub id: Uuid,
    pub user_id: AccountId,
    pub display_name: String,
    pub username: Option<String>,
    #[serde(rename = "type")]
    pub kind: FeedEntryKind,
    pub data: serde_json::Value,
    pub created_at: Timestamp,
}

/// The currency of a tip.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum TipCurrency {
    #[default]
    Fiat,
    Tokens,
}

/// `POST /social/tips`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SendTip {
    pub tip_jar_id: Uuid,
    /// 0.01 to 10000.00 US dollars. With `tokens` it has to be there and moves nothing: `token_amount` is given.
    pub amount: Amount,
    #[serde(default)]
    pub currency_type: TipCurrency,
    /// Hundredths of a token; required with `tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_amount: Option<i64>,
    /// At most 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default)]
    pub is_anonymous: bool,
}

/// Response of `POST /social/tips`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TipReceipt {
    pub id: Uuid,
    pub tip_jar_id: Uuid,
    pub recipient_id: AccountId,
    pub recipient_name: String,
    pub currency_type: TipCurrency,
    /// The amount paid, in dollars or in tokens.
    pub amount: Amount,
    pub message: Option<String>,
    pub is_anonymous: bool,
    pub created_at: Timestamp,
}

/// `GET /social/tip-jars/{id}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TipJar {
    pub id: Uuid,
    /// The account that receives the tips.
    pub user_id: AccountId,
    pub display_name: String,
}

/// The reason of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReportReason {
    Spam,
    Harassment,
    Impersonation,
    InappropriateContent,
    Other,
}

/// `POST /social/reports`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ReportUser {
    pub user_id: AccountId,
    pub reason: ReportReason,
    /// At most 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

/// The state of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReportState {
    /// Moderation will look at it.
    Received,
    /// Somebody has looked at it, and done something about it.
    ActionTaken,
    /// Somebody has looked at it, and sees nothing to be done.
    Dismissed,
}

/// Response of `POST /social/reports`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Report {
    pub id: Uuid,
    pub user_id: AccountId,
    pub reason: ReportReason,
    pub status: ReportState,
    pub created_at: Timestamp,
}
