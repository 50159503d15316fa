//! The parts that all operations have in common, written into the document: names that are unique,
//! the failures that any request can meet, with examples, and a description of each module.

use super::operations::operations;
use crate::http::idempotency::is_kept;
use crate::http::page::{DEFAULT_SIZE, MAX_SIZE};
use serde_json::{Map, Value, json};

/// The subject of each module. One that is missing here gets its name only.
const TAGS: [(&str, &str); 25] = [
    ("account", "The caller's account and what it uses."),
    (
        "admin",
        "Accounts of others, for those who administer the server.",
    ),
    ("ai", "The assistant."),
    ("apikeys", "Long-lived credentials for machines."),
    ("changes", "The change feed: what a sync client follows."),
    ("comments", "Comments on files."),
    ("devices", "The caller's installations."),
    (
        "diagnostics",
        "What stands in the way of an upload, and the state of the keys.",
    ),
    ("downloads", "Content down."),
    ("health", "Whether the server can do its work."),
    (
        "identity",
        "Logins and tokens: OpenID Connect, OAuth 2.0, service accounts. Errors under `/oauth` have the body of RFC 6749.",
    ),
    (
        "keys",
        "The account's wrapped keys, which the server can't open.",
    ),
    ("nodes", "Files and folders."),
    ("payments", "Plan, tokens, wallet and creators."),
    (
        "public-shares",
        "What people do with a link, without an account.",
    ),
    ("retention", "Rules that delete old files."),
    ("revisions", "The content versions of a file."),
    ("search", "Names and metadata."),
    ("shares", "Links for people without an account."),
    ("social", "Profiles, followers, notifications."),
    (
        "spaces",
        "The signed log of a space, binary: commits, pages, proofs, snapshots, sealed objects.",
    ),
    ("teams", "People who share a space."),
    ("trash", "What was deleted and can come back."),
    ("uploads", "Content up, in chunks or in batches."),
    ("webhooks", "Events, posted to an address of the caller's."),
];

/// Status, name of the shared response, description, example.
const FAILURES: [(&str, &str, &str, &str); 8] = [
    (
        "400",
        "BadRequest",
        "A parameter, a header or the body breaks a rule; the message names both.",
        "`page_size` is 500; it has to be 1 to 100",
    ),
    (
        "401",
        "Unauthorized",
        "The token is missing, unknown or expired.",
        "the access token has expired; get a new one",
    ),
    (
        "403",
        "Forbidden",
        "It exists, and the caller has no access to it; or the token does not reach that far.",
        "you have no access to the team 6f1c5d0e-8f0b-4a53-9d5c-0a4f8b6f2c11",
    ),
    (
        "404",
        "NotFound",
        "There is no such thing.",
        "there is no node 6f1c5d0e-8f0b-4a53-9d5c-0a4f8b6f2c11",
    ),
    (
        "409",
        "KeyInUse",
        "The `Idempotency-Key` was used for another request, or its response is not kept.",
        "this `Idempotency-Key` was used for another request; take a new one",
    ),
    (
        "415",
        "UnsupportedMediaType",
        "The body is of another media type than JSON.",
        "the body is `text/plain`; send JSON with `Content-Type: application/json`",
    ),
    (
        "429",
        "TooManyRequests",
        "Too many requests to this endpoint; `Retry-After` says when to come back.",
        "too many requests to GET /api/v1/nodes; try again in 2 s",
    ),
    (
        "503",
        "Unavailable",
        "The server's disk is full, or its database can't be reached: nothing was stored, and `Retry-After` says when to try \
         again. 507 is the caller's own quota.",
        "the server's disk is full: its operator has to make room",
    ),
];
/// The endpoints that store most.
const UPLOADS: &str = "/api/v1/uploads";
/// Any other failure that can happen.
const DEFAULT: (&str, &str, &str) = (
    "Failure",
    "The request failed.",
    "the server failed; its log has the cause under this response's X-Request-Id",
);

fn response(description: &str, schema: &str, example: Value) -> Value {
    json!({
        "description": description,
        "content": {"application/json": {
            "schema": {"$ref": format!("#/components/schemas/{schema}")},
            "example": example,
        }}
    })
}

fn refer(name: &str) -> Value {
    json!({ "$ref": format!("#/components/responses/{name}") })
}

/// Adds all of these parts to the document.
pub(super) fn complete(document: &mut Value) {
    unique_names(document);
    shared_responses(document);
    let paths = document["paths"].as_object_mut();
    for (path, item) in paths.into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            failures(path, method, operation);
            bounds(path, operation);
        }
    }
    tags(document);
    document["servers"] = json!([{"url": "/", "description": "This server"}]);
    document["info"]["license"] = json!({
        "name": "MIT OR Apache-2.0",
        "url": "https://spdx.org/licenses/MIT.html"
    });
}

/// Handlers are named within their module; a generated client wants names of its own for all.
fn unique_names(document: &mut Value) {
    for operation in operations(document) {
        let (tag, name) = (&operation["tags"][0], &operation["operationId"]);
        if let (Some(tag), Some(name)) = (tag.as_str(), name.as_str()) {
            operation["operationId"] = json!(format!("{tag}_{name}"));
        }
    }
}

fn shared_responses(document: &mut Value) {
    let mut responses = Map::new();
    for (status, name, description, message) in FAILURES {
        let code: u16 = status.parse().unwrap_or_default();
        let example = json!({"code": code, "message": message});
        responses.insert(name.into(), response(description, "ErrorBody", example));
    }
    for name in ["TooManyRequests", "Unavailable"] {
        responses[name]["headers"] = retry_after();
    }
    let (name, description, message) = DEFAULT;
    let example = json!({"code": 500, "message": message});
    responses.insert(name.into(), response(description, "ErrorBody", example));
    let example =
        json!({"error": "invalid_request", "error_description": "'client_id' is missing"});
    responses.insert(
        "OAuthFailure".into(),
        response("The request failed.", "OAuthErrorBody", example),
    );
    document["components"]["responses"] = Value::Object(responses);
}

/// Returns the header that says how long to wait.
fn retry_after() -> Value {
    json!({"Retry-After": {
        "description": "Seconds to wait.",
        "schema": {"type": "integer", "minimum": 1}
    }})
}

/// Describes the refusal of too many requests under `/oauth`: a page for a browser, the body of RFC 6749 for programs.
fn too_many_for_oauth(responses: &mut Map<String, Value>) {
    let limited = responses
        .entry("429")
        .or_insert_with(|| json!({"description": "Too many requests to this endpoint"}));
    limited["headers"] = retry_after();
    let schema = json!({"$ref": "#/components/schemas/OAuthErrorBody"});
    let content = json!({
        "application/json": {"schema": schema, "example": {"error": "temporarily_unavailable"}},
        "text/html": {"schema": {"type": "string"}},
    });
    limited["content"] = content;
}

/// Gives every failure its body, and adds those that any request can meet.
fn failures(path: &str, method: &str, operation: &mut Value) {
    let open = operation["security"] == json!([{}]);
    let takes_json = operation
        .pointer("/requestBody/content/application~1json")
        .is_some();
    let oauth = path.starts_with("/oauth/");
    let in_space = !open && path.starts_with("/api/");
    let Some(responses) = operation["responses"].as_object_mut() else {
        return;
    };
    let body = if oauth { "OAuthErrorBody" } else { "ErrorBody" };
    for (status, response) in responses.iter_mut() {
        // The pages among them say what they are.
        if status.as_str() >= "400" && response.get("content").is_none() {
            let schema = json!({"$ref": format!("#/components/schemas/{body}")});
            response["content"] = json!({"application/json": {"schema": schema}});
        }
    }
    if oauth {
        too_many_for_oauth(responses);
    }
    for (status, name, ..) in FAILURES {
        let possible = match status {
            "401" => !open,
            // A token may only read, and `X-Space-Id` may name a space of others.
            "403" => !open,
            "415" => takes_json && !oauth,
            "404" => path.contains('{') || in_space,
            "409" => in_space && method == "post" && is_kept(path),
            "503" => path.starts_with(UPLOADS),
            "400" => !oauth,
            _ => true,
        };
        if possible && !responses.contains_key(status) {
            responses.insert(status.into(), refer(name));
        }
    }
    let default = if oauth { "OAuthFailure" } else { DEFAULT.0 };
    responses.insert("default".into(), refer(default));
}

/// The bounds and defaults of the two parameters that every list has. Those of share links count from 0, as the published
/// API does.
fn bounds(path: &str, operation: &mut Value) {
    let first = u64::from(!path.contains("/shares"));
    let number = format!("The page, counted from {first}.");
    let parameters = operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let (least, most, default, words) = match parameter["name"].as_str() {
            Some("page_size") => (1, MAX_SIZE, DEFAULT_SIZE, "Items on a page."),
            Some("size") if first == 0 => (1, MAX_SIZE, DEFAULT_SIZE, "Items on a page."),
            Some("page") => (first, i64::MAX.unsigned_abs(), first, number.as_str()),
            Some(_) | None => continue,
        };
        let schema = &mut parameter["schema"];
        schema["minimum"] = json!(least);
        schema["maximum"] = json!(most);
        schema["default"] = json!(default);
        if parameter.get("description").is_none_or(Value::is_null) {
            parameter["description"] = json!(words);
        }
    }
}

fn tags(document: &mut Value) {
    let mut names: Vec<String> = operations(document)
        .iter()
        .filter_map(|operation| operation["tags"][0].as_str().map(str::to_owned))
        .collect();
    names.sort_unstable();
    names.dedup();
    document["tags"] = names
        .into_iter()
        .map(|name| {
            let description = TAGS.iter().find(|(tag, _)| *tag == name);
            let description = description.map_or(name.as_str(), |(_, description)| description);
            json!({"name": name, "description": description})
        })
        .collect();
}
