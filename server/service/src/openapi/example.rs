//! Examples, made from the schemas: every JSON body has one, and it fits its schema.

use serde_json::{Map, Value, json};

/// Nested deeper than this, lists are empty and objects have no optional fields: comments hold replies.
const DEEP: usize = 6;
/// Examples of texts and numbers with these names; the first that fits counts.
const TEXTS: [(&str, &str); 24] = [
    (
        "access_token",
        "eyJ0eXAiOiJhdCtqd3QifQ.eyJzdWIiOiI2ZjFjIn0.c2ln",
    ),
    ("avatar_url", "https://example.com/owner.png"),
    ("bio", "Writes reports."),
    ("category", "document"),
    ("client_id", "cairn"),
    ("cursor", "4f2a9c1e.120.9b1d33aa"),
    ("description", "Figures of the last quarter"),
    ("display_name", "Owner"),
    ("email", "owner@example.com"),
    ("epoch", "4f2a9c1e"),
    ("error", "invalid_request"),
    ("expires_in", "30d"),
    ("file_name", "report.pdf"),
    ("grant_type", "refresh_token"),
    ("issuer", "https://files.example.com"),
    ("key", "ck_5b0c6f7e1d9a"),
    ("message", "the name is taken in this folder"),
    ("mime_type", "application/pdf"),
    ("name", "report.pdf"),
    ("name_format", "plain"),
    ("prefix", "ck_5b0c6f7"),
    ("scope", "files"),
    ("secret", "whsec_9f86d081884c7d65"),
    ("token_type", "Bearer"),
];
const NUMBERS: [(&str, i64); 8] = [
    ("code", 400),
    ("expires_in", 600),
    ("page", 1),
    ("pageSize", 20),
    ("page_size", 20),
    ("size", 52_428),
    ("status", 200),
    ("totalElements", 1),
];

/// Adds an example to every JSON or form body of the document that has none.
pub(super) fn complete(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    let paths = document["paths"].as_object_mut();
    let operations = paths
        .into_iter()
        .flat_map(Map::values_mut)
        .filter_map(Value::as_object_mut)
        .flat_map(Map::values_mut);
    for operation in operations {
        let responses = operation["responses"].as_object_mut();
        for response in responses.into_iter().flat_map(Map::values_mut) {
            body(&schemas, response);
        }
        if operation["requestBody"].is_object() {
            body(&schemas, &mut operation["requestBody"]);
        }
    }
}

fn body(schemas: &Value, of: &mut Value) {
    let Some(content) = of.get_mut("content").and_then(Value::as_object_mut) else {
        return;
    };
    for (media_type, content) in content {
        let plain = media_type == "application/json" || media_type.ends_with("urlencoded");
        if plain && content.get("example").is_none() && content.get("examples").is_none() {
            content["example"] = of_schema(schemas, &content["schema"], "", 0);
        }
    }
}

fn of_schema(schemas: &Value, schema: &Value, name: &str, depth: usize) -> Value {
    for given in ["example", "const", "default"] {
        if let Some(value) = schema.get(given) {
            return value.clone();
        }
    }
    if let Some(first) = schema["examples"].get(0) {
        return first.clone();
    }
    if let Some(target) = schema["$ref"].as_str() {
        let target = target.trim_start_matches("#/components/schemas/");
        return of_schema(schemas, &schemas[target], name, depth);
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    for choice in ["oneOf", "anyOf"] {
        let mut options = schema[choice].as_array().into_iter().flatten();
        if let Some(first) = options.find(|one| one["type"] != "null") {
            return of_schema(schemas, first, name, depth);
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let whole = parts
            .iter()
            .filter_map(|part| match of_schema(schemas, part, name, depth) {
                Value::Object(fields) => Some(fields),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_) => None,
            })
            .flatten();
        return Value::Object(whole.collect());
    }
    match kind(schema) {
        "object" => object(schemas, schema, depth),
        "array" if depth >= DEEP => json!([]),
        "array" => json!([of_schema(schemas, &schema["items"], name, depth + 1)]),
        "integer" | "number" => number(schema, name),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => text(schema, name),
    }
}

/// The type, or of several the first that is not null.
fn kind(schema: &Value) -> &str {
    let of = &schema["type"];
    let several = of.as_array().into_iter().flatten();
    of.as_str()
        .or_else(|| several.filter_map(Value::as_str).find(|one| *one != "null"))
        .unwrap_or(if schema["properties"].is_object() {
            "object"
        } else {
            "string"
        })
}

fn object(schemas: &Value, schema: &Value, depth: usize) -> Value {
    let required = &schema["required"];
    let needed = |name: &str| {
        required
            .as_array()
            .is_some_and(|all| all.contains(&json!(name)))
    };
    let properties = schema["properties"].as_object();
    let fields = properties
        .into_iter()
        .flatten()
        .filter(|(name, _)| depth < DEEP || needed(name))
        .map(|(name, schema)| (name.clone(), of_schema(schemas, schema, name, depth + 1)));
    Value::Object(fields.collect())
}

fn number(schema: &Value, name: &str) -> Value {
    let named = NUMBERS.iter().find(|(known, _)| *known == name);
    let least = schema["minimum"].as_i64().unwrap_or(1).max(1);
    let most = schema["maximum"].as_i64().unwrap_or(i64::MAX);
    json!(named.map_or(least, |(_, number)| (*number).clamp(least, most)))
}

fn text(schema: &Value, name: &str) -> Value {
    let by_format = match schema["format"].as_str() {
        Some("uuid") => "6f1c5d0e-8f0b-4a53-9d5c-0a4f8b6f2c11",
        Some("date-time") => "2026-01-02T03:04:05.678Z",
        Some("date") => "2026-01-02",
        Some("byte") => "c2VhbGVk",
        Some("uri") => "https://hooks.example.com/cairn",
        Some("email") => "owner@example.com",
        _ => "",
    };
    if !by_format.is_empty() {
        return json!(by_format);
    }
    if schema["pattern"] == "^[0-9a-f]{64}$" {
        return json!("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
    }
    if name.ends_with("_endpoint") || name.ends_with("_uri") || name.ends_with("url") {
        return json!(format!("https://files.example.com/{name}"));
    }
    let named = TEXTS.iter().find(|(known, _)| *known == name);
    json!(named.map_or("text", |(_, text)| text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_follows_its_schema() {
        let schemas = json!({
            "Id": {"type": "string", "format": "uuid"},
            "Tree": {"type": "object", "required": ["id"], "properties": {
                "id": {"$ref": "#/components/schemas/Id"},
                "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            }},
        });
        let of = |schema: Value| of_schema(&schemas, &schema, "page_size", 0);
        assert_eq!(of(json!({"type": ["integer", "null"], "maximum": 10})), 10);
        assert_eq!(
            of(json!({"oneOf": [{"type": "null"}, {"enum": ["a", "b"]}]})),
            "a"
        );
        assert_eq!(
            of(json!({"allOf": [{"type": "object", "properties": {"name": {}}}]})),
            json!({"name": "report.pdf"})
        );
        let tree = of(json!({"$ref": "#/components/schemas/Tree"}));
        assert!(tree["children"][0]["children"][0]["id"].is_string());
    }
}
