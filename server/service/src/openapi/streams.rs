//! Everything that comes as server-sent events: each event with its name, and what its data holds.
//!
//! The generator knows one schema per response and would take the data for the whole event; in the
//! document an event is an object, whose data is text with JSON in it.

use serde_json::{Value, json};

const MEDIA: &str = "text/event-stream";

/// Each event's name, and the schema of its data.
type Events = [(&'static str, &'static str)];

/// Path and method of each stream, and its events.
const STREAMS: [(&str, &str, &Events); 2] = [
    (
        "/api/v1/ai/chat",
        "post",
        &[
            ("delta", "ChatDelta"),
            ("usage", "ChatUsage"),
            ("done", "ChatDone"),
            ("error", "ErrorBody"),
        ],
    ),
    (
        "/api/v1/changes/stream",
        "get",
        &[("change", "FeedMoved"), ("error", "ErrorBody")],
    ),
];

/// Describes the events of each stream.
pub(super) fn complete(document: &mut Value) {
    for (path, method, events) in STREAMS {
        let content = &mut document["paths"][path][method]["responses"]["200"]["content"][MEDIA];
        content["schema"] = schema(events);
    }
}

fn schema(events: &[(&str, &str)]) -> Value {
    let names: Vec<&str> = events.iter().map(|(name, _)| *name).collect();
    let data: Vec<Value> = events
        .iter()
        .map(|(_, schema)| json!({"$ref": format!("#/components/schemas/{schema}")}))
        .collect();
    json!({
        "type": "object",
        "description": "One event of the stream.",
        "required": ["event", "data"],
        "properties": {
            "event": {"type": "string", "enum": names},
            "id": {"type": "string"},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"oneOf": data},
            },
        },
    })
}
