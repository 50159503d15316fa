//! `/keys`: the account's key bundle, its encryption keys wrapped by the client.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::Input;
use crate::http::if_match::if_match;
use crate::http::secret::show_once;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cairn_wire::keys::{KeyBundle, PutKeys, RecoverySetUp, RecoveryStatus, SetUpRecovery};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(get, put))
        .routes(routes!(recovery_status))
        .routes(routes!(set_up_recovery))
}

fn with_etag(bundle: KeyBundle) -> Response {
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
    responses(
        (status = 200, description = "The bundle; `ETag` is its version", body = KeyBundle),
        (status = 404, description = "The account has no keys yet")
    )
)]
async fn get(caller: Caller, State(app): State<AppState>) -> Result<Response> {
    Ok(with_etag(app.store.key_bundle(caller.account)?))
}

/// Stores the first bundle, or replaces it for somebody who knows the secret in force.
#[utoipa::path(
    put, path = "/api/v1/keys", tag = "keys", request_body = PutKeys,
    params(("If-Match" = Option<String>, Header, description = "The version to be replaced, in quotes")),
    responses(
        (status = 200, description = "The stored bundle", body = KeyBundle),
        (status = 403, description = "`current_auth` is not the one in force"),
        (status = 409, description = "The version does not grow"),
        (status = 412, description = "The bundle is at another version")
    )
)]
async fn put(
    caller: Caller,
    State(app): State<AppState>,
    headers: HeaderMap,
    Input(keys): Input<PutKeys>,
) -> Result<Response> {
    if keys.bundle.version == 0 || i64::try_from(keys.bundle.version).is_err() {
        return Err(Error::invalid("`bundle.version` counts from 1"));
    }
    let seen = if_match(&headers, || {
        let version = app.store.key_bundle(caller.account)?.version;
        Ok((version, version.to_string()))
    })?;
    app.store.put_key_bundle(caller.account, &keys, seen)?;
    Ok(with_etag(keys.bundle))
}

/// Returns the state of the recovery key: whether it is set up, who made it, and whether it opens files.
#[utoipa::path(
    get, path = "/api/v1/keys/recovery", tag = "keys",
    responses((status = 200, description = "The status", body = RecoveryStatus))
)]
async fn recovery_status(
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<RecoveryStatus>> {
    Ok(Json(app.store.recovery_status(caller.account)?))
}

/// Sets a recovery key up. A client that holds the keys sends what it wrapped; for one that does
/// not, the server makes a key that proves whose account it is and can open nothing.
#[utoipa::path(
    post, path = "/api/v1/keys/recovery/setup", tag = "keys", request_body = SetUpRecovery,
    responses(
        (status = 201, description = "The key, if the server made it; never shown again", body = RecoverySetUp),
        (status = 400, description = "A field is no 64 hexadecimal digits, or one of two is missing"),
        (status = 403, description = "`passphrase_hash` is not that of the passphrase in force"),
        (status = 409, description = "The account has no keys yet")
    )
)]
async fn set_up_recovery(
    caller: Caller,
    State(app): State<AppState>,
    Input(asked): Input<SetUpRecovery>,
) -> Result<Response> {
    let (recovery_key, status) = app.store.set_up_recovery(caller.account, &asked)?;
    let body = RecoverySetUp {
        recovery_key,
        status,
    };
    Ok(show_once((StatusCode::CREATED, Json(body))))
}
