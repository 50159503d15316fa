//! Checks a request's body against the OpenAPI document, which says all that is demanded of it.
//!
//! The document is made from the routes, which can't be known here: it is handed in.

use crate::error::{Error, Result};
use parking_lot::Mutex;
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The key under which a rule is said in words, for messages.
pub(crate) const WORDS: &str = "x-rule";

static DOCUMENT: OnceLock<fn() -> &'static Value> = OnceLock::new();

/// Hands in the document that bodies are checked against.
pub(crate) fn use_document(document: fn() -> &'static Value) {
    DOCUMENT.get_or_init(|| document);
}

/// Checks a value against a schema of the document. Types, required and unknown fields are the
/// concern of whoever reads it.
///
/// # Errors
/// 400 that names the field and the rule.
pub(crate) fn body(schema: &str, value: &Value) -> Result<()> {
    let Some(document) = DOCUMENT.get() else {
        return Ok(());
    };
    let schemas = &document()["components"]["schemas"];
    match schemas.get(schema) {
        Some(found) => check(schemas, found, value, "").map_err(Error::invalid),
        None => Ok(()),
    }
}

type Checked = std::result::Result<(), String>;

fn check(schemas: &Value, schema: &Value, value: &Value, field: &str) -> Checked {
    let Value::Object(rules) = schema else {
        return Ok(());
    };
    if value.is_null() {
        return Ok(());
    }
    if let Some(target) = rules.get("$ref").and_then(Value::as_str) {
        let target = target.trim_start_matches("#/components/schemas/");
        check(schemas, &schemas[target], value, field)?;
    }
    for part in rules
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        check(schemas, part, value, field)?;
    }
    // A nullable field is one of nothing and of something; a value of several kinds is left alone.
    let choices = rules.get("oneOf").and_then(Value::as_array);
    let mut choices = choices
        .into_iter()
        .flatten()
        .filter(|one| one["type"] != "null");
    if let (Some(only), None) = (choices.next(), choices.next()) {
        check(schemas, only, value, field)?;
    }
    fits(rules, value).map_err(|rule| {
        let name = if field.is_empty() { "the body" } else { field };
        format!("`{name}`: {rule}")
    })?;
    within(schemas, rules, value, field)
}

/// Checks what a list or an object holds.
fn within(schemas: &Value, rules: &Map<String, Value>, value: &Value, field: &str) -> Checked {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if field.is_empty() {
                    name.clone()
                } else {
                    format!("{field}.{name}")
                };
                let schema = rules
                    .get("properties")
                    .and_then(|properties| properties.get(name))
                    .or_else(|| rules.get("additionalProperties"));
                if let Some(schema) = schema {
                    check(schemas, schema, value, &path)?;
                }
            }
        }
        Value::Array(values) => {
            if let Some(schema) = rules.get("items") {
                for value in values {
                    check(schemas, schema, value, field)?;
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

/// Checks a value by itself.
fn fits(rules: &Map<String, Value>, value: &Value) -> Checked {
    let said = |rule: String| match rules.get(WORDS).and_then(Value::as_str) {
        Some(words) => words.to_owned(),
        None => rule,
    };
    if let Some(only) = rules.get("const")
        && only != value
    {
        return Err(said(format!("it has to be {only}")));
    }
    if let Some(choices) = rules.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        let names: Vec<String> = choices
            .iter()
            .filter(|one| !one.is_null())
            .map(|one| {
                one.as_str()
                    .map_or_else(|| one.to_string(), |text| format!("`{text}`"))
            })
            .collect();
        return Err(said(format!("it has to be one of {}", names.join(", "))));
    }
    match value {
        Value::String(text) => {
            counted(
                rules,
                ["minLength", "maxLength"],
                text.chars().count(),
                "characters",
            )
            .map_err(said)?;
            pattern(rules, text).map_err(said)
        }
        Value::Array(values) => {
            counted(rules, ["minItems", "maxItems"], values.len(), "elements").map_err(said)
        }
        Value::Object(fields) => counted(
            rules,
            ["minProperties", "maxProperties"],
            fields.len(),
            "fields",
        )
        .map_err(said),
        Value::Number(_) => number(rules, value).map_err(said),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn counted(rules: &Map<String, Value>, keys: [&str; 2], count: usize, unit: &str) -> Checked {
    let [least, most] = keys.map(|key| rules.get(key).and_then(Value::as_u64));
    let count = count as u64;
    if least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most) {
        return Ok(());
    }
    Err(match (least, most) {
        (Some(least), Some(most)) => {
            format!("it has {count} {unit}; it has to have {least} to {most}")
        }
        (Some(least), None) => format!("it has {count} {unit}; it has to have at least {least}"),
        (None, most) => format!(
            "it has {count} {unit}; at most {} are allowed",
            most.unwrap_or_default()
        ),
    })
}

fn number(rules: &Map<String, Value>, value: &Value) -> Checked {
    let bound = |key: &str| rules.get(key);
    let order = |bound: &Value| compare(value, bound);
    if bound("minimum").is_some_and(|least| order(least).is_lt()) {
        return Err(format!(
            "it is {value}; it has to be at least {}",
            rules["minimum"]
        ));
    }
    if bound("exclusiveMinimum").is_some_and(|least| order(least).is_le()) {
        return Err(format!(
            "it is {value}; it has to be more than {}",
            rules["exclusiveMinimum"]
        ));
    }
    if bound("maximum").is_some_and(|most| order(most).is_gt()) {
        return Err(format!(
            "it is {value}; it has to be at most {}",
            rules["maximum"]
        ));
    }
    Ok(())
}

/// Compares whole numbers exactly, and others as far as a float can.
fn compare(one: &Value, other: &Value) -> std::cmp::Ordering {
    let whole = |value: &Value| {
        value
            .as_i64()
            .map(i128::from)
            .or_else(|| value.as_u64().map(i128::from))
    };
    if let (Some(one), Some(other)) = (whole(one), whole(other)) {
        return one.cmp(&other);
    }
    let float = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    float(one).total_cmp(&float(other))
}

/// Checks a text against a pattern; each is compiled once.
fn pattern(rules: &Map<String, Value>, text: &str) -> Checked {
    static COMPILED: OnceLock<Mutex<HashMap<String, Option<Regex>>>> = OnceLock::new();
    let Some(pattern) = rules.get("pattern").and_then(Value::as_str) else {
        return Ok(());
    };
    let known = COMPILED.get_or_init(Mutex::default);
    let regex = known
        .lock()
        .entry(pattern.to_owned())
        .or_insert_with(|| Regex::new(pattern).ok())
        .clone();
    match regex {
        Some(regex) if regex.is_match(text) => Ok(()),
        Some(_) => Err(format!("it has to match `{pattern}`")),
        None => Err(format!("the pattern `{pattern}` can't be read")),
    }
}
