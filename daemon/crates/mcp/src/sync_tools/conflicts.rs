//! The open conflicts, with all that is needed to look at both versions.

use super::connection::request;
use super::{locate, status};
use crate::call::Call;
use crate::error::ToolResult;
use cairn_control::{Conflict, ConflictList, DoctorInfo, FolderStatus, Status, typed};
use serde_json::{Value, json};
use std::path::Path;

/// Conflicts whose versions are looked up on the service; each costs a few requests.
const LOOKED_UP: usize = 10;

pub(super) async fn read(call: &Call) -> ToolResult<Value> {
    let list: ConflictList = request(&call.services, typed::Conflicts {}).await?;
    let mut shown: Vec<Value> = list.conflicts.iter().map(with_local_paths).collect();
    if !shown.is_empty() {
        let folders = folders_of_this_account(call).await?;
        for conflict in shown.iter_mut().take(LOOKED_UP) {
            add_ids(call, &folders, conflict).await;
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

/// Returns the synced folders; none if the other tools use another account, which has other files at the
/// same paths.
async fn folders_of_this_account(call: &Call) -> ToolResult<Vec<FolderStatus>> {
    let doctor: DoctorInfo = request(&call.services, typed::Doctor {}).await?;
    if !doctor.online
        || status::other_account(&call.services, &doctor)
            .await
            .is_some()
    {
        return Ok(Vec::new());
    }
    let status: Status = request(&call.services, typed::Status {}).await?;
    Ok(status.folders)
}

/// Adds the ids under which read_file_content gives both versions, as far as the service has them.
async fn add_ids(call: &Call, folders: &[FolderStatus], conflict: &mut Value) {
    for (local, id) in [("local_path", "file_uuid"), ("local_copy", "copy_uuid")] {
        let path = conflict[local].as_str().unwrap_or_default().to_owned();
        if let Some(found) = locate::node_id(call, folders, &path).await {
            conflict[id] = json!(found);
        }
    }
}
