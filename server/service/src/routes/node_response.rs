//! The response that has one node.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cairn_wire::nodes::Node;

/// Returns a response with a node, and its version as `ETag`.
pub(crate) fn node_response(status: StatusCode, node: Node) -> Response {
    let tag = HeaderValue::from_str(&format!("\"{}\"", node.version));
    let mut response = (status, Json(node)).into_response();
    if let Ok(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
