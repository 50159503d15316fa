//! Taking back what a session changed, newest change first, each where nothing newer stands in the way.

mod details;
mod links;
mod worked_on;

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question::Asking;
use crate::services::Services;
use crate::session_journal::{Arrival, Change, NodeChange, Position};
use crate::tool::{ToolFuture, Verb};
use cairn_model::{Kind, Name};
use cairn_wire::nodes::{Node, NodeState};
use futures_util::FutureExt as _;
use serde_json::{Value, json};

/// Files and empty folders that go to the trash without a question.
const FEW: usize = 3;

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

/// Returns the question before more than a few things go to the trash.
pub(crate) fn ask(call: &Call) -> Asking<'_> {
    let (single, whole) = call.services.journal.going_to_trash();
    let question = (single > FEW || whole > 0).then(|| {
        let whole = match whole {
            0 => String::new(),
            1 => ", and 1 folder with all that is in it".to_owned(),
            many => format!(", and {many} folders with all that is in them"),
        };
        format!(
            "Take this session's changes back? What it made or restored goes to the trash: {single} files or empty folders{whole}."
        )
    });
    async move { Ok(question) }.boxed()
}

fn report(done: &[String], left: &[String]) -> Value {
    let mut value = json!({ "taken_back": done.len(), "changes": done, "left": left });
    if done.is_empty() && left.is_empty() {
        value["message"] = json!("this session has changed nothing that is left to take back");
    }
    value
}

/// Takes one change back, or returns the reason why not.
async fn take_back(services: &Services, change: &Change) -> ToolResult<Taken> {
    match change {
        Change::Node { node, change } => {
            let node = services.node_as_it_is(*node).await?;
            take_back_of_node(services, &node, change).await
        }
        Change::Link { link, change } => links::take_back(services, link, change).await,
    }
}

async fn take_back_of_node(
    services: &Services,
    node: &Node,
    change: &NodeChange,
) -> ToolResult<Taken> {
    let name = &node.name;
    let is_trashed = node.state == NodeState::Trashed;
    match change {
        NodeChange::Trashed if !is_trashed => Ok(Ok(format!("{name} is back already"))),
        NodeChange::Trashed if !services.journal.is_own(node) => {
            Ok(Err(format!("{name} was deleted again since")))
        }
        NodeChange::Trashed => {
            restore(services, node).await?;
            Ok(Ok(format!("{name} is back from the trash")))
        }
        NodeChange::MadeFolder | NodeChange::Copied(_) | NodeChange::Restored(_) if is_trashed => {
            Ok(Ok(format!("{name} is in the trash already")))
        }
        NodeChange::Moved { .. } | NodeChange::Details { .. } if is_trashed => {
            Ok(Err(format!("{name} is in the trash")))
        }
        NodeChange::MadeFolder => {
            let empty = worked_on::is_empty(services, node).await?;
            trash_unless(services, node, !empty).await
        }
        NodeChange::Copied(arrival) | NodeChange::Restored(arrival) => {
            let newer = is_newer(services, node, arrival).await?;
            trash_unless(services, node, newer).await
        }
        NodeChange::Moved { from, to } if Position::of(node) != *to => {
            if Position::of(node) == *from {
                return Ok(Ok(format!("{name} is back already")));
            }
            Ok(Err(format!("{name} was moved again since")))
        }
        NodeChange::Moved { from, .. } => {
            place(services, node, from).await?;
            Ok(Ok(format!(
                "{name} is called {} and where it was",
                from.name
            )))
        }
        NodeChange::Details { from, to } => details::reset(services, node, from, to).await,
    }
}

/// Returns true if somebody worked on a file, or below a folder, since it came.
async fn is_newer(services: &Services, node: &Node, arrival: &Arrival) -> ToolResult<bool> {
    match node.kind {
        Kind::File => Ok(node.revision_id != arrival.revision),
        Kind::Folder => worked_on::below(services, node, arrival.at).await,
    }
}

/// Puts a node into the trash, unless somebody has worked on it or in it. The gates of other devices ask as at
/// any deletion.
async fn trash_unless(services: &Services, node: &Node, newer: bool) -> ToolResult<Taken> {
    let name = &node.name;
    if newer || !services.journal.is_untouched(node) {
        return Ok(Err(format!("{name} was worked on since")));
    }
    if let Some((space, node)) = services.node_if_opened(node.id).await? {
        space.trash_node(&node).await?;
    } else {
        let id = node.id.to_string();
        services
            .request(Verb::Delete, &["nodes", &id], &[], None)
            .await?;
    }
    Ok(Ok(format!("{name} is in the trash")))
}

async fn restore(services: &Services, node: &Node) -> ToolResult<()> {
    if let Some((space, node)) = services.node_if_opened(node.id).await? {
        space.restore_node(&node).await?;
    } else {
        let id = node.id.to_string();
        let path = ["trash", &id, "restore"];
        services.request(Verb::Post, &path, &[], None).await?;
    }
    remember(services, node).await
}

async fn place(services: &Services, node: &Node, at: &Position) -> ToolResult<()> {
    if let Some((space, node)) = services.node_if_opened(node.id).await? {
        let name = Name::new(at.name.clone());
        let name = name.map_err(|e| ToolError::refused(format!("its name can't be used: {e}")))?;
        space.move_node(&node, at.parent, &name).await?;
    } else {
        let id = node.id.to_string();
        let body = json!({ "parent_id": at.parent, "name": at.name });
        services
            .request(Verb::Put, &["nodes", &id], &[], Some(&body))
            .await?;
    }
    remember(services, node).await
}

/// Notes that this session made the last change of a node: older changes of it are still to be taken back. A
/// change of somebody else in the same moment is not told apart.
async fn remember(services: &Services, node: &Node) -> ToolResult<()> {
    let now = services.node_as_it_is(node.id).await?;
    if services.journal.is_own(node) {
        services.journal.remember(&now);
    }
    Ok(())
}
