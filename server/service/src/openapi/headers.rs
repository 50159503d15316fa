//! The headers that many operations have in common: what a request may bring besides its body, and the `ETag` of a
//! response.
//!
//! The steps around the handlers read them, and the generator knows handlers alone.

use crate::http::idempotency::{MAX_KEY, is_kept};
use serde_json::{Map, Value, json};

const STREAM: &str = "/api/v1/changes/stream";
const CHUNK: &str = "/api/v1/chunks/{id}";
/// The schemas of what has a version, which is its tag.
const TAGGED: [&str; 2] = ["Node", "KeyBundle"];

/// Describes them in every operation that they belong to.
pub(super) fn complete(document: &mut Value) {
    let paths = document["paths"].as_object_mut();
    for (path, item) in paths.into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            make_text(operation);
            add_parameters(path, method, operation);
            add_tags(path, method, operation);
        }
    }
    document["components"]["parameters"] = parameters();
}

/// Returns the shared parameters by their names in the document.
fn parameters() -> Value {
    let header = |name: &str, description: &str, schema: Value| json!({"name": name, "in": "header", "required": false, "description": description, "schema": schema});
    let id = json!({"type": "string", "format": "uuid"});
    let key = json!({"type": "string", "minLength": 1, "maxLength": MAX_KEY});
    let text = json!({"type": "string"});
    json!({
        "SpaceId": header(
            "X-Space-Id",
            "The space that the request acts in; the caller's own without it.",
            id.clone(),
        ),
        "DeviceId": header(
            "X-Device-Id",
            "The device that asks; comes back as `device_id` in the change feed.",
            id,
        ),
        "IdempotencyKey": header(
            "Idempotency-Key",
            "Chosen by the client for this request. Sent again with the same key within 24 hours, it gets the first response.",
            key,
        ),
        "LastEventId": header(
            "Last-Event-ID",
            "The id of the last event that was read: a cursor, in place of the one in the query.",
            text.clone(),
        ),
        "IfNoneMatch": header(
            "If-None-Match",
            "Tags that the client has the content of, as `ETag` gave them.",
            text,
        ),
    })
}

fn refer(operation: &mut Value, parameter: &str) {
    let Some(operation) = operation.as_object_mut() else {
        return;
    };
    let reference = json!({ "$ref": format!("#/components/parameters/{parameter}") });
    match operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut)
    {
        Some(parameters) => parameters.push(reference),
        None => {
            operation.insert("parameters".into(), json!([reference]));
        }
    }
}

/// Takes null out of the types of headers: the generator knows one that may be left out as nullable, and what is sent is
/// text.
fn make_text(operation: &mut Value) {
    let parameters = operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        if parameter["in"] == "header" {
            parameter["schema"]["type"] = json!("string");
        }
    }
}

/// Adds what is read from requests with a token.
fn add_parameters(path: &str, method: &str, operation: &mut Value) {
    let is_open = operation["security"] == json!([{}]);
    if is_open || !path.starts_with("/api/") {
        return;
    }
    refer(operation, "SpaceId");
    refer(operation, "DeviceId");
    if method == "post" && is_kept(path) {
        refer(operation, "IdempotencyKey");
    }
    if path == STREAM {
        refer(operation, "LastEventId");
    }
}

/// Returns true if a response has a tag.
fn is_tagged(path: &str, response: &Value) -> bool {
    let content = &response["content"];
    let schema = content["application/json"]["schema"]["$ref"].as_str();
    let name = schema.and_then(|schema| schema.strip_prefix("#/components/schemas/"));
    name.is_some_and(|name| TAGGED.contains(&name))
        || path == CHUNK && content.get("application/octet-stream").is_some()
}

/// Adds `ETag` to the responses that have one, and to reads with one what `If-None-Match` does.
fn add_tags(path: &str, method: &str, operation: &mut Value) {
    let tag = json!({
        "description": "The state of what the response has, for `If-Match` and `If-None-Match`.",
        "schema": {"type": "string"}
    });
    let Some(responses) = operation["responses"].as_object_mut() else {
        return;
    };
    let mut any = false;
    for response in responses.values_mut() {
        if is_tagged(path, response) {
            any = true;
            add_header(response, &tag);
        }
    }
    // So that whoever was refused knows what is there now.
    if let Some(stale) = responses.get_mut("412").filter(|_| any) {
        add_header(stale, &tag);
    }
    if any && method == "get" {
        responses.entry("304").or_insert_with(
            || json!({"description": "`If-None-Match` has the tag of what is there"}),
        );
        refer(operation, "IfNoneMatch");
    }
}

fn add_header(response: &mut Value, tag: &Value) {
    if let Some(response) = response.as_object_mut() {
        let headers = response
            .entry("headers")
            .or_insert_with(|| Value::Object(Map::new()));
        headers["ETag"] = tag.clone();
    }
}
