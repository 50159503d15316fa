//! The assistant: `/api/v1/ai`.

use crate::payments::Plan;
use cairn_model::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// `POST /ai/chat`; the response is a stream of server-sent events: `delta`, `usage`, `done`, `error`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ChatMessage {
    /// 1 to 4,000 characters.
    pub message: String,
    /// Goes on with an earlier conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<crate::schema::Id>))]
    pub conversation_id: Option<Uuid>,
}

/// `event: delta`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ChatDelta {
    pub text: String,
}

/// `event: usage`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ChatUsage {
    pub tokens: u64,
}

/// `event: done`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ChatDone {
    #[cfg_attr(feature = "utoipa", schema(value_type = crate::schema::Id))]
    pub conversation_id: Uuid,
}

/// The amount that one kind of use has taken this month.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AiUse {
    pub requests: u64,
    /// Files, for classification.
    pub files: u64,
    pub tokens: u64,
}

/// Response of `GET /ai/usage`: the current billing period, a calendar month.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AiUsage {
    /// `2026-01`
    pub period: String,
    pub plan: Plan,
    pub tokens_used: u64,
    /// Tokens of the month that the plan includes.
    pub included_tokens: u64,
    /// Tokens among `tokens_used` that were taken from bought packs.
    pub purchased_tokens_used: u64,
    pub classified_files: u64,
    /// Null: unlimited.
    pub classified_files_limit: Option<u64>,
    /// The use of each kind: `chat`, `classify`.
    pub breakdown: BTreeMap<String, AiUse>,
    /// US dollars for the bought tokens, as the smallest pack is priced.
    pub cost: String,
    pub currency: String,
}

/// `POST /ai/classify`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ClassifyFolder {
    pub folder_id: NodeId,
    /// Has to be true: tokens are used.
    #[serde(default)]
    pub confirm_token_use: bool,
}

/// The result of one file's classification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassificationState {
    Classified,
    Failed,
}

/// One classified file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ClassifiedFile {
    pub file_id: NodeId,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub status: ClassificationState,
}

/// Response of `POST /ai/classify`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ClassifiedFolder {
    pub results: Vec<ClassifiedFile>,
    pub classified: u64,
    pub failed: u64,
    pub tokens_used: u64,
    /// Files; null: unlimited.
    pub remaining_this_month: Option<u64>,
}
