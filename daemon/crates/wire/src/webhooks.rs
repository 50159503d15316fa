//! Webhooks: `/api/v1/webhooks`, their deliveries, and what a delivery carries.

use crate::Timestamp;
pub use cairn_model::WebhookStatus;
use cairn_model::{DeliveryState, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `POST /webhooks`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "utoipa", schema(example = json!({"url": "https://hooks.example.com/cairn", "events": ["file.uploaded", "file.deleted"]})))]
#[serde(deny_unknown_fields)]
pub struct CreateWebhook {
    /// An `https` address on the public internet, at most 2,048 bytes.
    #[cfg_attr(feature = "utoipa", schema(format = "uri", max_length = 2048))]
    pub url: String,
    /// At least one.
    #[cfg_attr(feature = "utoipa", schema(min_items = 1))]
    pub events: Vec<EventKind>,
}

/// `PUT /webhooks/{id}`: what is absent stays as it is; one of both is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "utoipa", schema(example = json!({"events": ["file.uploaded"]}), min_properties = 1))]
#[serde(deny_unknown_fields)]
pub struct UpdateWebhook {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(format = "uri", max_length = 2048, nullable = false)
    )]
    pub url: Option<String>,
    /// Replaces the subscribed event types; at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(min_items = 1, nullable = false))]
    pub events: Option<Vec<EventKind>>,
}

/// The webhooks to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WebhookFilter {
    #[default]
    Active,
    Disabled,
    All,
}

/// The query of `GET /webhooks`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct ListWebhooks {
    /// Active ones by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(inline))]
    pub status: Option<WebhookFilter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}

/// A webhook: an element of `GET /webhooks`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Webhook {
    #[cfg_attr(feature = "utoipa", schema(format = Uuid))]
    pub id: String,
    pub url: String,
    pub events: Vec<EventKind>,
    pub status: WebhookStatus,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Until when deliveries are signed with the secret before the last rotation, too.
    pub previous_secret_until: Option<Timestamp>,
}

/// Response of `POST /webhooks` and `POST /webhooks/{id}/rotate`: the only times that the secret is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct WebhookWithSecret {
    /// The key of the signature: the text as it stands here.
    pub secret: String,
    #[serde(flatten)]
    pub webhook: Webhook,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DeliveryAttempt {
    pub at: Timestamp,
    /// The response's HTTP status, if one came.
    pub status: Option<u16>,
    pub latency_ms: u64,
    /// The reason why no response came.
    pub error: Option<String>,
    /// The first KiB of the response.
    pub response: Option<String>,
}

/// A delivery with its attempts: an element of `GET /webhooks/{id}/deliveries`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Delivery {
    /// The same in every attempt; `delivery_id` of the payload.
    #[cfg_attr(feature = "utoipa", schema(format = Uuid))]
    pub id: String,
    #[cfg_attr(feature = "utoipa", schema(format = Uuid))]
    pub webhook_id: String,
    pub event: EventKind,
    pub state: DeliveryState,
    pub created_at: Timestamp,
    /// The time of the next attempt, if one is due.
    pub next_attempt_at: Option<Timestamp>,
    /// Oldest first.
    pub attempts: Vec<DeliveryAttempt>,
}

/// The body of a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct WebhookPayload {
    pub event: EventKind,
    pub timestamp: Timestamp,
    /// Details; the fields depend on the event.
    #[cfg_attr(feature = "utoipa", schema(value_type = Object))]
    pub data: Value,
    #[cfg_attr(feature = "utoipa", schema(format = Uuid))]
    pub webhook_id: String,
    #[cfg_attr(feature = "utoipa", schema(format = Uuid))]
    pub delivery_id: String,
}

/// The query of `GET /webhooks/{id}/deliveries`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct ListDeliveries {
    /// Only those in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<DeliveryState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}
