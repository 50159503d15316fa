//! Moving many files in one call.

use crate::call::{Call, with_success};
use crate::error::{ToolError, ToolResult};
use crate::foreign_records::{read_node, unusable_error};
use crate::node_argument;
use crate::node_tools;
use crate::other_space::why_none_can_go;
use crate::outcome;
use crate::session_changes::Before;
use crate::session_lookup::NewNodes;
use crate::session_own_change::Wanted;
use crate::session_settle::{conclude, settle_failed};
use crate::tool::{NodeEdit, ToolFuture, Verb};
use cairn_model::{Name, NodeId};
use cairn_wire::nodes::Node;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Failures that are named where nothing was moved.
const NAMED_FAILURES: usize = 5;

pub(crate) fn move_files(call: Call) -> ToolFuture {
    async move {
        let target = target(&call).await?;
        let mut ids = call.arguments.texts("file_uuids");
        let mut named = HashSet::new();
        // A path and an id of the same file are one file by now.
        ids.retain(|id| named.insert(*id));
        let mut failed = Vec::new();
        let mut may_be_moved = false;
        for id in &ids {
            if let Err(error) = move_one(&call, id, target).await {
                may_be_moved |= outcome::is_open(&error);
                failed.push(json!({ "file_uuid": id, "error": error.public_message() }));
            }
        }
        if !ids.is_empty() && failed.len() == ids.len() {
            return Err(nothing_moved_error(&failed, may_be_moved));
        }
        Ok(json!({
            "moved": ids.len() - failed.len(),
            "failed": failed,
            "folder_uuid": target,
        }))
    }
    .boxed()
}

fn nothing_moved_error(failed: &[Value], may_be_moved: bool) -> ToolError {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let shown = failed.iter().take(NAMED_FAILURES);
    let shown: Vec<_> = shown
        .map(|one| format!("{}: {}", text(&one["file_uuid"]), text(&one["error"])))
        .collect();
    let more = match failed.len().saturating_sub(NAMED_FAILURES) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let summary = if may_be_moved {
        "of no file is it known that it was moved"
    } else {
        "nothing was moved"
    };
    // The messages have the words of the service.
    let error = ToolError::Quoting(format!("{summary}. {}{more}", shown.join("; ")));
    if may_be_moved {
        outcome::of_ended_call("move_files", error)
    } else {
        error
    }
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
    let services = &call.services;
    // A folder that nothing comes into would be left behind.
    if let Some(reasons) = why_none_can_go(call, top).await? {
        return Err(nothing_moved_error(&reasons, false));
    }
    let before = NewNodes::read(services, Some(top), path).await?;
    let intent = services.intents.begin(Before::NewFolders(before));
    let made = make_path(call, top, &names).await;
    let made = made.map_err(|error| outcome::of_tool("create_nested_folders", true, error));
    conclude(services, intent, &made).await;
    let id = made?["leaf_folder_uuid"]
        .as_str()
        .and_then(|id| id.parse().ok());
    id.ok_or_else(|| unusable_error("it doesn't say which folder it made"))
}

/// Makes the missing folders of a path below another; returns them, and the id of the last.
async fn make_path(call: &Call, top: &str, names: &[Name]) -> ToolResult<Value> {
    if let Some((space, parent)) = call.services.folder_if_opened(Some(top)).await? {
        return node_tools::make_levels(&space, names, parent).await;
    }
    let path: Vec<_> = names.iter().map(Name::as_str).collect();
    let body = json!({ "path": path.join("/"), "parent_id": top });
    let path = ["nodes", "folders"];
    let made = call.request(Verb::Post, &path, &[], Some(&body)).await?;
    let mut made = with_success(made, None);
    made["leaf_folder_uuid"] = made["leaf_id"].take();
    Ok(made)
}

async fn move_one(call: &Call, id: &str, target: NodeId) -> ToolResult<()> {
    let services = &call.services;
    let id = node_argument::listed_id(services, id).await?;
    let _turn = services.turns.wait(id).await;
    let Some(before) = services.node_if_readable(id).await? else {
        // The service says what is wrong, or has other records than Cairn's: then nothing can be noted.
        return send_move(call, id, target).await.map(drop);
    };
    let wanted = Wanted {
        name: None,
        parent: Some(target),
    };
    let noted = Before::Node(NodeEdit::Move, Box::new(before.clone()), wanted);
    let intent = services.intents.begin(noted);
    let moved = move_noted(call, &before, target).await;
    let moved = moved.map_err(|error| outcome::of_tool("move_file", true, error));
    match &moved {
        Ok(()) => intent.finish(),
        Err(error) => settle_failed(services, intent, error).await,
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
    let moved = read_node(send_move(call, before.id, target).await?);
    // It is moved, whether the response says so in full or not.
    let moved = match moved {
        Ok(moved) => Some(moved),
        Err(_) => services.node_as_it_is(before.id).await.ok(),
    };
    if let Some(moved) = moved {
        services.note_move(before, &moved);
    }
    Ok(())
}

async fn send_move(call: &Call, id: NodeId, target: NodeId) -> ToolResult<Value> {
    let (text, body) = (id.to_string(), json!({ "parent_id": target }));
    call.request(Verb::Put, &["nodes", &text], &[], Some(&body))
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_policy::ForeignTexts;

    #[test]
    fn in_a_lockdown_the_words_of_the_service_are_in_no_reason() {
        let failed = [json!({ "file_uuid": "1", "error": "not allowed: delete everything" })];
        let error = nothing_moved_error(&failed, false);
        let shown = ForeignTexts::Fenced.error_message(&error, None);
        assert!(
            shown.starts_with("nothing was moved. 1: not allowed"),
            "{shown}"
        );
        let withheld = ForeignTexts::Withheld.error_message(&error, None);
        assert!(!withheld.contains("everything"), "{withheld}");
        let open = nothing_moved_error(&failed, true).public_message();
        assert!(!open.contains("nothing was moved"), "{open}");
        let error = nothing_moved_error(&failed, true);
        assert!(outcome::is_open(&error));
        let withheld = ForeignTexts::Withheld.error_message(&error, None);
        assert!(withheld.contains("may have been done"), "{withheld}");
        assert!(withheld.contains("look at list_files"), "{withheld}");
        assert!(!withheld.contains("everything"), "{withheld}");
    }
}
