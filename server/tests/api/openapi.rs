//! The documents: every endpoint is in them, and they hang together.

use super::world::World;
use cairn_server::openapi;
use serde_json::Value;
use std::collections::BTreeSet;

const ENDPOINTS: &[&str] = &[
    "get /api/v1/nodes/",
    "post /api/v1/nodes/",
    "get /api/v1/nodes/{id}",
    "put /api/v1/nodes/{id}",
    "delete /api/v1/nodes/{id}",
    "post /api/v1/nodes/{id}/copy",
    "post /api/v1/nodes/{id}/restore",
    "post /api/v1/nodes/batch",
    "get /api/v1/nodes/{id}/revisions",
    "post /api/v1/revisions/batch",
    "get /api/v1/nodes/{id}/revisions/{revision}/manifest",
    "post /api/v1/nodes/{id}/revisions/{revision}/restore",
    "get /api/v1/trash",
    "delete /api/v1/trash",
    "delete /api/v1/trash/{id}",
    "post /api/v1/trash/{id}/restore",
    "post /api/v1/uploads",
    "get /api/v1/uploads/{id}",
    "delete /api/v1/uploads/{id}",
    "put /api/v1/uploads/{id}/chunks/{chunk}",
    "post /api/v1/uploads/{id}/complete",
    "post /api/v1/uploads/batch",
    "get /api/v1/chunks/{id}",
    "get /api/v1/chunks/damaged",
    "get /api/v1/checkpoints",
    "put /api/v1/checkpoints",
    "post /api/v1/downloads/batch",
    "post /api/v1/spaces/{id}/commits",
    "get /api/v1/spaces/{id}/log",
    "get /api/v1/spaces/{id}/proof",
    "get /api/v1/spaces/{id}/snapshot",
    "put /api/v1/spaces/{id}/objects/{object}",
    "head /api/v1/spaces/{id}/objects/{object}",
    "get /api/v1/spaces/{id}/objects/{object}",
    "get /api/v1/changes",
    "get /api/v1/changes/past",
    "get /api/v1/changes/snapshot",
    "get /api/v1/changes/stream",
    "get /api/v1/keys",
    "put /api/v1/keys",
    "get /api/v1/useraccount/composite",
    "get /api/v1/userusage/quota-limit",
    "get /api/v1/apikeys",
    "post /api/v1/apikeys",
    "delete /api/v1/apikeys/{id}",
    "get /api/v1/devices",
    "put /api/v1/devices/{id}",
    "delete /api/v1/devices/{id}",
    "get /api/v1/search/",
    "post /api/v1/nodes/folders",
    "get /api/v1/nodes/folder-sizes",
    "put /api/v1/nodes/{id}/favorite",
    "delete /api/v1/nodes/{id}/favorite",
    "get /api/v1/nodes/{id}/comments",
    "post /api/v1/nodes/{id}/comments",
    "post /api/v1/nodes/{id}/comments/{parent}/replies",
    "get /api/v1/comments/{id}",
    "delete /api/v1/comments/{id}",
    "get /api/v1/shares/",
    "post /api/v1/shares/",
    "get /api/v1/shares/{id}",
    "put /api/v1/shares/{id}",
    "delete /api/v1/shares/{id}",
    "put /api/v1/shares/{id}/files",
    "post /api/v1/shares/{id}/toggle",
    "get /api/v1/shares/{id}/access-log",
    "get /api/v1/shares/{id}/audit",
    "get /api/v1/shares/{id}/health",
    "post /api/v1/shares/email",
    "post /api/v1/shares/bulk",
    "get /api/v1/shares/defaults",
    "put /api/v1/shares/defaults",
    "get /api/v1/shares/theme",
    "put /api/v1/shares/theme",
    "get /api/v1/public/shares/{code}",
    "post /api/v1/public/shares/{code}/open",
    "post /api/v1/public/shares/{code}/downloads",
    "get /api/v1/public/shares/{code}/chunks/{chunk}",
    "get /api/v1/retention-rules",
    "post /api/v1/retention-rules",
    "delete /api/v1/retention-rules/{id}",
    "get /api/v1/diagnostics/upload",
    "get /api/v1/diagnostics/encryption",
    "post /api/v1/ai/chat",
    "get /api/v1/ai/usage",
    "post /api/v1/ai/classify",
    "get /api/v1/health",
    "get /api/v1/ready",
    "get /metrics",
    "get /api/v1/webhooks/",
    "post /api/v1/webhooks/",
    "put /api/v1/webhooks/{id}",
    "delete /api/v1/webhooks/{id}",
    "post /api/v1/webhooks/{id}/test",
    "post /api/v1/webhooks/{id}/rotate",
    "post /api/v1/webhooks/{id}/enable",
    "post /api/v1/webhooks/{id}/disable",
    "get /api/v1/webhooks/{id}/deliveries",
    "post /api/v1/webhooks/{id}/deliveries/{delivery}/retry",
    "get /api/v1/service-accounts",
    "post /api/v1/service-accounts",
    "delete /api/v1/service-accounts/{id}",
    "get /.well-known/openid-configuration",
    "get /.well-known/oauth-authorization-server",
    "get /oauth/jwks",
    "get /oauth/authorize",
    "post /oauth/authorize",
    "get /oauth/forgotten",
    "post /oauth/forgotten",
    "get /oauth/password",
    "post /oauth/password",
    "post /oauth/token",
    "post /oauth/revoke",
    "get /oauth/userinfo",
    "post /oauth/userinfo",
    "post /oauth/device_authorization",
    "get /oauth/device",
    "post /oauth/device",
    "post /oauth/second-factor",
    "get /oauth/account",
    "post /oauth/account",
    "post /oauth/account/change",
    "get /api/v1/teams/",
    "post /api/v1/teams/",
    "get /api/v1/teams/{id}",
    "put /api/v1/teams/{id}",
    "delete /api/v1/teams/{id}",
    "get /api/v1/teams/{id}/members",
    "put /api/v1/teams/{id}/members/{user_id}",
    "delete /api/v1/teams/{id}/members/{user_id}",
    "post /api/v1/teams/{id}/members/{user_id}/offboard",
    "post /api/v1/teams/{id}/invite",
    "get /api/v1/teams/{id}/invitations",
    "delete /api/v1/teams/{id}/invitations/{invitation_id}",
    "get /api/v1/teams/invitations",
    "post /api/v1/teams/invitations/{invitation_id}/accept",
    "post /api/v1/teams/invitations/{invitation_id}/decline",
    "get /api/v1/teams/{id}/quota",
    "get /api/v1/teams/{id}/permissions",
    "get /api/v1/teams/{id}/storage",
    "get /api/v1/teams/{id}/keys",
    "put /api/v1/teams/{id}/keys",
    "get /api/v1/social/profile",
    "put /api/v1/social/profile",
    "get /api/v1/social/profiles/{user_id}",
    "put /api/v1/social/username",
    "put /api/v1/social/vanity-url",
    "put /api/v1/social/visibility",
    "post /api/v1/social/follow/{user_id}",
    "delete /api/v1/social/follow/{user_id}",
    "post /api/v1/social/follow/bulk",
    "get /api/v1/social/followers",
    "get /api/v1/social/following",
    "get /api/v1/social/suggestions",
    "get /api/v1/social/connections/{user_id}",
    "post /api/v1/social/block/{user_id}",
    "delete /api/v1/social/block/{user_id}",
    "post /api/v1/social/mute/{user_id}",
    "delete /api/v1/social/mute/{user_id}",
    "post /api/v1/social/reports",
    "get /api/v1/social/feed",
    "get /api/v1/social/tip-jars/{id}",
    "post /api/v1/social/tips",
    "get /api/v1/social/notifications",
    "put /api/v1/social/notifications/{id}/read",
    "get /api/v1/payment/subscriptions/",
    "post /api/v1/payment/subscriptions/",
    "get /api/v1/payment/tokens/balance",
    "get /api/v1/payment/tokens/packs",
    "post /api/v1/payment/tokens/purchase",
    "get /api/v1/payment/billing-portal",
    "get /api/v1/payment/wallet",
    "post /api/v1/payment/wallet/deposits",
    "get /api/v1/payment/withdrawals",
    "post /api/v1/payment/withdrawals",
    "get /api/v1/payment/coupons/{code}",
    "get /api/v1/payment/spending-alerts",
    "put /api/v1/payment/spending-alerts",
    "get /api/v1/payment/creator/plans",
    "get /api/v1/payment/creator/plans/{id}",
    "post /api/v1/payment/creator/plans",
    "get /api/v1/payment/creator/subscriptions",
    "post /api/v1/payment/creator/subscriptions",
    "delete /api/v1/payment/creator/subscriptions/{creator_id}",
    "get /api/v1/payment/creator/earnings",
    "get /api/v1/keys/recovery",
    "post /api/v1/keys/recovery/setup",
    "get /api/v1/useraccount/email-preferences",
    "put /api/v1/useraccount/email-preferences",
    "get /api/v1/useraccount/encryption-audit",
    "delete /api/v1/useraccount",
    "post /api/v1/useraccount/restore",
    "get /api/v1/admin/accounts",
    "get /api/v1/admin/accounts/{id}",
    "delete /api/v1/admin/accounts/{id}",
    "post /api/v1/admin/accounts/{id}/disable",
    "post /api/v1/admin/accounts/{id}/enable",
    "put /api/v1/admin/accounts/{id}/quota",
    "put /api/v1/admin/accounts/{id}/password",
    "delete /api/v1/admin/accounts/{id}/second-factor",
    "get /api/v1/admin/accounts/{id}/sessions",
    "delete /api/v1/admin/accounts/{id}/sessions",
    "delete /api/v1/admin/accounts/{id}/sessions/{session}",
    "post /api/v1/admin/invitations",
    "get /api/v1/admin/events",
    "get /api/v1/admin/reports",
    "put /api/v1/admin/reports/{id}",
    "get /api/v1/useraccount/second-factor",
    "post /api/v1/useraccount/second-factor",
    "post /api/v1/useraccount/second-factor/confirm",
    "post /api/v1/useraccount/second-factor/remove",
];

fn operations(document: &Value) -> BTreeSet<String> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, item)| {
            item.as_object()
                .unwrap()
                .keys()
                .map(move |method| format!("{method} {path}"))
        })
        .collect()
}

fn references(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get("$ref") {
                into.insert(target.clone());
            }
            fields.values().for_each(|value| references(value, into));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn hangs_together(document: &Value) {
    let mut targets = BTreeSet::new();
    references(document, &mut targets);
    for target in targets {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target} is missing");
    }
}

#[test]
fn every_endpoint_is_described_and_listed_here() {
    let document = openapi::document();
    let described = operations(document);
    let expected: BTreeSet<String> = ENDPOINTS.iter().map(|text| (*text).to_owned()).collect();
    let lacking: Vec<_> = expected.difference(&described).collect();
    let unlisted: Vec<_> = described.difference(&expected).collect();
    assert!(
        lacking.is_empty() && unlisted.is_empty(),
        "not described: {lacking:?}; not in the list here: {unlisted:?}"
    );
    hangs_together(document);
    let mut ids = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            assert!(
                operation["responses"]["default"]["$ref"].is_string(),
                "{operation}"
            );
            assert!(operation["summary"].is_string() || operation["description"].is_string());
            assert!(ids.insert(operation["operationId"].to_string()));
        }
    }
}

/// A path with ids of nothing in its places.
pub(crate) fn fill_path(template: &str) -> String {
    let parts = template.split('/').map(|part| match part {
        "{chunk}" => "0".repeat(64),
        _ if part.starts_with('{') => "00000000-0000-4000-8000-000000000000".into(),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn what_is_described_is_served() {
    let world = World::new();
    let document = openapi::document();
    for endpoint in operations(document) {
        let (method, template) = endpoint.split_once(' ').unwrap();
        let path = fill_path(template);
        let open = document["paths"][template][method]["security"] == serde_json::json!([{}]);
        let method = method.to_uppercase().parse().unwrap();
        let response = world.nobody().send(method, &path, &[], "").await;
        let status = response.status.as_u16();
        if open {
            let text = String::from_utf8_lossy(&response.body);
            let served = status != 405 && !text.contains("there is nothing at");
            assert!(served, "{endpoint}: {text}");
        } else {
            assert_eq!(status, 401, "{endpoint}");
        }
    }
}

#[tokio::test]
async fn each_module_has_its_own_document_and_one_page_shows_them() {
    let world = World::new();
    let nobody = world.nobody();
    let whole: Value = nobody.get("/api/v1/openapi.json").await.ok();
    assert_eq!(&whole, openapi::document());
    let mut together = BTreeSet::new();
    for module in openapi::modules() {
        let document: Value = nobody
            .get(&format!("/api/v1/openapi/{module}.json"))
            .await
            .ok();
        hangs_together(&document);
        let its = operations(&document);
        assert!(!its.is_empty() && together.is_disjoint(&its), "{module}");
        together.extend(its);
    }
    assert_eq!(together, operations(&whole));
    nobody.get("/api/v1/openapi/nothing.json").await.failed(404);
    let page = nobody.get("/swagger-ui/").await;
    page.done(200);
    assert!(String::from_utf8_lossy(&page.body).contains("swagger-ui"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("x-frame-options"), "DENY");
    nobody
        .get("/swagger-ui/swagger-ui-bundle.js")
        .await
        .done(200);
    let initializer = nobody.get("/swagger-ui/swagger-initializer.js").await;
    assert!(String::from_utf8_lossy(&initializer.body).contains("/api/v1/openapi/uploads.json"));
}

#[test]
fn a_stream_is_described_event_by_event() {
    let document = openapi::document();
    let response = &document["paths"]["/api/v1/ai/chat"]["post"]["responses"]["200"];
    let event = &response["content"]["text/event-stream"]["schema"]["properties"];
    assert_eq!(
        event["event"]["enum"],
        serde_json::json!(["delta", "usage", "done", "error"])
    );
    assert_eq!(event["data"]["contentMediaType"], "application/json");
    for data in event["data"]["contentSchema"]["oneOf"].as_array().unwrap() {
        let name = data["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        assert!(
            document["components"]["schemas"][name].is_object(),
            "{name}"
        );
    }
}

/// Schemas that are put together from others.
fn collect_composed(value: &Value, into: &mut Vec<Value>) {
    match value {
        Value::Object(fields) => {
            into.extend(fields.get("allOf").cloned());
            fields
                .values()
                .for_each(|value| collect_composed(value, into));
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_composed(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn no_schema_forbids_what_it_is_put_together_from() {
    let document = openapi::document();
    let mut found = Vec::new();
    collect_composed(document, &mut found);
    for parts in found {
        let mut targets = BTreeSet::new();
        references(&parts, &mut targets);
        for target in targets {
            let part = document.pointer(&target[1..]).unwrap();
            assert_ne!(part["additionalProperties"], false, "{target} in {parts}");
        }
    }
    let file = &document["components"]["schemas"]["BatchFile"];
    assert_eq!(file["additionalProperties"], false, "{file}");
    assert!(file["properties"]["manifest"].is_object() && file["properties"]["chunks"].is_object());
}

/// A schema with the fields of those that it is put together from.
fn merged_fields(document: &Value, schema: &Value) -> serde_json::Map<String, Value> {
    let mut properties = serde_json::Map::new();
    if let Some(target) = schema["$ref"].as_str() {
        properties.extend(merged_fields(
            document,
            document.pointer(&target[1..]).unwrap(),
        ));
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        properties.extend(merged_fields(document, part));
    }
    properties.extend(
        schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default(),
    );
    properties
}

/// Endpoints whose response holds a list and is none: parts of one thing, bounded by it.
const NO_LISTS: [&str; 17] = [
    "/api/v1/changes",
    "/api/v1/changes/past",
    "/api/v1/changes/snapshot",
    "/api/v1/checkpoints",
    "/api/v1/chunks/damaged",
    "/api/v1/comments/{id}",
    "/api/v1/diagnostics/encryption",
    "/api/v1/diagnostics/upload",
    "/api/v1/keys",
    "/api/v1/nodes/folder-sizes",
    "/api/v1/nodes/{id}",
    "/api/v1/nodes/{id}/revisions/{revision}/manifest",
    "/api/v1/payment/subscriptions/",
    "/api/v1/payment/tokens/packs",
    "/api/v1/teams/{id}",
    "/api/v1/teams/{id}/keys",
    "/api/v1/uploads/{id}",
];

#[test]
fn every_list_comes_in_the_envelope_and_takes_a_page() {
    let document = openapi::document();
    for (path, item) in document["paths"].as_object().unwrap() {
        let operation = &item["get"];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let fields = merged_fields(document, schema);
        let holds_list = fields.values().any(|field| field["type"] == "array");
        let single = NO_LISTS.contains(&path.as_str()) || path.starts_with("/api/v1/shares/{id}");
        let single = single && !fields.contains_key("totalElements");
        if !path.starts_with("/api/") || !holds_list || single {
            continue;
        }
        for name in ["content", "totalElements", "totalPages", "page", "pageSize"] {
            assert!(fields.contains_key(name), "{path} lacks {name}");
        }
        let parameters = operation["parameters"].as_array().unwrap();
        // The published API fixes the size of the feed's pages.
        let sized = path != "/api/v1/social/feed";
        for name in ["page", "page_size"]
            .into_iter()
            .take(1 + usize::from(sized))
        {
            assert!(
                parameters.iter().any(|one| one["name"] == name),
                "{path}: {name}"
            );
        }
    }
}

/// Headers that HTTP itself, or a proxy in front of the server, gives a meaning to: described elsewhere, or not ours
/// to describe.
const OF_HTTP: [&str; 13] = [
    "accept",
    "accept-encoding",
    "access-control-request-method",
    "authorization",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "origin",
    "x-forwarded-for",
    "x-forwarded-proto",
];

/// Headers that the server reads from its own responses.
const OF_RESPONSES: [&str; 4] = ["cache-control", "etag", "retry-after", "www-authenticate"];

/// The Rust files below a directory.
fn sources(dir: &std::path::Path, into: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The header that the argument of a look-up names, if it names one.
fn header_name(argument: &str, ours: &str) -> Option<String> {
    if let Some(literal) = argument.strip_prefix('"') {
        return literal.split('"').next().map(str::to_owned);
    }
    if let Some(constant) = argument.strip_prefix("header::") {
        return Some(constant.to_lowercase().replace('_', "-"));
    }
    let is_constant = argument.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let (_, rest) = ours.split_once(&format!("pub const {argument}: &str = \""))?;
    rest.split('"')
        .next()
        .filter(|_| is_constant)
        .map(str::to_owned)
}

/// The headers that the service reads from requests, as its sources name them.
fn headers_read() -> BTreeSet<String> {
    let server = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let ours = server.join("../daemon/crates/wire/src/headers.rs");
    let ours = std::fs::read_to_string(ours).unwrap();
    let mut files = Vec::new();
    sources(&server.join("service/src"), &mut files);
    let mut found = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let text: String = text.split_whitespace().collect();
        for look_up in [
            "headers.get(",
            "headers().get(",
            "headers.get_all(",
            "headers().get_all(",
            "headers.contains_key(",
            "headers().contains_key(",
            "uuid_header(headers,",
        ] {
            for (at, _) in text.match_indices(look_up) {
                let argument = text[at + look_up.len()..].split([')', ',']).next().unwrap();
                found.extend(header_name(argument, &ours));
            }
        }
    }
    found
}

#[test]
fn every_header_that_is_read_is_described() {
    let document = openapi::document();
    let read = headers_read();
    for ours in [
        "x-space-id",
        "x-device-id",
        "idempotency-key",
        "last-event-id",
        "if-match",
    ] {
        assert!(
            read.contains(ours),
            "{ours} is not found in the sources: {read:?}"
        );
    }
    let mut described = BTreeSet::new();
    let mut collect = |parameter: &Value| {
        if parameter["in"] == "header" {
            described.insert(parameter["name"].as_str().unwrap().to_lowercase());
        }
    };
    document["components"]["parameters"]
        .as_object()
        .unwrap()
        .values()
        .for_each(&mut collect);
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let own = operation["parameters"].as_array();
            own.into_iter().flatten().for_each(&mut collect);
        }
    }
    let introduction = document["info"]["description"]
        .as_str()
        .unwrap()
        .to_lowercase();
    for header in read {
        let elsewhere =
            OF_HTTP.contains(&header.as_str()) || OF_RESPONSES.contains(&header.as_str());
        assert!(
            elsewhere || described.contains(&header) || introduction.contains(&header),
            "{header} is read and not described"
        );
    }
}

fn refers(document: &Value, path: &str, method: &str, parameter: &str) -> bool {
    let target = format!("#/components/parameters/{parameter}");
    let parameters = document["paths"][path][method]["parameters"].as_array();
    parameters.is_some_and(|all| all.iter().any(|one| one["$ref"] == target))
}

#[test]
fn headers_are_described_where_they_mean_something() {
    let document = openapi::document();
    let node = "/api/v1/nodes/{id}";
    for (path, method, parameter, expected) in [
        ("/api/v1/nodes/", "get", "SpaceId", true),
        ("/api/v1/nodes/", "post", "IdempotencyKey", true),
        ("/api/v1/nodes/", "get", "IdempotencyKey", false),
        ("/api/v1/uploads", "post", "IdempotencyKey", false),
        ("/api/v1/uploads", "post", "DeviceId", true),
        (
            "/api/v1/public/shares/{code}/open",
            "post",
            "SpaceId",
            false,
        ),
        (
            "/api/v1/public/shares/{code}/open",
            "post",
            "IdempotencyKey",
            false,
        ),
        ("/api/v1/changes/stream", "get", "LastEventId", true),
        ("/api/v1/changes", "get", "LastEventId", false),
        (node, "get", "IfNoneMatch", true),
        (node, "put", "IfNoneMatch", false),
    ] {
        let found = refers(document, path, method, parameter);
        assert_eq!(found, expected, "{method} {path}: {parameter}");
    }
    let responses = |path: &str, method: &str| document["paths"][path][method]["responses"].clone();
    for (path, method, status) in [
        (node, "get", "200"),
        (node, "put", "200"),
        (node, "put", "412"),
        ("/api/v1/nodes/", "post", "201"),
        ("/api/v1/keys", "get", "200"),
        ("/api/v1/chunks/{id}", "get", "206"),
    ] {
        let response = &responses(path, method)[status];
        assert!(
            response["headers"]["ETag"].is_object(),
            "{method} {path}: {response}"
        );
    }
    assert!(responses(node, "get")["304"].is_object());
    assert!(responses(node, "delete")["200"]["headers"]["ETag"].is_object());
}

#[test]
fn choices_of_the_query_are_listed() {
    let document = openapi::document();
    for (path, name, first) in [
        ("/api/v1/nodes/", "state", "active"),
        ("/api/v1/nodes/", "sort_by", "name"),
        ("/api/v1/search/", "mode", "quick"),
        ("/api/v1/search/", "category", "image"),
    ] {
        let parameters = document["paths"][path]["get"]["parameters"]
            .as_array()
            .unwrap();
        let parameter = parameters.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(parameter["schema"]["enum"][0], first, "{path}: {name}");
    }
}
