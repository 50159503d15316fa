//! Bodies take known fields only, which the generator can't know: the extractor refuses the rest.

use super::references;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MEDIA: &str = "application/json";

/// Closes every object that a request carries as JSON, however deep.
pub(super) fn complete(document: &mut Value) {
    let mut fresh = BTreeSet::new();
    for operation in super::operations::operations(document) {
        if let Some(schema) = operation.pointer_mut(&format!(
            "/requestBody/content/{}/schema",
            MEDIA.replace('/', "~1")
        )) {
            close(schema);
            fresh.extend(references(schema));
        }
    }
    let mut done = BTreeSet::new();
    while let Some(name) = fresh.pop_first() {
        let schema = &mut document["components"]["schemas"][&name];
        close(schema);
        let more = references(schema);
        if done.insert(name) {
            fresh.extend(more.difference(&done).cloned());
        }
    }
}

/// Closes the objects that stand in a schema itself. Maps say what their values are, and stay open.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_object = fields.get("type").is_some_and(|kind| {
                kind == "object"
                    || kind
                        .as_array()
                        .is_some_and(|all| all.contains(&json!("object")))
            });
            if is_object && fields.contains_key("properties") {
                fields
                    .entry("additionalProperties")
                    .or_insert(Value::Bool(false));
            }
            for (key, value) in fields.iter_mut() {
                if key != "example" && key != "examples" {
                    close(value);
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
