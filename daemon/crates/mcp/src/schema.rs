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
    let mut schema = value_schema(&param.shape);
    schema.insert("description".to_owned(), json!(param.description));
    schema
}

fn value_schema(shape: &Shape) -> Map<String, Value> {
    match *shape {
        Shape::Text { min, max, form } => {
            let mut schema = text_schema(form);
            schema.extend(limits("Length", min, max));
            schema
        }
        Shape::Choice { of, default } => {
            let of = ("enum", Some(json!(of)));
            typed_schema("string", [of, ("default", default.map(Value::from))])
        }
        Shape::Integer { min, max, default } => {
            let max = (max != i64::MAX).then(|| json!(max));
            let limits = [("minimum", Some(json!(min))), ("maximum", max)];
            let default = ("default", default.map(Value::from));
            typed_schema("integer", limits.into_iter().chain([default]))
        }
        Shape::Number {
            above, min, max, ..
        } => {
            let above = ("exclusiveMinimum", above.map(Value::from));
            let (min, max) = (
                ("minimum", min.map(Value::from)),
                ("maximum", max.map(Value::from)),
            );
            typed_schema("number", [above, min, max])
        }
        Shape::Flag { default } => typed_schema("boolean", [("default", default.map(Value::from))]),
        Shape::MustAccept => typed_schema("boolean", [("const", Some(json!(true)))]),
        Shape::Money { .. } => {
            typed_schema("string", [("pattern", Some(json!(r"^\d+(\.\d{1,2})?$")))])
        }
        Shape::Texts { min, max, form } => {
            let items = Value::Object(text_schema(form));
            let mut schema = typed_schema("array", [("items", Some(items))]);
            schema.extend(limits("Items", min, max));
            schema
        }
        Shape::Choices { of } => {
            let items = json!({ "type": "string", "enum": of });
            let least = ("minItems", Some(json!(1)));
            typed_schema("array", [("items", Some(items)), least])
        }
        Shape::Labels | Shape::Object => typed_schema("object", []),
        Shape::List => typed_schema("array", [("items", Some(json!({})))]),
        Shape::Any => Map::new(),
    }
}

fn typed_schema(
    name: &str,
    keywords: impl IntoIterator<Item = (&'static str, Option<Value>)>,
) -> Map<String, Value> {
    let mut schema = Map::from_iter([("type".to_owned(), json!(name))]);
    for (keyword, value) in keywords {
        if let Some(value) = value {
            schema.insert(keyword.to_owned(), value);
        }
    }
    schema
}

fn text_schema(form: Form) -> Map<String, Value> {
    let form = form_keyword(form).map(|(keyword, value)| (keyword, Some(json!(value))));
    typed_schema("string", form)
}

fn limits(what: &str, min: usize, max: usize) -> Map<String, Value> {
    let mut limits = Map::new();
    if min > 0 {
        limits.insert(format!("min{what}"), json!(min));
    }
    if max != usize::MAX {
        limits.insert(format!("max{what}"), json!(max));
    }
    limits
}

fn form_keyword(form: Form) -> Option<(&'static str, &'static str)> {
    match form {
        // Dates without a time are accepted, which the format `date-time` would forbid, and paths of files and folders,
        // which `uuid` would.
        Form::Free | Form::NonEmpty | Form::LocalPath | Form::DateTime | Form::Node => None,
        Form::Uuid => Some(("format", "uuid")),
        Form::Email => Some(("format", "email")),
        Form::Handle => Some(("pattern", "^[A-Za-z0-9_-]+$")),
        Form::Https | Form::Callback => Some(("format", "uri")),
        Form::Colour => Some(("pattern", "^#[0-9A-Fa-f]{6}$")),
        Form::Duration => Some(("pattern", "^[0-9]+[smhd]$")),
        Form::Hex => Some(("pattern", "^[0-9A-Fa-f]{64}$")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset;

    /// Returns the forms of the texts that a parameter takes, with their schemas.
    fn text_of(param: &Param) -> Option<(Form, Value)> {
        let form = param.shape.text_form()?;
        let schema = Value::Object(value_schema(&param.shape));
        let of_each = schema.get("items").cloned();
        Some((form, of_each.unwrap_or(schema)))
    }

    #[test]
    fn no_schema_forbids_the_path_of_a_file() {
        let (mut nodes, mut ids) = (0, 0);
        for tool in toolset::ALL.iter().flat_map(|set| set.tools) {
            for param in tool.params {
                let Some((form, schema)) = text_of(param) else {
                    continue;
                };
                let what = format!("{} of {}", param.name, tool.name);
                let format = schema.get("format").and_then(Value::as_str);
                if form == Form::Node {
                    assert_eq!(format, None, "{what}");
                    assert_eq!(schema.get("pattern"), None, "{what}");
                    nodes += 1;
                } else if form == Form::Uuid {
                    assert_eq!(format, Some("uuid"), "{what}");
                    ids += 1;
                }
            }
        }
        assert!(nodes > 20 && ids > 10, "{nodes} {ids}");
    }
}
