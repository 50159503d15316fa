//! JSON schemas of tools: flat objects with single types, as clients of every kind understand them.

use crate::param::{Form, Param, Shape};
use crate::tool::Tool;
use serde_json::{Map, Value, json};

/// The input schema of a tool.
pub(crate) fn input(tool: &Tool) -> Map<String, Value> {
    let mut properties = Map::new();
    for param in tool.params {
        properties.insert(param.name.to_owned(), Value::Object(property(param)));
    }
    let required: Vec<_> = tool
        .params
        .iter()
        .filter(|param| param.required)
        .map(|param| param.name)
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn property(param: &Param) -> Map<String, Value> {
    let mut schema = shape(&param.shape);
    schema.insert("description".to_owned(), json!(param.about));
    schema
}

fn shape(shape: &Shape) -> Map<String, Value> {
    let mut schema = Map::new();
    let mut put = |key: &str, value: Value| {
        schema.insert(key.to_owned(), value);
    };
    match *shape {
        Shape::Text { min, max, form } => {
            put("type", json!("string"));
            lengths(&mut put, "Length", min, max);
            look(&mut put, form);
        }
        Shape::Choice { of, default } => {
            put("type", json!("string"));
            put("enum", json!(of));
            if let Some(default) = default {
                put("default", json!(default));
            }
        }
        Shape::Whole { min, max, default } => {
            put("type", json!("integer"));
            put("minimum", json!(min));
            if max != i64::MAX {
                put("maximum", json!(max));
            }
            if let Some(default) = default {
                put("default", json!(default));
            }
        }
        Shape::Number { above } => {
            put("type", json!("number"));
            put("exclusiveMinimum", json!(above));
        }
        Shape::Flag { default } => {
            put("type", json!("boolean"));
            if let Some(default) = default {
                put("default", json!(default));
            }
        }
        Shape::Agreed => {
            put("type", json!("boolean"));
            put("const", json!(true));
        }
        Shape::Money { .. } => {
            put("type", json!("string"));
            put("pattern", json!(r"^\d+(\.\d{1,2})?$"));
        }
        Shape::Texts { min, max, form } => {
            put("type", json!("array"));
            let mut items = Map::new();
            items.insert("type".to_owned(), json!("string"));
            look(
                &mut |key: &str, value| {
                    items.insert(key.to_owned(), value);
                },
                form,
            );
            put("items", Value::Object(items));
            lengths(&mut put, "Items", min, max);
        }
        Shape::Choices { of } => {
            put("type", json!("array"));
            put("items", json!({ "type": "string", "enum": of }));
            put("minItems", json!(1));
        }
        Shape::Labels | Shape::Object => put("type", json!("object")),
        Shape::List => {
            put("type", json!("array"));
            put("items", json!({}));
        }
        Shape::Anything => {}
    }
    schema
}

fn lengths(put: &mut impl FnMut(&str, Value), what: &str, min: usize, max: usize) {
    if min > 0 {
        put(&format!("min{what}"), json!(min));
    }
    if max != usize::MAX {
        put(&format!("max{what}"), json!(max));
    }
}

fn look(put: &mut impl FnMut(&str, Value), form: Form) {
    match form {
        Form::Free | Form::Said => {}
        Form::Uuid => put("format", json!("uuid")),
        Form::Email => put("format", json!("email")),
        // A date alone is taken too, which the format `date-time` would forbid: the words say it.
        Form::Moment => {}
        Form::Handle => put("pattern", json!("^[A-Za-z0-9_-]+$")),
        Form::Https | Form::Callback => put("format", json!("uri")),
        Form::Colour => put("pattern", json!("^#[0-9A-Fa-f]{6}$")),
        Form::Hex => put("pattern", json!("^[0-9A-Fa-f]+$")),
    }
}
