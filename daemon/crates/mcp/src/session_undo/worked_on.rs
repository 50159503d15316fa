//! Looking for the work of others in a folder before it goes to the trash.

use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use cairn_model::Kind;
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;

/// Files and folders that are looked at; a folder with more is left alone.
const MOST: usize = 5_000;

/// Returns true if nothing is in a folder.
pub(super) async fn is_empty(services: &Services, folder: &Node) -> ToolResult<bool> {
    Ok(children(services, folder).await?.is_empty())
}

/// Returns true if something below a folder, however deep, was changed after a time of the server, other than
/// by this session.
///
/// # Errors
/// The service's, and [`ToolError::Refused`] for too many files.
pub(super) async fn below(
    services: &Services,
    folder: &Node,
    since: Timestamp,
) -> ToolResult<bool> {
    let mut waiting = vec![folder.clone()];
    let mut seen = 0;
    while let Some(folder) = waiting.pop() {
        for node in children(services, &folder).await? {
            seen += 1;
            if seen > MOST {
                return Err(ToolError::refused(format!(
                    "{} has too many files to see whether somebody worked on them since",
                    folder.name
                )));
            }
            if node.updated_at > since && !services.journal.is_untouched(&node) {
                return Ok(true);
            }
            if node.kind == Kind::Folder {
                waiting.push(node);
            }
        }
    }
    Ok(false)
}

async fn children(services: &Services, folder: &Node) -> ToolResult<Vec<Node>> {
    let own = services.own_space_id().await?;
    let nodes = if folder.space_id == own {
        services.reads.children(Some(folder.id), None).await?
    } else {
        let api = services.reads.in_space(folder.space_id);
        api.children(Some(folder.id), None).await?
    };
    Ok(nodes)
}
