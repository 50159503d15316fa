//! Share links: `/api/v1/shares` (also `/webshare/url`), and what strangers see of them under
//! `/api/v1/public/shares`.
//!
//! The secret of a link stands after `#` in its address and is in none of these: what a link gives
//! access to travels sealed under it.

mod public;
mod theme;
mod visits;

pub use public::{BegunDownload, OpenShare, OpenedShare, PublicShare, ShareCodeSent};
pub use theme::{ShareDefaults, ShareTheme, UpdateShareDefaults, UpdateShareTheme};
pub use visits::{AccessEntry, Audit, AuditEntry, AuditQuery, AuditSummary, VisitAction};

use crate::{ErrorBody, Sealed, Timestamp};
pub use cairn_model::ShareStatus;
use cairn_model::{NodeId, RevisionId};
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

/// The kind of object behind a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub enum StorageType {
    #[default]
    #[serde(rename = "VR_FILE")]
    File,
    #[serde(rename = "VR_FOLDER")]
    Folder,
}

/// The access of those who have the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessMode {
    #[default]
    Download,
    ViewOnly,
}

/// The reason why a link does not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShareIssue {
    /// The shared file is in the trash or deleted: the link answers as if it did not exist.
    FileGone,
    /// Made by somebody who has left the team whose files it shares.
    MakerLeft,
    Deactivated,
    Expired,
    AtDownloadLimit,
    NotYetActive,
    ActiveWindowEnded,
    /// Opens and shows nothing: no client has added the keys of the files to it.
    NoFiles,
}

/// Derivation of the value for the password check from the password: PBKDF2-HMAC-SHA256.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PasswordKdf {
    pub iterations: u32,
    pub salt: Sealed,
}

/// A share link, as its owner sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Share {
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
    pub id: Uuid,
    pub short_code: String,
    /// The address without its secret: only a client with the keys can complete it.
    pub url: String,
    pub file_id: NodeId,
    pub file_name: String,
    pub storage_type: StorageType,
    pub is_active: bool,
    pub status: ShareStatus,
    pub access_mode: AccessMode,
    pub has_password: bool,
    pub expires_at: Option<Timestamp>,
    pub download_limit: Option<u64>,
    /// The number of downloads that were begun.
    pub download_count: u64,
    /// The number of times that the link was opened; downloads and refused attempts are counted on their own.
    pub access_count: u64,
    /// Empty: whoever has the link.
    pub allowed_emails: Vec<String>,
    pub active_from: Option<Timestamp>,
    pub active_until: Option<Timestamp>,
    pub notify_on_download: bool,
    /// Files whose keys the link carries; 0 until a client with the keys has added them.
    pub files: u64,
    /// The link's secret, wrapped for the owner's own devices.
    pub key_blob: Option<Sealed>,
    pub kdf: Option<PasswordKdf>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// `POST /shares`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateShare {
    /// Chosen by the client: what it seals is bound to it. Sent again, it finds the same link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<crate::schema::Id>))]
    pub id: Option<Uuid>,
    pub file_id: Option<NodeId>,
    /// Default: what the node is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_type: Option<StorageType>,
    /// Days from now, more than 0; the account's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_days: Option<f64>,
    /// The value for the password check, at most 72 bytes; kept as bcrypt. With `kdf` it is what a client
    /// derived from the password, so that the password itself never travels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kdf: Option<PasswordKdf>,
    /// At least 1; then the link answers 410.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download_limit: Option<u64>,
    /// At most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_emails: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_mode: Option<AccessMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify_on_download: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_blob: Option<Sealed>,
}

/// `PUT /shares/{id}`: only the given fields change.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UpdateShare {
    /// Days from now; null takes the expiry away.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub expiry_days: Option<Option<f64>>,
    /// The new value for the password check; null or empty takes the check away.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub password: Option<Option<String>>,
    /// Belongs to `password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kdf: Option<PasswordKdf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_mode: Option<AccessMode>,
    /// Replaces the list; empty opens the link to everyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_emails: Option<Vec<String>>,
    /// Null takes the limit away.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub download_limit: Option<Option<u64>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub active_from: Option<Option<Timestamp>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub active_until: Option<Option<Timestamp>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify_on_download: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_blob: Option<Sealed>,
}

fn deserialize_present<'de, D, T>(d: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(d).map(Some)
}

/// `GET /shares`; pages count from 0 here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct ListShares {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
    /// Another name of `page_size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Only links of this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>, format = Uuid))]
    pub file_id: Option<NodeId>,
}

/// Bytes of [`SharedFile::sealed`] at most: in base64, less than the 16 MiB of a request. A listing of chunks has enough
/// for a file of some 90 GB.
pub const MAX_LISTING: usize = 11 * 1024 * 1024;

/// One file that a link carries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SharedFile {
    pub node_id: NodeId,
    /// The revision that is shared: later ones are not, until a client puts them here.
    pub revision_id: RevisionId,
    /// Key, name, path, size and chunks of the file, sealed under the link's key. Up to 11 MiB, which count for the
    /// storage of the space as long as the link carries them.
    pub sealed: Sealed,
}

/// `PUT /shares/{id}/files`: adds files to a link, or replaces them; at most 500 at a time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PutSharedFiles {
    pub files: Vec<SharedFile>,
    /// Takes away all files that the link carried before.
    #[serde(default)]
    pub replace: bool,
}

/// `POST /shares/email`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ShareByEmail {
    pub file_id: NodeId,
    pub email: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_days: Option<f64>,
    /// The owner's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view_only: Option<bool>,
    /// The same as in `POST /shares`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<crate::schema::Id>))]
    pub id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_blob: Option<Sealed>,
}

/// Response of `POST /shares/email`: the link is there, also when no mail could be sent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SharedByEmail {
    pub share: Share,
    /// The mail has left the server. Without a mail server it stays in the outbox, and the owner hands
    /// over the address; its secret the owner hands over in any case.
    pub email_sent: bool,
}

/// `POST /shares/bulk`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateShares {
    /// 1 to 20.
    pub file_ids: Vec<NodeId>,
}

/// The result for one file of `POST /shares/bulk`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BulkShare {
    pub file_id: NodeId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// Response of `POST /shares/bulk`, in the order of the request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BulkShares {
    pub results: Vec<BulkShare>,
    pub total: u64,
    pub succeeded: u64,
    pub failed: u64,
}

/// Response of `POST /shares/{id}/toggle`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToggledShare {
    /// The link was active before.
    pub previous: bool,
    /// The link is active now.
    pub current: bool,
    pub share: Share,
}

/// The sum of a link's health.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShareCondition {
    Healthy,
    IssuesFound,
}

/// Response of `GET /shares/{id}/health`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ShareHealth {
    pub status: ShareCondition,
    pub issues: Vec<ShareIssue>,
    pub link: Share,
}
