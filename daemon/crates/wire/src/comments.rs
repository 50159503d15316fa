//! Comments on files and folders: `/api/v1/nodes/{id}/comments`.

use crate::{Page, Timestamp};
use cairn_model::{AccountId, NodeId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The author of a comment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Author {
    pub id: AccountId,
    pub display_name: String,
    pub email: String,
}

/// `POST /nodes/{id}/comments` and `POST /nodes/{id}/comments/{parent}/replies`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct WriteComment {
    /// 1 to 5,000 characters.
    pub text: String,
}

/// One comment with the replies to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Comment {
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
    pub id: Uuid,
    pub file_id: NodeId,
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<crate::schema::Id>))]
    pub parent_id: Option<Uuid>,
    /// Empty once it is deleted; it stays as long as there are replies to it.
    pub body: String,
    pub deleted: bool,
    pub author: Author,
    pub created_at: Timestamp,
    /// In the order of their times.
    #[cfg_attr(feature = "utoipa", schema(no_recursion))]
    pub replies: Vec<Comment>,
}

/// Response of `GET /nodes/{id}/comments`: a page of threads, in the order of their times.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Comments {
    /// Counts comments that reply to none; each comes with all replies to it.
    #[serde(flatten)]
    pub page: Page<Comment>,
    /// All comments of the node, replies included, deleted ones not.
    pub total: u64,
}
