//! Paths where a tool takes the id of a file or folder: `/a/b` on the service, `Team/a/b` in the space of a team,
//! or a path on this machine in a synced folder.
//!
//! They become ids before anything else is done with a call, so that questions, undo and requests see ids alone.

use crate::arguments::{Arguments, is_uuid};
use crate::error::{ToolError, ToolResult};
use crate::param::{Form, Shape};
use crate::services::Services;
use crate::sync_tools::{Found, SyncedFolders, find_path};
use crate::tool::Tool;
use serde_json::{Value, json};

/// Replaces the paths among the arguments that name files and folders by their ids.
///
/// # Errors
/// [`ToolError::NotFound`] for a path at which nothing is, [`ToolError::Refused`] for one that can mean several files;
/// those of the service.
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
        for value in values {
            let Some(path) = value.as_str().filter(|text| !is_uuid(text)) else {
                continue;
            };
            let known = match folders.take() {
                Some(known) => known,
                None => {
                    let synced = SyncedFolders::read(services).await;
                    synced.compare_account(services).await
                }
            };
            let id = id_at(services, &known, path).await?;
            *value = json!(id);
            folders = Some(known);
        }
    }
    Ok(())
}

/// Returns the id of the node at a path; that of the space for its top.
async fn id_at(services: &Services, synced: &SyncedFolders, path: &str) -> ToolResult<String> {
    let located = find_path(services, synced, path).await?;
    match (located.found, located.place.space) {
        (Found::Node(node), _) => Ok(node.id.to_string()),
        (Found::Root, Some(space)) => Ok(space.to_string()),
        (Found::Root, None) => Ok(services.own_space_id().await?.to_string()),
        (Found::Nothing, _) => Err(ToolError::NotFound {
            what: format!("there is no `{path}`"),
            source_of_ids: "list_files and search_files show the paths and ids of files; a path begins with `/`, or with the name of a team and `/`",
        }),
    }
}
