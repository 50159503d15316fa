//! A link as strangers see it, under `/api/v1/public/shares`.

use super::{AccessMode, PasswordKdf, ShareTheme, SharedFile, StorageType};
use crate::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The public part of a link, shown before its password is checked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PublicShare {
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
    pub id: Uuid,
    pub storage_type: StorageType,
    pub access_mode: AccessMode,
    pub has_password: bool,
    pub kdf: Option<PasswordKdf>,
    /// An e-mail address out of the owner's list is asked for.
    pub asks_email: bool,
    /// A code is sent to that address, and asked for.
    #[serde(default)]
    pub verifies_email: bool,
    pub expires_at: Option<Timestamp>,
    pub theme: ShareTheme,
}

/// `POST /public/shares/{code}/open`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct OpenShare {
    /// The password, or what `kdf` makes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The code that was sent to `email`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_code: Option<String>,
}

/// Response of the same, 202: the request has to be made again with the code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ShareCodeSent {
    /// The address of the visitor, to which a code was sent if the link is for it.
    pub code_sent_to: String,
}

/// The content of a link, for a visitor who has passed the password check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct OpenedShare {
    /// Belongs into `X-Share-Access` of the requests that follow.
    pub access: String,
    /// `access` is enough to fetch chunks; otherwise a download has to be begun first.
    pub may_view: bool,
    pub name: String,
    pub files: Vec<SharedFile>,
}

/// Response of `POST /public/shares/{code}/downloads`: one download, which counts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BegunDownload {
    /// Belongs into `X-Share-Access` while its chunks are fetched.
    pub access: String,
}
