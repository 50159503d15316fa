//! The place of a file on both sides: its local path, and its node on the service.

use super::connection::request;
use super::target::expand_home;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use cairn_control::{FolderStatus, Status, typed};
use cairn_model::{Kind, Name, NodeId};
use cairn_wire::nodes::Node;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) async fn find(call: &Call) -> ToolResult<Value> {
    let given = call.arguments.required_text("path")?;
    let status: Status = request(&call.services, typed::Status {}).await?;
    let remote = remote_path(&status.folders, given).ok_or_else(|| {
        let folders: Vec<_> = status.folders.iter().map(|f| f.local.as_str()).collect();
        ToolError::refused(format!(
            "`{given}` is in no synced folder ({}), and is not a path on the service such as /a/b",
            folders.join(", ")
        ))
    })?;
    let mut found = json!({ "path": remote, "local_paths": local_paths(&status.folders, &remote) });
    match node_at(call, &remote).await? {
        At::Node(node) => found["node"] = json!(node),
        At::Top => found["top_of_space"] = json!(true),
        At::Nothing => {
            found["hint"] = json!(
                "the service has nothing there: it is not uploaded yet, ignored, or called otherwise; sync_status shows problems"
            );
        }
    }
    Ok(found)
}

/// Returns the id of the node at a local path, if the service has one there.
pub(super) async fn node_id(call: &Call, folders: &[FolderStatus], local: &str) -> Option<NodeId> {
    let remote = remote_path(folders, local)?;
    match node_at(call, &remote).await {
        Ok(At::Node(node)) => Some(node.id),
        Ok(At::Top | At::Nothing) | Err(_) => None,
    }
}

/// The thing that the service has at a path.
enum At {
    Top,
    Node(Box<Node>),
    Nothing,
}

async fn node_at(call: &Call, path: &str) -> ToolResult<At> {
    let mut at: Option<Box<Node>> = None;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let parent = at.map(|node| (node.id, node.kind));
        let parent = match parent {
            Some((_, Kind::File)) => return Ok(At::Nothing),
            Some((id, Kind::Folder)) => Some(id),
            None => None,
        };
        let wanted = Name::new(part)
            .map_err(|e| ToolError::argument(format!("path has a part {part:?}: {e}")))?;
        let children = call.services.reads.children(parent, Some(part)).await?;
        let found = children
            .into_iter()
            .find(|node| Name::new(node.name.clone()).is_ok_and(|name| name.key() == wanted.key()));
        match found {
            Some(node) => at = Some(Box::new(node)),
            None => return Ok(At::Nothing),
        }
    }
    Ok(at.map_or(At::Top, At::Node))
}

/// Returns the path on the service of a path in one of the folders, or of one that is on the service itself.
fn remote_path(folders: &[FolderStatus], given: &str) -> Option<String> {
    let wanted = expand_home(given);
    let wanted = std::path::absolute(&wanted).unwrap_or(wanted);
    let resolved = std::fs::canonicalize(&wanted).ok();
    let below = |folder: &FolderStatus| {
        let local = Path::new(&folder.local);
        let inside = |path: &Path| path.strip_prefix(local).ok().map(Path::to_path_buf);
        inside(&wanted).or_else(|| inside(resolved.as_deref()?))
    };
    let in_folder = folders
        .iter()
        .filter_map(|folder| Some((folder, below(folder)?)))
        // The innermost folder is the one that syncs it.
        .max_by_key(|(folder, _)| folder.local.len());
    if let Some((folder, below)) = in_folder {
        let parts = below.components().map(|part| part.as_os_str().to_str());
        let parts = parts.collect::<Option<Vec<_>>>()?;
        return Some(join_paths(&folder.remote, &parts.join("/")));
    }
    given.starts_with('/').then(|| join_paths(given, ""))
}

/// Returns the local paths of a path on the service, one for each folder that syncs it.
pub(super) fn local_paths(folders: &[FolderStatus], remote: &str) -> Vec<PathBuf> {
    let local = |folder: &FolderStatus| {
        let top = folder.remote.trim_end_matches('/');
        let below = remote.strip_prefix(top)?;
        let is_below = below.is_empty() || below.starts_with('/');
        is_below.then(|| Path::new(&folder.local).join(below.trim_start_matches('/')))
    };
    folders.iter().filter_map(local).collect()
}

fn join_paths(top: &str, below: &str) -> String {
    let parts = top.split('/').chain(below.split('/'));
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(local: &str, remote: &str) -> FolderStatus {
        FolderStatus {
            local: local.to_owned(),
            remote: remote.to_owned(),
            ..FolderStatus::default()
        }
    }

    #[test]
    fn local_paths_and_those_on_the_service_lead_to_each_other() {
        let folders = [folder("/x/Docs", "/job/docs"), folder("/x/All", "/")];
        for (given, remote) in [
            ("/x/Docs/a/b.txt", "/job/docs/a/b.txt"),
            ("/x/Docs/", "/job/docs"),
            ("/x/All/c", "/c"),
            ("/job/docs/a", "/job/docs/a"),
            ("/", "/"),
        ] {
            let found = remote_path(&folders, given);
            assert_eq!(found.as_deref(), Some(remote), "{given}");
        }
        let both = [
            PathBuf::from("/x/Docs/a"),
            PathBuf::from("/x/All/job/docs/a"),
        ];
        assert_eq!(local_paths(&folders, "/job/docs/a"), both);
        let one = [PathBuf::from("/x/All/job/docs2")];
        assert_eq!(local_paths(&folders, "/job/docs2"), one);
        assert_eq!(remote_path(&folders, "somewhere/else"), None);
    }
}
