//! Paths where a tool takes the id of a file or folder: `/a/b` on the service, `Team/a/b` in the space of a team,
//! or a path on this machine in a synced folder.
//!
//! They become ids before anything else is done with a call, so that questions, undo and requests see ids alone. In a
//! list, a path that names nothing stays as it is: the tool reports it beside the results of the others.

use crate::arguments::{Arguments, is_uuid};
use crate::error::{ToolError, ToolResult};
use crate::local_paths::expand_home;
use crate::param::{Form, Param, Shape};
use crate::quote::quote;
use crate::services::Services;
use crate::sync_tools::{Found, SyncedFolders, find_path};
use crate::tool::Tool;
use cairn_model::NodeId;
use serde_json::{Value, json};
use std::path::Path;

/// Replaces the paths among the arguments that name files and folders by their ids.
///
/// # Errors
/// [`ToolError::NotFound`] for a path at which nothing is, [`ToolError::Refused`] for one that can mean several files,
/// both only outside of lists; those of the service, and of a daemon that doesn't say which folders are synced.
pub(crate) async fn replace_paths(
    tool: &Tool,
    arguments: &mut Arguments,
    services: &Services,
) -> ToolResult {
    let mut folders = None;
    for param in tool.params {
        let (Shape::Text { form, .. } | Shape::Texts { form, .. }) = param.shape else {
            continue;
        };
        if form != Form::Node {
            continue;
        }
        let values = match arguments.get_mut(param.name) {
            Some(Value::Array(items)) => items.as_mut_slice(),
            Some(item) => std::slice::from_mut(item),
            None => continue,
        };
        let is_list = matches!(param.shape, Shape::Texts { .. });
        for value in values {
            let Some(path) = value.as_str().filter(|text| !is_uuid(text)) else {
                continue;
            };
            let known = match folders.take() {
                Some(known) => known,
                None => {
                    let synced = SyncedFolders::read(services).await?;
                    synced.compare_account(services).await
                }
            };
            match id_at(services, &known, path, takes_top(param)).await {
                Ok(id) => *value = json!(id),
                Err(error) if is_list && is_about_path(&error) => {}
                Err(error) => return Err(error),
            }
            folders = Some(known);
        }
    }
    Ok(())
}

/// Returns the id of one of the files of a list.
///
/// # Errors
/// The error of a path that [`replace_paths`] has left there.
pub(crate) async fn listed_id(services: &Services, given: &str) -> ToolResult<NodeId> {
    if let Ok(id) = given.parse() {
        return Ok(id);
    }
    let synced = SyncedFolders::read(services).await?;
    let synced = synced.compare_account(services).await;
    match id_at(services, &synced, given, false).await {
        Err(error) => Err(error),
        // Nobody was asked about what has come since.
        Ok(_) => Err(ToolError::refused(format!(
            "{} named nothing when the call began: call again",
            quote(given)
        ))),
    }
}

/// Returns true for a folder in which something is listed or put: the others are files and folders themselves, which
/// the top of a space is not.
fn takes_top(param: &Param) -> bool {
    !matches!(param.name, "file_uuid" | "file_uuids")
}

/// Returns true for the error of a path that names nothing, several things, or the top of a space.
fn is_about_path(error: &ToolError) -> bool {
    matches!(
        error,
        ToolError::NotFound { .. } | ToolError::Refused(_) | ToolError::Argument(_)
    )
}

/// Returns the id of the node at a path; that of the space for its top.
async fn id_at(
    services: &Services,
    synced: &SyncedFolders,
    path: &str,
    takes_top: bool,
) -> ToolResult<String> {
    let located = find_path(services, synced, path).await?;
    match (located.found, located.place.space) {
        (Found::Node(node), _) => Ok(node.id.to_string()),
        (Found::Root, _) if !takes_top => Err(ToolError::refused(format!(
            "{} is the top of the space, which is no file or folder of its own: list_files shows what is in it",
            quote(path)
        ))),
        (Found::Root, Some(space)) => Ok(space.to_string()),
        (Found::Root, None) => Ok(services.own_space_id().await?.to_string()),
        (Found::Nothing, _) if !synced.is_known() && is_on_this_machine(path) => {
            Err(ToolError::refused(format!(
                "{} is on this machine, and the sync daemon does not run or does not respond, so that it is not known what it is on the service: start the daemon with `cairn start`, or give the id or the path on the service",
                quote(path)
            )))
        }
        (Found::Nothing, _) => Err(ToolError::NotFound {
            what: format!("there is no {}", quote(path)),
            source_of_ids: "list_files and search_files show the paths and ids of files; a path begins with `/`, or with the name of a team and `/`",
        }),
    }
}

/// Returns whether a path names something on this machine. Relative ones depend on where this program was started.
fn is_on_this_machine(path: &str) -> bool {
    let path = expand_home(Path::new(path));
    path.is_absolute() && path.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_services::stub_services;

    #[tokio::test]
    async fn a_path_of_this_machine_is_not_just_missing_while_no_daemon_runs() {
        let mut services = stub_services(|_| {
            let page = json!({ "content": [], "totalPages": 1, "totalElements": 0, "page": 1, "pageSize": 100 });
            (200, page)
        });
        let dir = tempfile::tempdir().unwrap();
        services.daemon = Some(dir.path().join("no socket"));
        let synced = SyncedFolders::read(&services).await.unwrap();
        let error = async |path: &str| {
            let found = id_at(&services, &synced, path, false).await;
            found.unwrap_err().to_string()
        };
        let here = error(dir.path().to_str().unwrap()).await;
        assert!(here.contains("cairn start"), "{here}");
        let nowhere = error("/nowhere/at/all").await;
        assert!(nowhere.contains("there is no"), "{nowhere}");
    }
}
