//! Schemas of the vocabulary for OpenAPI documents, and what others need to make such schemas.

use crate::{
    AccountId, ChunkId, Cursor, DeliveryState, DeviceId, EventKind, Kind, NodeId, RevisionId,
    ShareStatus, SpaceId, TeamId, UploadId, WebhookStatus,
};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

/// Returns the schema of a text.
#[must_use]
pub fn text(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
}

/// Gives types a name and a schema in OpenAPI documents.
#[macro_export]
macro_rules! text_schema {
    ($name:literal, $schema:expr, $($type:ty),+ $(,)?) => {
        $(
            impl ::utoipa::PartialSchema for $type {
                fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::schema::Schema> {
                    $schema.build().into()
                }
            }

            impl ::utoipa::ToSchema for $type {
                fn name() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed($name)
                }
            }
        )+
    };
}

text_schema!(
    "Id",
    text("A UUID.").format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid))),
    AccountId,
    DeviceId,
    NodeId,
    RevisionId,
    SpaceId,
    TeamId,
    UploadId
);
text_schema!(
    "ChunkId",
    text("Names a chunk: 64 lower-case hexadecimal digits.").pattern(Some("^[0-9a-f]{64}$")),
    ChunkId
);
text_schema!(
    "Cursor",
    text("A position in the change feed; opaque."),
    Cursor
);
text_schema!(
    "Kind",
    text("What a node is.").enum_values(Some(["file", "folder"])),
    Kind
);
text_schema!(
    "WebhookEvent",
    text("The event types that a webhook can subscribe to.")
        .enum_values(Some(EventKind::TEXTS.iter().copied())),
    EventKind
);
text_schema!(
    "ShareStatus",
    text("State of a link.").enum_values(Some(ShareStatus::TEXTS.iter().copied())),
    ShareStatus
);
text_schema!(
    "WebhookStatus",
    text("State of a webhook: its deliveries are attempted or not.")
        .enum_values(Some(WebhookStatus::TEXTS.iter().copied())),
    WebhookStatus
);
text_schema!(
    "DeliveryState",
    text("State of a delivery.").enum_values(Some(DeliveryState::TEXTS.iter().copied())),
    DeliveryState
);
