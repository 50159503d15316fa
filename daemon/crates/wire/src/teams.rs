//! Teams: `/api/v1/teams` (also `/api/v1/team`), their members, invitations, figures and keys.

use crate::{Page, Sealed, Timestamp};
use cairn_model::{AccountId, SpaceId, TeamId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The role of a member in a team.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum TeamRole {
    Owner,
    Admin,
    Member,
}

/// A team as one of its members sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Team {
    pub id: TeamId,
    pub name: String,
    /// The caller's role.
    pub role: TeamRole,
    pub owner_id: AccountId,
    pub owner_name: String,
    pub member_count: u64,
    /// The space that holds the team's files; goes into `X-Space-Id`.
    pub space_id: SpaceId,
    /// Grows when a member goes: new content is sealed under the new key.
    pub key_epoch: u32,
    pub created_at: Timestamp,
}

/// Response of `GET /teams/{id}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TeamDetails {
    #[serde(flatten)]
    pub team: Team,
    /// The first hundred; `GET /teams/{id}/members` has them all.
    pub members: Vec<TeamMember>,
}

/// One member of a team.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TeamMember {
    pub user_id: AccountId,
    pub email: String,
    pub display_name: String,
    pub role: TeamRole,
    pub joined_at: Timestamp,
}

/// `POST /teams`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateTeam {
    /// 1 to 255 characters.
    pub name: String,
    /// Makes its space a private one: the server has sealed names of files and folders only, for ever. The id of such
    /// a space is a UUID v8.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

/// `PUT /teams/{id}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct NameTeam {
    /// 1 to 255 characters.
    pub name: String,
}

/// `POST /teams/{id}/invite`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct InviteMember {
    pub email: String,
    /// `member` if absent; never `owner`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<String>))]
    pub role: Option<TeamRole>,
}

/// State of an invitation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum InvitationState {
    Pending,
    Accepted,
    Declined,
    Withdrawn,
    Expired,
}

/// An invitation into a team.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Invitation {
    pub id: Uuid,
    pub team_id: TeamId,
    pub team_name: String,
    pub email: String,
    pub role: TeamRole,
    pub invited_by: AccountId,
    pub status: InvitationState,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// `PUT /teams/{id}/members/{user_id}`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ChangeRole {
    /// `admin` or `member`.
    #[cfg_attr(feature = "utoipa", schema(value_type = String))]
    pub role: TeamRole,
}

/// Response of `POST /teams/{id}/members/{user_id}/offboard`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Offboarded {
    pub user_id: AccountId,
    /// Share links on the team's files that the member had made; they no longer work.
    pub revoked_share_links: u64,
    /// Grants of the team's space key that were deleted.
    pub revoked_grants: u64,
    /// Invitations of the member that nobody had answered yet.
    pub withdrawn_invitations: u64,
}

/// Response of `GET /teams/{id}/quota`; bytes, or counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TeamQuota {
    pub storage_used: u64,
    pub storage_limit: u64,
    /// Bytes of this calendar month.
    pub bandwidth_used: u64,
    pub bandwidth_limit: u64,
    pub file_count: u64,
    pub file_count_limit: u64,
    pub member_count: u64,
    pub member_limit: u64,
}

/// Response of `GET /teams/{id}/permissions`: what the caller may do there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TeamPermissions {
    pub team_id: TeamId,
    pub role: TeamRole,
    pub permissions: BTreeMap<String, bool>,
}

/// The storage that one person's revisions take in a team's space.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct MemberStorage {
    pub user_id: AccountId,
    /// Null for somebody whose account is gone.
    pub email: Option<String>,
    pub display_name: Option<String>,
    /// The person still belongs to the team.
    pub is_member: bool,
    /// Stored bytes that the person uploaded or set aside for an upload; those of all add up to the
    /// team's.
    pub storage_used: u64,
    pub file_count: u64,
}

/// Response of `GET /teams/{id}/storage`, most bytes first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TeamStorage {
    #[serde(flatten)]
    pub page: Page<MemberStorage>,
    /// The bytes that all members store, those of other pages included.
    pub storage_used: u64,
    pub storage_limit: u64,
}

/// The space key for one member, sealed to the member's public key and signed by who granted it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Grant {
    pub epoch: u32,
    pub user_id: AccountId,
    pub grant: Sealed,
    pub granted_by: AccountId,
    pub created_at: Timestamp,
}

/// A member's public keys, and whether the key in force was granted to them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct MemberKeys {
    pub user_id: AccountId,
    /// Null before the member made keys.
    pub rsa_public: Option<Sealed>,
    pub signing_public: Option<Sealed>,
    pub has_grant: bool,
}

/// Response of `GET /teams/{id}/keys`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TeamKeys {
    pub space_id: SpaceId,
    /// The epoch in force.
    pub epoch: u32,
    /// The caller's own grants, oldest epoch first.
    pub grants: Vec<Grant>,
    pub members: Vec<MemberKeys>,
}

/// One grant of `PUT /teams/{id}/keys`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct NewGrant {
    pub user_id: AccountId,
    pub grant: Sealed,
}

/// `PUT /teams/{id}/keys`: hands the space key of an epoch to members.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PutGrants {
    pub epoch: u32,
    pub grants: Vec<NewGrant>,
    /// Puts the epoch in force, which has to be the next one; the caller's own grant has to be among these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raise: bool,
}
