//! Changes of files and folders. With the account's keys they are sealed like those of a synced folder;
//! without them the service makes them, and other devices show them as not vouched for.

use crate::call::{Call, finished};
use crate::failure::{Outcome, ToolError};
use crate::tool::{Verb, delete, post, put};
use cairn_model::{Kind, Name, NodeId};
use cairn_space::Space;
use cairn_wire::nodes::Node;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

type Answer = BoxFuture<'static, Outcome<Value>>;

const MAX_LEVELS: usize = 20;

pub(crate) fn create_folder(call: Call) -> Answer {
    async move {
        let name = name(&call, "name")?;
        let parent: Option<NodeId> = call.arguments.optional_id("parent_uuid")?;
        if let Some(space) = own_space(&call, parent).await? {
            return shown(&space.make_folder(parent, &name).await?);
        }
        let kind = Map::from_iter([("kind".to_owned(), json!("folder"))]);
        let route = post("nodes").renamed(&[("parent_uuid", "parent_id")]);
        call.send(&route, kind).await
    }
    .boxed()
}

pub(crate) fn move_file(call: Call) -> Answer {
    async move {
        let to: NodeId = call.arguments.id("target_folder_uuid")?;
        if let Some((space, node)) = own_node(&call).await? {
            let name = current_name(&node)?;
            return shown(&space.move_node(&node, Some(to), &name).await?);
        }
        let route = put("nodes/{file_uuid}").renamed(&[("target_folder_uuid", "parent_id")]);
        call.rest(&route).await
    }
    .boxed()
}

pub(crate) fn rename_file(call: Call) -> Answer {
    async move {
        let name = name(&call, "new_name")?;
        if let Some((space, node)) = own_node(&call).await? {
            return shown(&space.move_node(&node, node.parent_id, &name).await?);
        }
        let route = put("nodes/{file_uuid}").renamed(&[("new_name", "name")]);
        call.rest(&route).await
    }
    .boxed()
}

pub(crate) fn copy_file(call: Call) -> Answer {
    async move {
        let to: NodeId = call.arguments.id("target_folder_uuid")?;
        if let Some((space, node)) = own_node(&call).await? {
            let name = current_name(&node)?;
            return shown(&space.copy_node(&node, Some(to), &name).await?);
        }
        let route = post("nodes/{file_uuid}/copy").renamed(&[("target_folder_uuid", "parent_id")]);
        call.rest(&route).await
    }
    .boxed()
}

pub(crate) fn delete_file(call: Call) -> Answer {
    const DONE: &str = "moved to the trash: restore_from_trash brings it back";
    async move {
        if let Some((space, node)) = own_node(&call).await? {
            space.trash_node(&node).await?;
            let gone = json!({ "file_uuid": node.id, "name": node.name });
            return Ok(finished(gone, Some(DONE)));
        }
        call.rest(&delete("nodes/{file_uuid}").done(DONE)).await
    }
    .boxed()
}

pub(crate) fn favorite_file(call: Call) -> Answer {
    async move {
        let id = call.arguments.required("file_uuid")?;
        let (verb, done) = match call.arguments.required("action")? {
            "add" => (Verb::Put, "marked as favorite"),
            _ => (Verb::Delete, "no longer a favorite"),
        };
        let answer = call
            .request(verb, &["nodes", id, "favorite"], &[], None)
            .await?;
        Ok(finished(answer, Some(done)))
    }
    .boxed()
}

pub(crate) fn create_nested_folders(call: Call) -> Answer {
    async move {
        let names = levels(call.arguments.required("path")?)?;
        let parent: Option<NodeId> = call.arguments.optional_id("parent_uuid")?;
        if let Some(space) = own_space(&call, parent).await? {
            return make_levels(&space, &names, parent).await;
        }
        let path: Vec<_> = names.iter().map(Name::as_str).collect();
        let path = Map::from_iter([("path".to_owned(), json!(path.join("/")))]);
        let route = post("nodes/folders").renamed(&[("parent_uuid", "parent_id")]);
        let mut answer = call.send(&route, path).await?;
        if let Some(fields) = answer.as_object_mut()
            && let Some(leaf) = fields.remove("leaf_id")
        {
            fields.insert("leaf_folder_uuid".to_owned(), leaf);
        }
        Ok(answer)
    }
    .boxed()
}

async fn make_levels(space: &Space, names: &[Name], parent: Option<NodeId>) -> Outcome<Value> {
    let mut at = parent;
    let mut made = Vec::new();
    for name in names {
        at = Some(match space.child(at, name).await? {
            Some(node) if node.kind == Kind::Folder => node.id,
            Some(node) => {
                return Err(ToolError::refused(format!(
                    "`{}` is a file: a folder can't have the same name; {} folders were made before it",
                    node.name,
                    made.len()
                )));
            }
            None => {
                let node = space.make_folder(at, name).await?;
                made.push(shown(&node)?);
                node.id
            }
        });
    }
    Ok(json!({ "folders": made, "leaf_folder_uuid": at }))
}

/// The folders of a path.
fn levels(path: &str) -> Outcome<Vec<Name>> {
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
                .map_err(|e| ToolError::argument(format!("path has a part `{part}`: {e}")))
        })
        .collect()
}

fn name(call: &Call, argument: &str) -> Outcome<Name> {
    let text = call.arguments.required(argument)?;
    Name::new(text).map_err(|e| ToolError::argument(format!("{argument} can't be `{text}`: {e}")))
}

fn current_name(node: &Node) -> Outcome<Name> {
    Name::new(node.name.clone())
        .map_err(|e| ToolError::refused(format!("it has no usable name: {e}")))
}

/// The space, if a change below a folder can be sealed: it is ours, and its keys are at hand.
async fn own_space(call: &Call, parent: Option<NodeId>) -> Outcome<Option<Space>> {
    let Some(space) = call.services.space_if_any().await? else {
        return Ok(None);
    };
    let own = match parent {
        None => true,
        Some(id) => call.services.reads.node(id).await?.space_id == space.keys().space(),
    };
    Ok(own.then_some(space))
}

/// The node that the call names, if a change of it can be sealed.
async fn own_node(call: &Call) -> Outcome<Option<(Space, Node)>> {
    let Some(space) = call.services.space_if_any().await? else {
        return Ok(None);
    };
    let node = call
        .services
        .reads
        .node(call.arguments.id("file_uuid")?)
        .await?;
    if node.space_id != space.keys().space() {
        return Ok(None);
    }
    space.check(&node)?;
    Ok(Some((space, node)))
}

fn shown(node: &Node) -> Outcome<Value> {
    serde_json::to_value(node).map_err(|_| ToolError::Panicked)
}
