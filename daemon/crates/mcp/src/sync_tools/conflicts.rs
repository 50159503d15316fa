//! The open conflicts, with all that is needed to look at both versions.

use super::connection::request;
use super::folders::SyncedFolders;
use super::locate;
use crate::call::Call;
use crate::error::ToolResult;
use cairn_control::{Conflict, ConflictList, typed};
use serde_json::{Value, json};
use std::path::Path;

/// Conflicts whose versions are looked up on the service; each costs a few requests.
const LOOKED_UP: usize = 10;

pub(super) async fn read(call: &Call) -> ToolResult<Value> {
    let list: ConflictList = request(&call.services, typed::Conflicts {}).await?;
    let mut shown: Vec<Value> = list.conflicts.iter().map(with_local_paths).collect();
    if !shown.is_empty() {
        let synced = SyncedFolders::read_or_refuse(&call.services).await?;
        let synced = synced.compare_account(&call.services).await;
        // Another account has other files at the same paths.
        let looked_up = if synced.foreign.is_none() {
            LOOKED_UP
        } else {
            0
        };
        for conflict in shown.iter_mut().take(looked_up) {
            add_ids(call, &synced, conflict).await;
        }
    }
    Ok(json!({ "conflicts": shown }))
}

fn with_local_paths(conflict: &Conflict) -> Value {
    let folder = Path::new(&conflict.folder);
    let mut shown = json!(conflict);
    shown["local_path"] = json!(folder.join(&conflict.path).to_string_lossy());
    shown["local_copy"] = json!(folder.join(&conflict.copy).to_string_lossy());
    shown
}

/// Adds the ids under which read_file_content gives both versions, as far as the service has them.
async fn add_ids(call: &Call, synced: &SyncedFolders, conflict: &mut Value) {
    for (local, id) in [("local_path", "file_uuid"), ("local_copy", "copy_uuid")] {
        let path = conflict[local].as_str().unwrap_or_default().to_owned();
        if let Some(found) = locate::node_id(call, synced, &path).await {
            conflict[id] = json!(found);
        }
    }
}
