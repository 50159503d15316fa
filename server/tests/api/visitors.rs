//! Requests of the visitors of a share link, and what a link carries for them.

use super::world::{Caller, TestResponse};
use axum::http::Method;
use cairn_wire::nodes::Node;
use cairn_wire::shares::Share;
use serde_json::{Value, json};

/// Puts a file into a link, with a listing that nobody can open.
pub(crate) async fn put_file(owner: &Caller, link: &Share, file: &Node) -> TestResponse {
    let files = json!({"files": [{"node_id": file.id, "revision_id": file.revision_id, "sealed": "c2VhbGVk"}]});
    owner
        .put(&format!("/api/v1/shares/{}/files", link.id), &files)
        .await
}

/// The path of a part of what a link gives to its visitors.
pub(crate) fn path(link: &Share, part: &str) -> String {
    format!("/api/v1/public/shares/{}{part}", link.short_code)
}

/// Asks a link for access.
pub(crate) async fn open(stranger: &Caller, link: &Share, body: Value) -> TestResponse {
    stranger.post(&path(link, "/open"), &body).await
}

/// Sends a request with the access that a link gave.
pub(crate) async fn with_access(
    stranger: &Caller,
    method: Method,
    path: &str,
    access: &str,
) -> TestResponse {
    let body = if method == Method::POST { "{}" } else { "" };
    stranger
        .send(method, path, &[("x-share-access", access)], body)
        .await
}

/// Begins a download of all that a link carries.
pub(crate) async fn begin(stranger: &Caller, link: &Share, access: &str) -> TestResponse {
    with_access(stranger, Method::POST, &path(link, "/downloads"), access).await
}
