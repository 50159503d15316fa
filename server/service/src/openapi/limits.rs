//! The constraints of a body beyond its types: lengths, counts, ranges, patterns and choices.
//!
//! The tables complete the document here, and requests are checked against the document by
//! [`crate::http::check`]. A bound that a handler has to ask for again is a constant of [`crate::bounds`],
//! so that neither can say another number than the other.

mod kinds;
mod tables;
mod texts;

use super::operations::operations;
use crate::http::check::WORDS;
use crate::http::if_match;
use serde_json::{Map, Value, json};
use tables::{parameters, rules};

/// Schemas that demand something as a whole, in words.
const WHOLE: [(&str, &str); 1] = [(
    "UpdateWebhook",
    "it names nothing to change; give `events`, `url`, or both",
)];

/// Parameters that say something wherever they stand: an empty one is refused.
const NEVER_EMPTY: [&str; 5] = ["If-Match", "seen", "cursor", "after", "name"];

/// Fields that the types leave open and that have to be there.
const REQUIRED: [(&str, &str); 1] = [("ClassifyFolder", "confirm_token_use")];

/// Adds the rules to the schemas and parameters.
pub(super) fn complete(document: &mut Value) {
    for operation in operations(document) {
        let all = operation
            .get_mut("parameters")
            .and_then(Value::as_array_mut);
        for parameter in all.into_iter().flatten() {
            if NEVER_EMPTY.iter().any(|name| parameter["name"] == *name) {
                merge(&mut parameter["schema"], json!({"minLength": 1}));
            }
            if parameter["name"] == "If-Match" {
                let rule = json!({"pattern": if_match::pattern(), "example": "\"3\""});
                merge(&mut parameter["schema"], rule);
            }
        }
    }
    for (path, name, rule) in parameters() {
        let found = document["paths"][path]["get"]["parameters"].as_array_mut();
        for parameter in found.into_iter().flatten() {
            if parameter["name"] == name {
                merge(&mut parameter["schema"], rule.clone());
            }
        }
    }
    let schemas = &mut document["components"]["schemas"];
    for (schema, field, rule) in rules() {
        let property = schemas
            .get_mut(schema)
            .and_then(|schema| schema["properties"].get_mut(field));
        if let Some(property) = property {
            merge(property, rule);
        }
    }
    for (schema, words) in WHOLE {
        if let Some(Value::Object(schema)) = schemas.get_mut(schema) {
            schema.insert(WORDS.to_owned(), json!(words));
        }
    }
    for (schema, field) in REQUIRED {
        if let Some(Value::Object(schema)) = schemas.get_mut(schema) {
            let required = schema.entry("required").or_insert_with(|| json!([]));
            if let Some(required) = required.as_array_mut() {
                required.push(json!(field));
            }
        }
    }
    texts::complete(document);
}

fn merge(into: &mut Value, rule: Value) {
    match (into, rule) {
        (Value::Object(into), Value::Object(rule)) => {
            for (key, value) in rule {
                merge(into.entry(key).or_insert(Value::Object(Map::new())), value);
            }
        }
        (into, rule) => *into = rule,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_about_a_field_of_the_document() {
        let schemas = &crate::openapi::document()["components"]["schemas"];
        for (schema, field, rule) in rules() {
            let property = &schemas[schema]["properties"][field];
            for (key, value) in rule.as_object().unwrap() {
                if key != "items" && key != "additionalProperties" {
                    assert_eq!(&property[key], value, "{schema}.{field}");
                }
            }
        }
    }

    #[test]
    fn a_folder_is_the_one_kind_of_node_that_is_made_without_an_upload() {
        let schemas = &crate::openapi::document()["components"]["schemas"];
        let kind = &schemas["CreateNode"]["properties"]["kind"];
        // A reader of the document would take the kinds of a reference for possible ones.
        assert_eq!(
            (&kind["enum"], &kind["$ref"]),
            (&json!(["folder"]), &Value::Null)
        );
    }
}
