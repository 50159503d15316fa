//! The OpenAPI documents: one for everything, one per module, and the page that shows them.
//!
//! They are generated from the handlers; what every operation has in common is added by
//! [`described`].

mod binary;
mod closed;
mod described;
mod example;
pub(crate) mod head;
mod headers;
mod limits;
mod links;
mod operations;
mod streams;
mod webhooks;

use crate::error::{Error, Result};
use crate::http::check;
use crate::http::extract::PathArgs;
use crate::routes;
use crate::state::AppState;
use axum::http::{HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use operations::operations;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use utoipa_swagger_ui::{Config, SwaggerUi};

/// Collections that the published API spells with a trailing slash; both forms are served.
const WITH_SLASH: &[&str] = &[
    "/api/v1/nodes",
    "/api/v1/payment/subscriptions",
    "/api/v1/search",
    "/api/v1/teams",
    "/api/v1/shares",
    "/api/v1/webhooks",
];

/// The module whose document also has what webhooks get.
const WEBHOOKS: &str = "webhooks";

/// The whole document.
#[must_use]
pub fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let (_, document) = routes::api().split_for_parts();
        let mut document = serde_json::to_value(document).unwrap_or_default();
        if let Some(paths) = document["paths"].as_object_mut() {
            for path in WITH_SLASH {
                if let Some(item) = paths.remove(*path) {
                    paths.insert(format!("{path}/"), item);
                }
            }
        }
        described::complete(&mut document);
        headers::complete(&mut document);
        streams::complete(&mut document);
        binary::complete(&mut document);
        webhooks::complete(&mut document);
        closed::complete(&mut document);
        limits::complete(&mut document);
        example::complete(&mut document);
        links::complete(&mut document);
        prune(&mut document);
        document
    })
}

/// The modules that have a document of their own.
#[must_use]
pub fn modules() -> Vec<String> {
    let mut document = document().clone();
    let tags: BTreeSet<String> = operations(&mut document)
        .into_iter()
        .filter_map(|operation| operation["tags"][0].as_str().map(str::to_owned))
        .collect();
    tags.into_iter().collect()
}

/// One module's document, with only the schemas that it speaks of.
#[must_use]
pub fn module(name: &str) -> Option<Value> {
    let mut document = document().clone();
    let paths = document["paths"].as_object_mut()?;
    for item in paths.values_mut() {
        item.as_object_mut()?
            .retain(|_, operation| operation["tags"][0] == name);
    }
    paths.retain(|_, item| item.as_object().is_some_and(|item| !item.is_empty()));
    if paths.is_empty() {
        return None;
    }
    document["info"]["title"] = json!(format!("Cairn storage service: {name}"));
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.retain(|tag| tag["name"] == name);
    }
    if name != WEBHOOKS
        && let Some(document) = document.as_object_mut()
    {
        document.remove("webhooks");
    }
    links::prune(&mut document);
    prune(&mut document);
    Some(document)
}

/// Leaves only the parameters, responses and schemas that the endpoints speak of.
fn prune(document: &mut Value) {
    for kind in ["parameters", "responses"] {
        let used = names(&document["paths"], &format!("#/components/{kind}/"));
        if let Some(all) = document["components"][kind].as_object_mut() {
            all.retain(|name, _| used.contains(name));
        }
    }
    let mut used = BTreeSet::new();
    let mut fresh = references(&document["paths"]);
    fresh.extend(references(&document["components"]["responses"]));
    while let Some(schema) = fresh.pop_first() {
        if used.insert(schema.clone()) {
            fresh.extend(references(&document["components"]["schemas"][&schema]));
        }
    }
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.retain(|schema, _| used.contains(schema));
    }
}

/// The names of the schemas that a value refers to.
fn references(value: &Value) -> BTreeSet<String> {
    names(value, "#/components/schemas/")
}

/// The names below `place` that a value refers to.
fn names(value: &Value, place: &str) -> BTreeSet<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(
                |(key, value)| match value.as_str().and_then(|v| v.strip_prefix(place)) {
                    Some(name) if key == "$ref" => BTreeSet::from([name.to_owned()]),
                    Some(_) | None => names(value, place),
                },
            )
            .collect(),
        Value::Array(values) => values
            .iter()
            .flat_map(|value| names(value, place))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}

/// The documents and Swagger UI.
pub(crate) fn routes() -> Router<AppState> {
    check::use_document(document);
    let mut urls = vec!["/api/v1/openapi.json".to_owned()];
    urls.extend(
        modules()
            .iter()
            .map(|module| format!("/api/v1/openapi/{module}.json")),
    );
    let page: Router<AppState> = SwaggerUi::new("/swagger-ui")
        .config(Config::new(urls))
        .into();
    let page = page.layer(map_response(guard));
    Router::new()
        .route("/api/v1/openapi.json", get(full_document))
        .route("/api/v1/openapi/{document}", get(one))
        .merge(page)
}

/// Adds headers: the page loads only this server's scripts, and no other site can frame it. Its HTML has inline styles.
async fn guard(mut response: Response) -> Response {
    for (name, value) in [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
             connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn full_document() -> Response {
    let text = serde_json::to_string(document()).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn one(PathArgs(name): PathArgs<String>) -> Result<Json<Value>> {
    name.strip_suffix(".json")
        .and_then(module)
        .map(Json)
        .ok_or_else(|| {
            Error::not_found(format!(
                "there is no document {name}; the modules are {}",
                modules().join(", ")
            ))
        })
}
