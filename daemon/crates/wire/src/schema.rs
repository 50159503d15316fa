//! Schemas of our own texts, for the OpenAPI document; those of the vocabulary are `cairn-model`'s.

use crate::{Amount, Sealed, Timestamp};
use std::borrow::Cow;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// A UUID that has no type of its own: stands in for it in `value_type`, and is never made.
pub struct Id;

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
