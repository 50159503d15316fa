//! Bodies of bytes: chunks, sealed objects, signed logs, and frames.
//!
//! The generator takes bytes for a list of numbers, and the head of a frame for all of it. Programs that make clients know
//! bytes by the format `binary`.

use super::operations::operations;
use serde_json::{Map, Value, json};

const BYTES: &str = "application/octet-stream";
/// A head of JSON, and the bytes that it is about.
const FRAME: &str = "application/vnd.cairn.frame";

/// Describes each body of bytes as one.
pub(super) fn complete(document: &mut Value) {
    for operation in operations(document) {
        if let Some(body) = operation.get_mut("requestBody") {
            describe(body);
        }
        let responses = operation
            .get_mut("responses")
            .and_then(Value::as_object_mut);
        responses
            .into_iter()
            .flat_map(Map::values_mut)
            .for_each(describe);
    }
}

/// Replaces the schemas of bytes in a request's body or a response.
fn describe(body: &mut Value) {
    let content = body.get_mut("content").and_then(Value::as_object_mut);
    for (media, content) in content.into_iter().flatten() {
        match media.as_str() {
            BYTES => content["schema"] = json!({"type": "string", "format": "binary"}),
            FRAME => content["schema"] = frame(&content["schema"]),
            _ => {}
        }
    }
}

/// Returns the schema of a frame, which keeps that of its head.
fn frame(head: &Value) -> Value {
    json!({
        "type": "string",
        "format": "binary",
        "description": "A frame; `contentSchema` is that of its head.",
        "contentMediaType": FRAME,
        "contentSchema": head,
    })
}
