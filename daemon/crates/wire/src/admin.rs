//! Accounts as an administrator sees and changes them: `/api/v1/admin`.

use crate::Timestamp;
use crate::social::{ReportReason, ReportState};
use cairn_model::AccountId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The state of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccountCondition {
    Active,
    Disabled,
    /// Deleted at the end of its 60 days.
    PendingDeletion,
}

/// An account, what it uses and what it may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountOverview {
    pub id: AccountId,
    pub email: String,
    pub state: AccountCondition,
    /// True if it administers other accounts.
    pub admin: bool,
    pub created_at: Timestamp,
    /// Present if it is to be deleted.
    pub purge_at: Option<Timestamp>,
    pub storage_used: u64,
    pub storage_limit: u64,
    pub bandwidth_limit: u64,
    pub file_count: u64,
    pub file_count_limit: u64,
    pub devices: u64,
    pub active_api_keys: u64,
    pub sessions: u64,
    pub teams: u64,
    /// Somebody has proved to read the mails of the address.
    pub email_verified: bool,
    /// Logins ask for a code after the password.
    pub second_factor: bool,
}

/// A login of an account that has not ended: an element of `GET /admin/accounts/{id}/sessions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Session {
    pub id: Uuid,
    pub client: String,
    pub scope: String,
    pub created_at: Timestamp,
    /// Absent for one that never renewed itself.
    pub last_used_at: Option<Timestamp>,
}

/// `PUT /admin/accounts/{id}/quota`; what is absent stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SetQuota {
    /// Bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_limit: Option<u64>,
    /// Bytes a month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_limit: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_count_limit: Option<u64>,
}

/// `PUT /admin/accounts/{id}/password`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SetPassword {
    /// At least 8 characters, at most 72 bytes.
    pub password: String,
}

/// `POST /admin/invitations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct InviteAccount {
    pub email: String,
}

/// Response of `POST /admin/invitations`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct InvitedAccount {
    pub email: String,
    /// The link is on its way by mail.
    pub mailed: bool,
    /// The link to hand over, where the server sends no mail; valid for three days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// A change that somebody made to an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AdminAction {
    Invited,
    AdminMade,
    AdminUnmade,
    Disabled,
    Enabled,
    QuotaChanged,
    PasswordReset,
    SecondFactorReset,
    SessionsEnded,
    DeletionRequested,
    Deleted,
    ReportAnswered,
}

/// An entry of `GET /admin/events`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AdminEvent {
    pub id: Uuid,
    pub action: AdminAction,
    /// The account that was changed; it may be gone. Absent for an invitation.
    pub account: Option<AccountId>,
    /// The address, while the account is there.
    pub email: Option<String>,
    /// The administrator's account; absent for the command line of the server.
    pub by: Option<AccountId>,
    pub by_email: Option<String>,
    /// Details; the fields vary by action.
    pub data: serde_json::Value,
    pub created_at: Timestamp,
}

/// `GET /admin/reports?open=…`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct ReportsQuery {
    /// Only those that nobody has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}

/// A report that somebody made about somebody else, as administrators see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ReportOverview {
    pub id: Uuid,
    /// The account that made it.
    pub reporter: AccountId,
    /// The address, while the account is there.
    pub reporter_email: Option<String>,
    /// The account that it is about.
    pub user_id: AccountId,
    pub email: String,
    pub reason: ReportReason,
    /// Empty if nothing was written.
    pub details: String,
    pub status: ReportState,
    pub created_at: Timestamp,
    /// The text to the one who made it; empty without an answer.
    pub answer: String,
    pub answered_at: Option<Timestamp>,
}

/// The decision about a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReportDecision {
    ActionTaken,
    Dismissed,
}

/// `PUT /admin/reports/{id}`: the one who made the report gets a notification with the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AnswerReport {
    pub status: ReportDecision,
    /// At most 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}
