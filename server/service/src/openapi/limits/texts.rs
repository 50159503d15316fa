//! Texts that no table has a rule for: what control characters they may have.
//!
//! A text of a request is stored and shown to others, and one with a NUL can't be stored by every database. So no
//! text that a request carries is left without a rule, whoever adds one.

use super::kinds::{hidden_text, name, plain_text};
use super::merge;
use crate::openapi::{operations, references};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The media type of forms. Their fields have the rules of their endpoints; a NUL is refused in all of them.
const FORM: &str = "application/x-www-form-urlencoded";

/// Gives each text of a request without a rule one of its own.
pub(super) fn complete(document: &mut Value) {
    for schema in request_schemas(document) {
        let found = document["components"]["schemas"].get_mut(&schema);
        if let Some(schema) = found {
            each_text(schema, "", &mut |text, field| {
                if !has_rule(text) {
                    merge(text, rule_of(field));
                }
            });
        }
    }
}

/// Returns the rule of a field that has none.
fn rule_of(field: &str) -> Value {
    match field {
        "name" => name(),
        "password" => hidden_text(),
        _ => plain_text(),
    }
}

fn has_rule(text: &Value) -> bool {
    ["enum", "const", "format", "pattern"]
        .iter()
        .any(|key| text.get(*key).is_some())
}

/// Returns the names of the schemas that requests carry, forms aside, however deep.
fn request_schemas(document: &mut Value) -> BTreeSet<String> {
    let mut fresh = BTreeSet::new();
    for operation in operations(document) {
        let bodies = operation
            .pointer("/requestBody/content")
            .and_then(Value::as_object);
        for (media, body) in bodies.into_iter().flatten() {
            if media != FORM {
                fresh.extend(references(body));
            }
        }
    }
    let mut all = BTreeSet::new();
    while let Some(name) = fresh.pop_first() {
        let more = references(&document["components"]["schemas"][&name]);
        if all.insert(name) {
            fresh.extend(more.difference(&all).cloned());
        }
    }
    all
}

/// Visits each schema of a text in a schema, with the name of its field.
fn each_text(schema: &mut Value, field: &str, visit: &mut dyn FnMut(&mut Value, &str)) {
    let Value::Object(keys) = schema else {
        return;
    };
    for (key, value) in keys.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties.iter_mut() {
                    each_text(property, name, visit);
                }
            }
            ("items" | "additionalProperties" | "propertyNames", value) => {
                each_text(value, field, visit);
            }
            ("oneOf" | "allOf" | "anyOf", Value::Array(parts)) => {
                for part in parts {
                    each_text(part, field, visit);
                }
            }
            _ => {}
        }
    }
    if is_text(keys) {
        visit(schema, field);
    }
}

fn is_text(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        Some(kind) => kind == "string",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn every_text_of_a_request_has_a_rule_about_control_characters() {
        let mut document = crate::openapi::document().clone();
        let mut texts = 0;
        for schema in request_schemas(&mut document) {
            let found = &mut document["components"]["schemas"][&schema];
            each_text(found, "", &mut |text, field| {
                texts += 1;
                assert!(has_rule(text), "{schema}.{field}");
                let Some(pattern) = text.get("pattern").and_then(Value::as_str) else {
                    return;
                };
                let pattern = Regex::new(pattern).unwrap();
                for bad in ["\0", "a\0b", "/a\0", "https://a/\0", "a@b\0"] {
                    assert!(!pattern.is_match(bad), "{schema}.{field}: {bad:?}");
                }
            });
        }
        assert!(texts > 50, "{texts}");
    }
}
