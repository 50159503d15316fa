//! Changes to files and folders. With the account's keys they are sealed (authenticated) like those of a synced
//! folder; without them the service makes them, and other devices show them as unverified.

use crate::arguments::is_uuid;
use crate::call::{Call, with_success};
use crate::error::{ToolError, ToolResult};
use crate::file_versions::{is_version, no_such_version};
use crate::quote::quote;
use crate::tool::{ToolFuture, Verb, delete, get, post, put};
use cairn_model::{Name, NodeId};
use cairn_space::undo::NodeChange;
use cairn_space::{BroughtBack, Space, restore_without_keys};
use cairn_wire::nodes::{Node, NodeState};
use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};

const MAX_LEVELS: usize = 20;

pub(crate) fn list_files(call: Call) -> ToolFuture {
    async move {
        let route = get("nodes")
            .renamed(&[("folder_uuid", "parent_id")])
            .fixed(&[("state", "active")]);
        let mut page = call.send(&route).await?;
        let is_empty = page["content"].as_array().is_some_and(Vec::is_empty);
        // The id of a space or team is no node's.
        if is_empty
            && let Ok(folder) = call.arguments.id("folder_uuid")
            && let Ok(folder) = call.services.node_as_it_is(folder).await
            && folder.state == NodeState::Trashed
        {
            page["note"] = json!(
                "the folder is in the trash with everything that was in it: restore_from_trash brings it back"
            );
        }
        Ok(page)
    }
    .boxed()
}

pub(crate) fn create_folder(call: Call) -> ToolFuture {
    async move {
        let name = name(&call, "name")?;
        let parent = call.arguments.text("parent_uuid");
        let opened = call.services.folder_if_opened(parent).await?;
        if let Some((space, parent)) = opened {
            return node_json(&space.make_folder(parent, &name).await?);
        }
        let kind = Map::from_iter([("kind".to_owned(), json!("folder"))]);
        let route = post("nodes").renamed(&[("parent_uuid", "parent_id")]);
        call.rest_with(&route, kind).await
    }
    .boxed()
}

pub(crate) fn move_file(call: Call) -> ToolFuture {
    async move {
        let to: NodeId = call.arguments.id("target_folder_uuid")?;
        if let Some((space, node)) = opened_node(&call).await? {
            let name = current_name(&node)?;
            let to = call.services.folder_in(&space, to).await?;
            return node_json(&space.move_node(&node, to, &name).await?);
        }
        let route = put("nodes/{file_uuid}").renamed(&[("target_folder_uuid", "parent_id")]);
        call.send(&route).await
    }
    .boxed()
}

pub(crate) fn rename_file(call: Call) -> ToolFuture {
    async move {
        let name = name(&call, "new_name")?;
        if let Some((space, node)) = opened_node(&call).await? {
            return node_json(&space.move_node(&node, node.parent_id, &name).await?);
        }
        let route = put("nodes/{file_uuid}").renamed(&[("new_name", "name")]);
        call.send(&route).await
    }
    .boxed()
}

pub(crate) fn copy_file(call: Call) -> ToolFuture {
    async move {
        let to: NodeId = call.arguments.id("target_folder_uuid")?;
        if let Some((space, node)) = opened_node(&call).await? {
            let name = current_name(&node)?;
            let to = call.services.folder_in(&space, to).await?;
            let copied = space.copy_node(&node, to, &name).await?;
            let mut value = node_json(&copied.node)?;
            if let Some(warning) = copied.warning() {
                value["note"] = json!(warning);
            }
            return Ok(value);
        }
        let route = post("nodes/{file_uuid}/copy").renamed(&[("target_folder_uuid", "parent_id")]);
        call.send(&route).await
    }
    .boxed()
}

pub(crate) fn delete_file(call: Call) -> ToolFuture {
    const DONE: &str = "moved to the trash: restore_from_trash brings it back";
    const DONE_BEFORE: &str = "it was in the trash already: nothing was changed";
    async move {
        if let Some((space, node)) = opened_node(&call).await? {
            let gone = json!({ "file_uuid": node.id, "name": node.name });
            if node.state == NodeState::Trashed {
                return Ok(with_success(gone, Some(DONE_BEFORE)));
            }
            space.trash_node(&node).await?;
            return Ok(with_success(gone, Some(DONE)));
        }
        if let Some(node) = node_if_readable(&call, "file_uuid").await?
            && node.state == NodeState::Trashed
        {
            let gone = json!({ "file_uuid": node.id, "name": node.name });
            return Ok(with_success(gone, Some(DONE_BEFORE)));
        }
        call.send(&delete("nodes/{file_uuid}").success_message(DONE))
            .await
    }
    .boxed()
}

const AT_TOP: &str =
    "the folder that it was in is gone, so the service has put it where `path` says";
const FOLDER_MADE: &str = "the folder that it was in is in the trash, so another one of that name was made for it: what else was in that folder is still in the trash";

const RESTORED: &str = "restored";

pub(crate) fn restore_from_trash(call: Call) -> ToolFuture {
    async move {
        if let Some((space, node)) = opened_node(&call).await? {
            check_trashed(&node)?;
            let back = space.restore_node(&node).await?;
            let is_verified = space.is_verified(&back.node);
            return brought_back(&call, &node, &back, is_verified);
        }
        let trashed = node_if_readable(&call, "file_uuid").await?;
        if let Some(node) = &trashed {
            check_trashed(node)?;
            let api = call.services.writes.in_space(node.space_id);
            if let Some(back) = restore_without_keys(&api, node).await? {
                // Without keys everything is unverified, which the instructions say.
                return brought_back(&call, node, &back, true);
            }
        }
        let route = post("trash/{file_uuid}/restore").success_message(RESTORED);
        let mut restored = call.send(&route).await?;
        let parent = restored.get("parent_id");
        let is_elsewhere =
            |node: Node| parent.is_some_and(|parent| *parent != json!(node.parent_id));
        if trashed.is_some_and(is_elsewhere)
            && let Some(note) = restored_note(Some(AT_TOP), true)
        {
            restored["note"] = json!(note);
        }
        Ok(restored)
    }
    .boxed()
}

/// Notes the folders that were made for what came out of the trash, and returns it.
fn brought_back(
    call: &Call,
    trashed: &Node,
    back: &BroughtBack,
    is_verified: bool,
) -> ToolResult<Value> {
    let journal = &call.services.journal;
    for folder in &back.folders {
        journal.note_new_node(folder, NodeChange::Made);
    }
    let is_at_top = trashed.parent_id.is_some() && back.node.parent_id.is_none();
    let place = match back.folders.is_empty() {
        true => is_at_top.then_some(AT_TOP),
        false => Some(FOLDER_MADE),
    };
    let mut value = with_success(node_json(&back.node)?, Some(RESTORED));
    if let Some(note) = restored_note(place, is_verified) {
        value["note"] = json!(note);
    }
    Ok(value)
}

/// Returns what a caller has to know of a node that came out of the trash, besides that it did.
fn restored_note(place: Option<&str>, is_verified: bool) -> Option<String> {
    let unverified = "no device with the keys has put it where it is: other devices mark it as unverified, and strict ones leave it out, until it is downloaded and uploaded anew";
    match (place, is_verified) {
        (place, true) => place.map(str::to_owned),
        (None, false) => Some(unverified.to_owned()),
        (Some(place), false) => Some(format!("{place}; {unverified}")),
    }
}

/// Refuses to restore what is not in the trash: the service would report success, which would mislead the
/// assistant.
fn check_trashed(node: &Node) -> ToolResult {
    match node.state {
        NodeState::Trashed => Ok(()),
        NodeState::Active => Err(ToolError::refused(format!(
            "{} is not in the trash",
            quote(&node.name)
        ))),
    }
}

pub(crate) fn restore_file_version(mut call: Call) -> ToolFuture {
    async move {
        let wanted = call.arguments.required_text("version_id")?.to_owned();
        if let Some((space, node)) = opened_node(&call).await? {
            let revisions = space.api().revisions(node.id).await?;
            let mut revisions = revisions.iter();
            let revision = revisions.find(|revision| is_version(revision, &wanted));
            let revision = revision.ok_or_else(|| no_such_version(&node))?;
            return node_json(&space.restore_revision(&node, revision).await?);
        }
        // The service knows versions by their ids only.
        if !is_uuid(&wanted)
            && let Some(node) = node_if_readable(&call, "file_uuid").await?
        {
            let space = call.services.reads.in_space(node.space_id);
            let revisions = space.revisions(node.id).await?;
            let mut revisions = revisions.iter();
            let revision = revisions.find(|revision| is_version(revision, &wanted));
            let id = revision.ok_or_else(|| no_such_version(&node))?.id;
            if let Some(given) = call.arguments.get_mut("version_id") {
                *given = json!(id);
            }
        }
        let route = post("nodes/{file_uuid}/revisions/{version_id}/restore");
        call.send(&route).await
    }
    .boxed()
}

pub(crate) fn favorite_file(call: Call) -> ToolFuture {
    async move {
        let id = call.arguments.required_text("file_uuid")?;
        let (verb, success_message) = match call.arguments.required_text("action")? {
            "add" => (Verb::Put, "marked as favorite"),
            _ => (Verb::Delete, "no longer a favorite"),
        };
        let response = call
            .request(verb, &["nodes", id, "favorite"], &[], None)
            .await?;
        Ok(with_success(response, Some(success_message)))
    }
    .boxed()
}

pub(crate) fn create_nested_folders(call: Call) -> ToolFuture {
    async move {
        let names = path_levels(call.arguments.required_text("path")?)?;
        let parent = call.arguments.text("parent_uuid");
        let opened = call.services.folder_if_opened(parent).await?;
        if let Some((space, parent)) = opened {
            return make_levels(&space, &names, parent).await;
        }
        let path: Vec<_> = names.iter().map(Name::as_str).collect();
        let path = Map::from_iter([("path".to_owned(), json!(path.join("/")))]);
        let route = post("nodes/folders").renamed(&[("parent_uuid", "parent_id")]);
        let mut response = call.rest_with(&route, path).await?;
        if let Some(fields) = response.as_object_mut()
            && let Some(leaf) = fields.remove("leaf_id")
        {
            fields.insert("leaf_folder_uuid".to_owned(), leaf);
        }
        Ok(response)
    }
    .boxed()
}

pub(crate) async fn make_levels(
    space: &Space,
    names: &[Name],
    parent: Option<NodeId>,
) -> ToolResult<Value> {
    let mut at = parent;
    let mut made = Vec::new();
    for name in names {
        let ensured = space.ensure_folder(at, name).await?;
        at = Some(ensured.node.id);
        if ensured.is_new {
            made.push(node_json(&ensured.node)?);
        }
    }
    Ok(json!({ "folders": made, "leaf_folder_uuid": at }))
}

/// Splits a path into folder names.
pub(crate) fn path_levels(path: &str) -> ToolResult<Vec<Name>> {
    let parts: Vec<_> = path.trim_matches('/').split('/').collect();
    if parts.len() > MAX_LEVELS {
        return Err(ToolError::argument(format!(
            "path can have at most {MAX_LEVELS} levels, not {}",
            parts.len()
        )));
    }
    parts
        .into_iter()
        .map(|part| {
            Name::new(part)
                .map_err(|e| ToolError::argument(format!("path has a part {part:?}: {e}")))
        })
        .collect()
}

/// Returns the name that an argument gives to a file or folder.
pub(crate) fn name(call: &Call, argument: &str) -> ToolResult<Name> {
    let text = call.arguments.required_text(argument)?;
    Name::new(text).map_err(|e| ToolError::argument(format!("{argument} can't be {text:?}: {e}")))
}

pub(crate) fn current_name(node: &Node) -> ToolResult<Name> {
    Name::new(node.name.clone())
        .map_err(|e| ToolError::refused(format!("its name can't be used: {e}")))
}

/// Returns the node that the call names if a change of it can be sealed.
pub(crate) async fn opened_node(call: &Call) -> ToolResult<Option<(Space, Node)>> {
    let id = call.arguments.id("file_uuid")?;
    call.services.node_if_opened(id).await
}

/// Returns the node that an argument names; `None` where the request itself says better what is wrong, and for a record
/// that can't be read.
pub(crate) async fn node_if_readable(call: &Call, argument: &str) -> ToolResult<Option<Node>> {
    let id = call.arguments.id(argument)?;
    call.services.node_if_readable(id).await
}

fn node_json(node: &Node) -> ToolResult<Value> {
    serde_json::to_value(node).map_err(|_| ToolError::Internal)
}
