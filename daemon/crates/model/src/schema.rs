//! Schemas of the vocabulary for OpenAPI documents.

use crate::{
    AccountId, ChunkId, Cursor, DeviceId, Kind, NodeId, RevisionId, SpaceId, TeamId, UploadId,
};
use std::borrow::Cow;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

fn text(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
}

macro_rules! text_schema {
    ($name:literal, $schema:expr, $($type:ty),+) => {
        $(
            impl PartialSchema for $type {
                fn schema() -> RefOr<Schema> {
                    $schema.build().into()
                }
            }

            impl ToSchema for $type {
                fn name() -> Cow<'static, str> {
                    Cow::Borrowed($name)
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
