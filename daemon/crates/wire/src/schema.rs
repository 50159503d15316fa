//! Schemas of our own texts, for the OpenAPI document; those of the vocabulary are `cairn-model`'s.

use crate::{Amount, Sealed, Timestamp};
use cairn_model::schema::text;
use cairn_model::text_schema;
use utoipa::openapi::schema::{KnownFormat, SchemaFormat};

/// A UUID that has no type of its own: stands in for it in `value_type`, and is never made.
pub struct Id;

fn known_format(format: KnownFormat) -> Option<SchemaFormat> {
    Some(SchemaFormat::KnownFormat(format))
}

text_schema!(
    "Id",
    text("A UUID.").format(known_format(KnownFormat::Uuid)),
    Id
);
text_schema!(
    "Sealed",
    text("Bytes that only a client can read: standard base64 with padding.")
        .format(known_format(KnownFormat::Byte)),
    Sealed
);
text_schema!(
    "Timestamp",
    text("RFC 3339, UTC, milliseconds.").format(known_format(KnownFormat::DateTime)),
    Timestamp
);
text_schema!(
    "Amount",
    text("Money or tokens: decimal text with at most two places, such as `4.99`.")
        .pattern(Some("^-?[0-9]+(\\.[0-9]{1,2})?$"))
        .examples(["4.99"]),
    Amount
);
