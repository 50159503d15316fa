//! `/keys`: the account's wrapped keys.

use crate::app::Shared;
use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::{Input, if_match};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cairn_wire::keys::{KeyBundle, PutKeys};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(get, put))
}

fn answer(bundle: KeyBundle) -> Response {
    let tag = HeaderValue::from_str(&format!("\"{}\"", bundle.version));
    let mut response = (StatusCode::OK, Json(bundle)).into_response();
    if let Ok(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// The wrapped keys; 404 before they were made.
#[utoipa::path(
    get, path = "/api/v1/keys", tag = "keys",
    responses((status = 200, description = "The bundle; `ETag` is its version", body = KeyBundle))
)]
async fn get(caller: Caller, State(app): State<Shared>) -> Result<Response> {
    Ok(answer(app.store.key_bundle(caller.account)?))
}

/// Stores the first bundle, or replaces it for somebody who knows the secret in force.
#[utoipa::path(
    put, path = "/api/v1/keys", tag = "keys", request_body = PutKeys,
    params(("If-Match" = Option<String>, Header, description = "The version to be replaced, in quotes")),
    responses(
        (status = 200, description = "The stored bundle", body = KeyBundle),
        (status = 403, description = "`current_auth` is not the one in force", body = cairn_wire::ErrorBody),
        (status = 409, description = "The version does not grow", body = cairn_wire::ErrorBody),
        (status = 412, description = "The bundle is at another version", body = cairn_wire::ErrorBody)
    )
)]
async fn put(
    caller: Caller,
    State(app): State<Shared>,
    headers: HeaderMap,
    Input(keys): Input<PutKeys>,
) -> Result<Response> {
    if keys.bundle.version == 0 || i64::try_from(keys.bundle.version).is_err() {
        return Err(Error::invalid("`bundle.version` counts from 1"));
    }
    app.store
        .put_key_bundle(caller.account, &keys, if_match(&headers)?)?;
    Ok(answer(keys.bundle))
}
