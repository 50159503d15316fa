//! The file or folder that a call names, with the keys of its space.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::file_versions::{is_version, no_such_version};
use crate::quote::quote;
use cairn_model::{Kind, NodeId};
use cairn_space::Space;
use cairn_wire::nodes::{Node, NodeState, Revision};

/// Returns the node that an argument names with its space, if it is of the right kind and not in the trash.
pub(super) async fn node(call: &Call, argument: &str, kind: Kind) -> ToolResult<(Space, Node)> {
    let id: NodeId = call.arguments.id(argument)?;
    // A name that can't be one is the concern of whoever uses it: downloads reduce it to its base name.
    let (space, node) = call.services.node_with_keys(id).await?;
    check_kind(&node, kind)?;
    Ok((space, node))
}

/// Returns the folder that a call names with its space; `None` for the top of the space.
pub(super) async fn folder(call: &Call) -> ToolResult<(Space, Option<NodeId>)> {
    let id = call.arguments.text("folder_uuid");
    let (space, folder) = call.services.folder_with_keys(id).await?;
    if let Some(id) = folder {
        check_kind(&space.api().node(id).await?, Kind::Folder)?;
    }
    Ok((space, folder))
}

/// Returns the version of a file that a call names by its id or number; `None` if it names none.
pub(super) async fn version(
    call: &Call,
    space: &Space,
    node: &Node,
) -> ToolResult<Option<Revision>> {
    let Some(wanted) = call.arguments.text("version_id") else {
        return Ok(None);
    };
    let revisions = space.api().revisions(node.id).await?;
    let found = revisions
        .into_iter()
        .find(|version| is_version(version, wanted));
    found.map(Some).ok_or_else(|| no_such_version(node))
}

/// Refuses a node of the other kind, and one in the trash.
fn check_kind(node: &Node, kind: Kind) -> ToolResult {
    if node.state == NodeState::Trashed {
        return Err(ToolError::refused(format!(
            "{} is in the trash: restore_from_trash brings it back",
            quote(&node.name)
        )));
    }
    match (node.kind, kind) {
        (Kind::Folder, Kind::File) => Err(ToolError::refused(format!(
            "{} is a folder: use download_folder, or list_files to see what is in it",
            quote(&node.name)
        ))),
        (Kind::File, Kind::Folder) => Err(ToolError::refused(format!(
            "{} is a file, but a folder is needed",
            quote(&node.name)
        ))),
        (Kind::File, Kind::File) | (Kind::Folder, Kind::Folder) => Ok(()),
    }
}

/// Returns the error for a file without content.
pub(super) fn no_content(node: &Node) -> ToolError {
    ToolError::refused(format!(
        "the service has no content of {}",
        quote(&node.name)
    ))
}
