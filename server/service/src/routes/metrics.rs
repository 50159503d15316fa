//! `/metrics`: metrics for Prometheus, for those with the configured token, or at an address of their
//! own.

use crate::auth::bearer;
use crate::error::{Error, Result};
use crate::state::AppState;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use sha2::{Digest as _, Sha256};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const FORMAT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(metrics))
}

/// Returns what is served at the address that is for metrics alone.
pub(crate) fn own_address(app: &AppState) -> Router {
    Router::new()
        .route("/metrics", get(at_own_address))
        .fallback(refuse_other_paths)
        .with_state(app.clone())
}

async fn refuse_other_paths() -> Error {
    Error::not_found("there is nothing but /metrics at this address")
}

/// Refuses whoever does not send the token.
fn check(token: Option<&String>, headers: &HeaderMap) -> Result<()> {
    // Hashes take as long to compare, whatever was guessed of the token.
    if let (Some(token), Some(given)) = (token, bearer(headers))
        && Sha256::digest(token) == Sha256::digest(given)
    {
        return Ok(());
    }
    Err(Error::unauthorized(
        "send `Authorization: Bearer` with the token of `[metrics]` in the configuration",
    ))
}

/// Returns metrics of the whole server in the OpenMetrics text format, if the configuration has a token
/// for them.
#[utoipa::path(
    get, path = "/metrics", tag = "health",
    responses(
        (status = 200, description = "The metrics", body = String, content_type = "application/openmetrics-text"),
        (status = 401, description = "It is not the configured token"),
        (status = 404, description = "No token is configured")
    )
)]
async fn metrics(State(app): State<AppState>, headers: HeaderMap) -> Result<Response> {
    let token = app.options.metrics.token.as_ref();
    if token.is_none() && bearer(&headers).is_some() {
        return Err(Error::not_found(
            "metrics are served here if `[metrics]` in the configuration has a `token`",
        ));
    }
    check(token, &headers)?;
    text(&app)
}

async fn at_own_address(State(app): State<AppState>, headers: HeaderMap) -> Result<Response> {
    let token = app.options.metrics.token.as_ref();
    if token.is_some() {
        check(token, &headers)?;
    }
    text(&app)
}

fn text(app: &AppState) -> Result<Response> {
    let text = app.metrics.text(&app.store)?;
    Ok(([(header::CONTENT_TYPE, FORMAT)], text).into_response())
}
