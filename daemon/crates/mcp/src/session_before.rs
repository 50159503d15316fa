//! Looks at what a call is about to change: what was there before is needed to take the change back. The tool's
//! declaration says what kind of change to look for.

use crate::call::Call;
use crate::error::ToolResult;
use crate::session_changes::Before;
use crate::session_edit::{NodeEdit, Undo};
use crate::session_links;
use crate::session_lookup::{NewLinks, NewNodes};
use crate::session_own_change::Wanted;
use crate::session_settle::{Look, settle_open};

/// Looks at what a call is about to change; `None` for a call whose change is not noted, for one that names nothing
/// of the caller's, as the call itself says, and for a record that only another service than Cairn's has.
///
/// # Errors
/// Those of the service: what could not be taken back later is not changed, unless it never can.
pub(crate) async fn read_before(undo: Undo, call: &Call) -> ToolResult<Option<Before>> {
    let services = &call.services;
    if services.journal.is_to_begin()
        && let Ok(space) = services.own_space_id().await
    {
        services.journal.begin(space);
    }
    settle_open(services, Look::WhileAnswered).await;
    Ok(match undo {
        Undo::NewFolders => Some(Before::NewFolders(new_folders(call).await?)),
        Undo::NewCopy => Some(Before::NewCopy(new_copy(call).await?)),
        Undo::NewLinks => Some(Before::NewLinks(new_links(call).await?)),
        Undo::Node(edit) => edited_node(edit, call).await?,
        Undo::LinkSettings => match call.arguments.text("short_code") {
            Some(code) => {
                let sets_password = call.arguments.has("password");
                let link = session_links::read_before(services, code, sets_password).await?;
                link.map(Before::Link)
            }
            None => None,
        },
        Undo::NotedByTool => None,
    })
}

/// Looks at the file or folder that a call changes.
async fn edited_node(edit: NodeEdit, call: &Call) -> ToolResult<Option<Before>> {
    let Ok(id) = call.arguments.id("file_uuid") else {
        return Ok(None);
    };
    let Some(node) = call.services.node_if_readable(id).await? else {
        return Ok(None);
    };
    let wanted = Wanted {
        name: call.arguments.text("new_name").map(str::to_owned),
        parent: call.arguments.id("target_folder_uuid").ok(),
    };
    Ok(Some(Before::Node(edit, Box::new(node), wanted)))
}

/// Looks at the folders that a call makes.
async fn new_folders(call: &Call) -> ToolResult<Option<NewNodes>> {
    let arguments = &call.arguments;
    let path = arguments.text("path").or_else(|| arguments.text("name"));
    let Some(path) = path else {
        return Ok(None);
    };
    let parent = arguments.text("parent_uuid");
    NewNodes::read(&call.services, parent, path).await
}

/// Looks at where a call puts the copy of a node.
async fn new_copy(call: &Call) -> ToolResult<Option<NewNodes>> {
    let Ok(source) = call.arguments.id("file_uuid") else {
        return Ok(None);
    };
    let Some(source) = call.services.node_if_readable(source).await? else {
        return Ok(None);
    };
    let parent = call.arguments.text("target_folder_uuid");
    NewNodes::read(&call.services, parent, &source.name).await
}

/// Looks at the links before a call makes some.
async fn new_links(call: &Call) -> ToolResult<Option<NewLinks>> {
    let one = call.arguments.text("file_uuid").into_iter();
    let files = one.chain(call.arguments.texts("file_uuids"));
    NewLinks::read(&call.services, files.map(str::to_lowercase).collect()).await
}
