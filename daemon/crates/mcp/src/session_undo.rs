//! Taking back what a session changed, newest change first, each where nothing newer stands in the way.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use crate::session_journal::{Change, Position};
use crate::tool::{ToolFuture, Verb};
use cairn_model::{Kind, Name, NodeId};
use cairn_wire::nodes::{Node, NodeState};
use futures_util::FutureExt as _;
use serde_json::{Value, json};

/// The reason why a change stays, or what was done.
type Taken = Result<String, String>;

pub(crate) fn undo_session(call: Call) -> ToolFuture {
    async move {
        let services = &call.services;
        let changes = services.journal.take();
        let (mut done, mut left, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for change in changes.into_iter().rev() {
            let taken = match take_back(services, &change).await {
                Ok(taken) => taken,
                Err(error) => Err(error.public_message()),
            };
            match taken {
                Ok(text) => done.push(text),
                Err(text) => {
                    left.push(text);
                    kept.push(change);
                }
            }
        }
        kept.reverse();
        services.journal.keep(kept);
        Ok(report(&done, &left))
    }
    .boxed()
}

fn report(done: &[String], left: &[String]) -> Value {
    let mut value = json!({ "taken_back": done.len(), "changes": done, "left": left });
    if done.is_empty() && left.is_empty() {
        value["message"] = json!(
            "this session has moved, made, deleted or restored nothing that is left to take back"
        );
    }
    value
}

/// Takes one change back, or returns the reason why not.
async fn take_back(services: &Services, change: &Change) -> ToolResult<Taken> {
    let id = match change {
        Change::Made { node, .. }
        | Change::Moved { node, .. }
        | Change::Trashed { node }
        | Change::Restored { node } => *node,
    };
    let node = services.node_as_it_is(id).await?;
    let is_trashed = node.state == NodeState::Trashed;
    let name = &node.name;
    match change {
        Change::Trashed { .. } if !is_trashed => Ok(Ok(format!("{name} is back already"))),
        Change::Trashed { .. } => {
            restore(services, &node).await?;
            Ok(Ok(format!("{name} is back from the trash")))
        }
        Change::Made { .. } | Change::Restored { .. } if is_trashed => {
            Ok(Ok(format!("{name} is in the trash already")))
        }
        Change::Moved { .. } if is_trashed => Ok(Err(format!("{name} is in the trash"))),
        Change::Made { revision, .. } => {
            let newer = match node.kind {
                Kind::Folder => !is_empty(services, id).await?,
                Kind::File => node.revision_id != *revision,
            };
            if newer {
                return Ok(Err(format!("{name} was worked on since")));
            }
            trash(services, &node).await?;
            Ok(Ok(format!("{name} is in the trash")))
        }
        Change::Restored { .. } => {
            trash(services, &node).await?;
            Ok(Ok(format!("{name} is in the trash again")))
        }
        Change::Moved { from, to, .. } if Position::of(&node) != *to => {
            if Position::of(&node) == *from {
                return Ok(Ok(format!("{name} is back already")));
            }
            Ok(Err(format!("{name} was moved again since")))
        }
        Change::Moved { from, .. } => {
            place(services, &node, from).await?;
            Ok(Ok(format!(
                "{} is called {} and where it was",
                name, from.name
            )))
        }
    }
}

async fn is_empty(services: &Services, folder: NodeId) -> ToolResult<bool> {
    let query = [("parent_id".to_owned(), folder.to_string())];
    let page = services
        .request(Verb::Get, &["nodes"], &query, None)
        .await?;
    Ok(page["content"].as_array().is_none_or(Vec::is_empty))
}

async fn restore(services: &Services, node: &Node) -> ToolResult<()> {
    if let Some((space, node)) = services.node_if_opened(node.id).await? {
        space.restore_node(&node).await?;
        return Ok(());
    }
    let id = node.id.to_string();
    let path = ["trash", &id, "restore"];
    services.request(Verb::Post, &path, &[], None).await?;
    Ok(())
}

async fn trash(services: &Services, node: &Node) -> ToolResult<()> {
    if let Some((space, node)) = services.node_if_opened(node.id).await? {
        space.trash_agreed(&node).await?;
        return Ok(());
    }
    let id = node.id.to_string();
    services
        .request(Verb::Delete, &["nodes", &id], &[], None)
        .await?;
    Ok(())
}

async fn place(services: &Services, node: &Node, at: &Position) -> ToolResult<()> {
    if let Some((space, node)) = services.node_if_opened(node.id).await? {
        let name = Name::new(at.name.clone());
        let name = name.map_err(|e| ToolError::refused(format!("its name can't be used: {e}")))?;
        space.move_node(&node, at.parent, &name).await?;
        return Ok(());
    }
    let id = node.id.to_string();
    let body = json!({ "parent_id": at.parent, "name": at.name });
    services
        .request(Verb::Put, &["nodes", &id], &[], Some(&body))
        .await?;
    Ok(())
}
