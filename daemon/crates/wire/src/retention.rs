//! Retention rules: `/api/v1/retention-rules`.

use crate::Timestamp;
use cairn_model::NodeId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// `POST /retention-rules`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateRetentionRule {
    pub folder_id: NodeId,
    /// At least 1.
    pub delete_after_days: u32,
    /// 1 to 255 characters.
    pub name: String,
}

/// Files in the folder and below it go into the trash so many days after their last upload.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RetentionRule {
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
    pub id: Uuid,
    pub folder_id: NodeId,
    pub delete_after_days: u32,
    pub name: String,
    /// Files that it has put into the trash so far.
    pub deleted_files: u64,
    pub created_at: Timestamp,
}
