//! Finds a file on both sides: its local path, and its node on the service.

use super::folders::SyncedFolders;
use super::meaning::{Found, find_path, node_in};
use crate::call::Call;
use crate::clean;
use crate::error::ToolResult;
use cairn_model::NodeId;
use serde_json::{Value, json};

const NOTHING: &str = "the service has nothing at this path. A local file outside the synced folders is not uploaded; one inside may not be uploaded yet, be ignored, or have another name: sync_why tells which";
const NOTHING_IN_TEAM: &str =
    "the team has nothing at this path: list_files lists its folders, from the top with its id";

pub(super) async fn find(call: &Call) -> ToolResult<Value> {
    let given = call.arguments.required_text("path")?;
    let services = &call.services;
    let synced = SyncedFolders::read_or_refuse(services).await?;
    let synced = synced.compare_account(services).await;
    let located = find_path(services, &synced, given).await?;
    let mut found = json!({ "local_paths": located.local_paths });
    if let Some(path) = located.shown.filter(|path| clean::text(path) == *path) {
        found["path"] = json!(path);
    }
    match located.found {
        Found::Node(node) => found["node"] = json!(node),
        Found::Root => found["top_of_space"] = json!(true),
        Found::Nothing if located.place.space.is_some() => found["hint"] = json!(NOTHING_IN_TEAM),
        Found::Nothing => found["hint"] = json!(NOTHING),
    }
    Ok(found)
}

/// Returns the id of the node at a local path, if the service has one there.
pub(super) async fn node_id(call: &Call, synced: &SyncedFolders, local: &str) -> Option<NodeId> {
    let meaning = synced.meanings_of(local).into_iter().next()?;
    match node_in(&call.services, &meaning.place).await {
        Ok(Found::Node(node)) => Some(node.id),
        Ok(Found::Root | Found::Nothing) | Err(_) => None,
    }
}
