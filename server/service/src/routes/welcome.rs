//! `/` for a browser: what this address is, and the icon of the pages.

use crate::error::Result;
use crate::http::nothing_at;
use crate::identity::page::{accepts_html, page};
use crate::state::AppState;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

const ICON: &str = include_str!("../../../../icons/app.svg");

const WELCOME: &str = "<p>This is a Cairn server. It keeps encrypted folders in sync between devices; it has no \
website to browse files.</p><p>To use your account, install Cairn on your device and enter the address of this \
page as the server address. On the command line: <code>cairn login --server</code> and this address.</p>\
<p><a href=\"/oauth/account\">Your account</a> shows where it is in use, and has its second factor and its \
password.</p>\
<p>If somebody gave you a link, check that you have copied all of it.</p>";

pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/", get(welcome))
        .route("/favicon.ico", get(icon))
}

/// The page for people; programs get the error that they get for any unknown path.
async fn welcome(State(app): State<AppState>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    if accepts_html(&headers) {
        Ok(page(
            &app.source,
            StatusCode::OK,
            "Cairn server",
            WELCOME,
            None,
        ))
    } else {
        Err(nothing_at(&uri))
    }
}

async fn icon() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CACHE_CONTROL, "max-age=86400"),
    ];
    (headers, ICON).into_response()
}
