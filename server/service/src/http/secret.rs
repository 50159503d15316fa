//! Responses that show a secret, once: nothing keeps them, the responses that are remembered for repeated requests
//! included.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Marks a response as one that nobody may keep.
pub(crate) fn show_once(response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
