//! `/console`: a page to look into a development server and to steer it.
//!
//! It does nothing that the interfaces under `/api/v1` and `/_dev` don't do; everything that it loads
//! is in this program.

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use cairn_service::AppState;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

pub(super) fn routes() -> Router<AppState> {
    let page = || async { part(HTML, include_str!("console/index.html")) };
    Router::new()
        .route("/console", get(page))
        .route("/console/", get(page))
        .route(
            "/console/console.css",
            get(|| async { part(CSS, include_str!("console/console.css")) }),
        )
        .route(
            "/console/api.js",
            get(|| async { part(SCRIPT, include_str!("console/api.js")) }),
        )
        .route(
            "/console/service.js",
            get(|| async { part(SCRIPT, include_str!("console/service.js")) }),
        )
        .route(
            "/console/server.js",
            get(|| async { part(SCRIPT, include_str!("console/server.js")) }),
        )
}

fn part(media: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}
