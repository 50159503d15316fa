//! Moving many files in one call.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::node_tools;
use crate::session_changes::{self, Before, IfUnmade, Wanted};
use crate::tool::{NodeEdit, ToolFuture, Verb};
use cairn_model::{Name, NodeId};
use cairn_wire::nodes::Node;
use futures_util::FutureExt as _;
use serde_json::{Value, json};

/// Failures that are named where nothing was moved.
const NAMED_FAILURES: usize = 5;

pub(crate) fn move_files(call: Call) -> ToolFuture {
    async move {
        let target = target(&call).await?;
        let ids = call.arguments.texts("file_uuids");
        let mut failed = Vec::new();
        for id in &ids {
            if let Err(error) = move_one(&call, id, target).await {
                failed.push(json!({ "file_uuid": id, "error": error.public_message() }));
            }
        }
        if !ids.is_empty() && failed.len() == ids.len() {
            return Err(nothing_moved_error(&failed));
        }
        Ok(json!({
            "moved": ids.len() - failed.len(),
            "failed": failed,
            "folder_uuid": target,
        }))
    }
    .boxed()
}

fn nothing_moved_error(failed: &[Value]) -> ToolError {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let shown = failed.iter().take(NAMED_FAILURES);
    let shown: Vec<_> = shown
        .map(|one| format!("{}: {}", text(&one["file_uuid"]), text(&one["error"])))
        .collect();
    let more = match failed.len().saturating_sub(NAMED_FAILURES) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    ToolError::refused(format!("nothing was moved. {}{more}", shown.join("; ")))
}

/// Returns the folder that the files go to, and makes the levels of its path that are missing.
async fn target(call: &Call) -> ToolResult<NodeId> {
    let top = call.arguments.required_text("target_folder_uuid")?;
    let Some(path) = call
        .arguments
        .text("new_path")
        .filter(|path| !path.is_empty())
    else {
        return call.arguments.id("target_folder_uuid");
    };
    let names = node_tools::path_levels(path)?;
    let leaf = match call.services.folder_if_opened(Some(top)).await? {
        Some((space, parent)) => node_tools::make_levels(&space, &names, parent).await?,
        None => {
            let path: Vec<_> = names.iter().map(Name::as_str).collect();
            let body = json!({ "path": path.join("/"), "parent_id": top });
            let path = ["nodes", "folders"];
            let mut made = call.request(Verb::Post, &path, &[], Some(&body)).await?;
            made["leaf_folder_uuid"] = made["leaf_id"].take();
            made
        }
    };
    crate::session_changes::note_new_folders(&call.services, &leaf);
    let id = leaf["leaf_folder_uuid"]
        .as_str()
        .and_then(|id| id.parse().ok());
    id.ok_or(ToolError::Internal)
}

async fn move_one(call: &Call, id: &str, target: NodeId) -> ToolResult<()> {
    let id: NodeId = id
        .parse()
        .map_err(|_| ToolError::argument("it is not an id of the service"))?;
    let services = &call.services;
    let _turn = services.turns.wait(id).await;
    let before = services.node_as_it_is(id).await?;
    let wanted = Wanted::folder(target);
    let noted = Before::Node(NodeEdit::Move, Box::new(before.clone()), wanted);
    let intent = services.intents.begin(noted);
    let moved = move_noted(call, &before, target).await;
    match &moved {
        Ok(()) => intent.finish(),
        Err(error) => session_changes::settle(services, intent, IfUnmade::after(error)).await,
    }
    moved
}

async fn move_noted(call: &Call, before: &Node, target: NodeId) -> ToolResult<()> {
    let services = &call.services;
    if let Some((space, node)) = services.node_if_opened(before.id).await? {
        let to = services.folder_in(&space, target).await?;
        let name = node_tools::current_name(&node)?;
        let moved = space.move_node(&node, to, &name).await?;
        services.note_move(&node, &moved);
        return Ok(());
    }
    let (text, body) = (before.id.to_string(), json!({ "parent_id": target }));
    let moved = call
        .request(Verb::Put, &["nodes", &text], &[], Some(&body))
        .await?;
    let moved: Node = serde_json::from_value(moved).map_err(|_| ToolError::Internal)?;
    services.note_move(before, &moved);
    Ok(())
}
