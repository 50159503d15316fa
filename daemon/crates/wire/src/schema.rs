//! Schemas of the vocabulary of `cairn-model` and of our own texts, for the OpenAPI document.
//!
//! The types here stand in for foreign ones in `value_type`; they hold nothing and are never made.

use crate::{Amount, Sealed, Timestamp};
use std::borrow::Cow;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// A UUID.
pub struct Id;
/// 64 lower-case hexadecimal digits.
pub struct ChunkId;
/// An opaque feed position.
pub struct Cursor;
/// `file` or `folder`.
pub struct Kind;

fn text(about: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(about))
}

fn known(format: KnownFormat) -> Option<SchemaFormat> {
    Some(SchemaFormat::KnownFormat(format))
}

macro_rules! text_schema {
    ($type:ty, $name:literal, $schema:expr) => {
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
    };
}

text_schema!(Id, "Id", text("A UUID.").format(known(KnownFormat::Uuid)));
text_schema!(
    ChunkId,
    "ChunkId",
    text("Names a chunk: 64 lower-case hexadecimal digits.").pattern(Some("^[0-9a-f]{64}$"))
);
text_schema!(
    Cursor,
    "Cursor",
    text("A position in the change feed; opaque.")
);
text_schema!(
    Kind,
    "Kind",
    text("What a node is.").enum_values(Some(["file", "folder"]))
);
text_schema!(
    Sealed,
    "Sealed",
    text("Bytes that only a client can read: standard base64 with padding.")
        .format(known(KnownFormat::Byte))
);
text_schema!(
    Timestamp,
    "Timestamp",
    text("RFC 3339, UTC, milliseconds.").format(known(KnownFormat::DateTime))
);
text_schema!(
    Amount,
    "Amount",
    text("Money or tokens: decimal text with at most two places, such as `4.99`.")
        .pattern(Some("^-?[0-9]+(\\.[0-9]{1,2})?$"))
        .examples(["4.99"])
);
