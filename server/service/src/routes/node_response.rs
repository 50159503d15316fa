//! The response that has one node (file or folder).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cairn_wire::nodes::{Node, NodeState};

/// Returns the content of a node's `ETag`: its version, and what changes without it. A node in a folder that goes
/// into the trash, and out of it again, keeps its version; its state and its position in the feed change.
pub(crate) fn node_tag(node: &Node) -> String {
    match node.state {
        NodeState::Active => format!("{}.{}", node.version, node.seq),
        NodeState::Trashed => format!("{}.{}.trashed", node.version, node.seq),
    }
}

/// Returns a response with a node and its `ETag`.
pub(crate) fn node_response(status: StatusCode, node: Node) -> Response {
    let tag = HeaderValue::from_str(&format!("\"{}\"", node_tag(&node)));
    let mut response = (status, Json(node)).into_response();
    if let Ok(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
