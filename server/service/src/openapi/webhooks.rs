//! The requests of webhooks: for each event the request that its receivers see, with a schema of its data and an example.
//!
//! The generator knows handlers alone, and these requests are the server's own. A test compares every description with
//! what is really delivered.

use crate::webhooks::signature::{NEXT_SIGNATURE, SIGNATURE};
use cairn_model::EventKind;
use serde_json::{Map, Value, json};

const ID: &str = "6f1c5d0e-8f0b-4a53-9d5c-0a4f8b6f2c11";
const OTHER_ID: &str = "0b6c7f52-3c1d-4f0e-8a57-5d2f9e1b7a34";

/// A field of an event's data: its name, its schema, an example.
type Field = (&'static str, Value, Value);

/// Describes the delivery of each event.
pub(super) fn complete(document: &mut Value) {
    let all: Map<String, Value> = EventKind::ALL
        .iter()
        .map(|kind| (kind.as_str().to_owned(), json!({"post": delivery(*kind)})))
        .collect();
    document["webhooks"] = Value::Object(all);
}

/// Returns when an event is raised.
fn occasion(kind: EventKind) -> &'static str {
    match kind {
        EventKind::FileUploaded => "A file has been uploaded, or a new revision of it.",
        EventKind::FileDownloaded => "A file was downloaded by somebody with an account.",
        EventKind::FileDeleted => "A file or folder went into the trash.",
        EventKind::FileMoved => "A file or folder was moved to another folder.",
        EventKind::FileRenamed => "A file or folder was renamed.",
        EventKind::ShareCreated => "A share link was created.",
        EventKind::ShareAccessed => "Somebody opened a share link.",
        EventKind::ShareDownloaded => "Somebody began a download through a share link.",
        EventKind::ShareRevoked => "A share link was switched off or deleted.",
        EventKind::TeamMemberJoined => "Somebody joined a team.",
        EventKind::TeamMemberLeft => "Somebody left a team, or was removed from it.",
        EventKind::WebhookTest => "The webhook was made, or a test was asked for.",
    }
}

/// Returns the fields of an event's data.
fn fields(kind: EventKind) -> Vec<Field> {
    match kind {
        EventKind::FileUploaded => uploaded(),
        EventKind::FileDownloaded | EventKind::FileDeleted => node(),
        EventKind::FileMoved => with(node(), id("from_folder_id", "The folder before.")),
        EventKind::FileRenamed => with(
            node(),
            text("old_name", "The name before.", "report draft.pdf"),
        ),
        EventKind::ShareCreated | EventKind::ShareRevoked => share(),
        EventKind::ShareAccessed => visit(),
        EventKind::ShareDownloaded => with(visit(), downloaded_file()),
        EventKind::TeamMemberJoined => with(member(), role()),
        EventKind::TeamMemberLeft => member(),
        EventKind::WebhookTest => vec![text(
            "message",
            "A text for people.",
            "This is a test event: the address can be reached.",
        )],
    }
}

fn with(mut fields: Vec<Field>, more: Field) -> Vec<Field> {
    fields.push(more);
    fields
}

fn text(name: &'static str, description: &str, example: &str) -> Field {
    let schema = json!({"type": "string", "description": description});
    (name, schema, json!(example))
}

fn id(name: &'static str, description: &str) -> Field {
    let schema = json!({"type": "string", "format": "uuid", "description": description});
    (name, schema, json!(ID))
}

fn choice(name: &'static str, description: &str, words: &[&str]) -> Field {
    let schema = json!({"type": "string", "enum": words, "description": description});
    (name, schema, json!(words.first()))
}

fn uploaded() -> Vec<Field> {
    let size =
        json!({"type": "integer", "minimum": 0, "description": "Plaintext bytes; 0 for a folder."});
    vec![
        id("file_id", "The file or folder."),
        text("file_name", "Its name.", "report.pdf"),
        id(
            "folder_id",
            "Its folder; at the top of a space the id of the space.",
        ),
        ("size_bytes", size, json!(52_428)),
    ]
}

fn node() -> Vec<Field> {
    let kind = choice("kind", "What it is.", &["file", "folder"]);
    with(uploaded(), kind)
}

fn share() -> Vec<Field> {
    vec![
        id("share_id", "The link."),
        text("short_code", "Its code in addresses.", "aZ3kQ9"),
        id("file_id", "What it shares."),
        text("file_name", "The name of that.", "report.pdf"),
        choice(
            "storage_type",
            "What it shares: a file or a folder.",
            &["VR_FILE", "VR_FOLDER"],
        ),
    ]
}

fn visit() -> Vec<Field> {
    let email = text(
        "email",
        "The address that the visitor gave, or `anonymous`.",
        "anonymous",
    );
    let address = text(
        "masked_ip",
        "The visitor's address without its last part.",
        "203.0.113.xxx",
    );
    with(with(share(), email), address)
}

fn downloaded_file() -> Field {
    let schema = json!({
        "type": ["string", "null"], "format": "uuid",
        "description": "The file or folder that the download is of; null for everything in the link.",
    });
    ("downloaded_file_id", schema, json!(OTHER_ID))
}

fn member() -> Vec<Field> {
    vec![
        id("team_id", "The team."),
        text("team_name", "Its name.", "Design"),
        id("user_id", "Who joined or left."),
        text("email", "Their address.", "member@example.com"),
        text("display_name", "Their name.", "Member"),
    ]
}

fn role() -> Field {
    choice(
        "role",
        "What they are in the team.",
        &["member", "admin", "owner"],
    )
}

/// Returns an object's schema with these fields, all of which are there, and an example of it.
fn object(fields: Vec<Field>) -> (Value, Value) {
    let names: Vec<&str> = fields.iter().map(|(name, ..)| *name).collect();
    let mut schema = json!({"type": "object", "required": names});
    let mut example = json!({});
    for (name, of_field, one) in fields {
        schema["properties"][name] = of_field;
        example[name] = one;
    }
    (schema, example)
}

/// Returns the schema of a delivery's body, and an example of it.
fn payload(kind: EventKind) -> (Value, Value) {
    let (data, example) = object(fields(kind));
    let event = json!({"type": "string", "const": kind.as_str()});
    let time =
        json!({"type": "string", "format": "date-time", "description": "When it happened, UTC."});
    object(vec![
        ("event", event, json!(kind)),
        ("timestamp", time, json!("2026-01-31T12:00:00.000Z")),
        ("data", data, example),
        id("webhook_id", "The webhook that gets it."),
        id("delivery_id", "The same in every attempt."),
    ])
}

fn header(name: &str, is_required: bool, description: &str, schema: Value) -> Value {
    json!({
        "name": name, "in": "header", "required": is_required,
        "description": description, "schema": schema,
    })
}

/// Returns the headers of a delivery.
fn headers(kind: EventKind) -> Vec<Value> {
    let signature = json!({"type": "string", "pattern": "^sha256=[0-9a-f]{64}$"});
    vec![
        header(
            SIGNATURE,
            true,
            "HMAC-SHA256 of the raw body under the webhook's secret. Compare it before anything else.",
            signature.clone(),
        ),
        header(
            NEXT_SIGNATURE,
            false,
            "The same under the new secret, for a day after it was replaced.",
            signature,
        ),
        header(
            "x-service-event",
            true,
            "The event.",
            json!({"type": "string", "const": kind.as_str()}),
        ),
        header(
            "x-service-delivery",
            true,
            "The delivery's id.",
            json!({"type": "string", "format": "uuid"}),
        ),
    ]
}

/// Returns the request that a receiver gets for an event.
fn delivery(kind: EventKind) -> Value {
    let (schema, example) = payload(kind);
    json!({
        "tags": ["webhooks"],
        "operationId": format!("webhooks_on_{}", kind.as_str().replace('.', "_")),
        "summary": occasion(kind),
        "security": [],
        "parameters": headers(kind),
        "requestBody": {
            "required": true,
            "content": {"application/json": {"schema": schema, "example": example}},
        },
        "responses": {
            "2XX": {"description": "It has arrived."},
            "default": {
                "description": "It has not, as without an answer within 30 seconds: it is sent again after \
                    1, 5 and 30 minutes, 2 and 12 hours, and has failed then.",
            },
        },
    })
}
