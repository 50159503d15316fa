//! Noting in the session's journal what the calls of tools change.

use crate::call::Call;
use crate::error::ToolResult;
use crate::services::Services;
use crate::session_journal::{Arrival, LinkChange, NodeChange, Position};
use crate::session_links::{self, LinkBefore};
use crate::session_state::Details;
use crate::tool::Verb;
use cairn_model::{Kind, NodeId};
use cairn_wire::nodes::Node;
use serde_json::Value;

/// The state before a call changes something.
pub(crate) enum Before {
    /// A node that is moved, renamed, trashed, restored, described, labelled or marked.
    Node(Box<Node>),
    Link(LinkBefore),
    NewFolders,
    Copy,
    NewLinks,
}

/// Looks at what a call is about to change; `None` for a call whose change is not noted.
pub(crate) async fn before(tool: &str, call: &Call) -> Option<Before> {
    match tool {
        "create_folder" | "create_nested_folders" => Some(Before::NewFolders),
        "copy_file" => Some(Before::Copy),
        "create_share_link" | "share_file_by_email" | "bulk_create_share_links" => {
            Some(Before::NewLinks)
        }
        "move_file"
        | "rename_file"
        | "delete_file"
        | "restore_from_trash"
        | "set_file_description"
        | "classify_file"
        | "favorite_file" => {
            let id = call.arguments.id("file_uuid").ok()?;
            // Without it the call itself says what is wrong.
            let node = call.services.node_as_it_is(id).await.ok()?;
            Some(Before::Node(Box::new(node)))
        }
        "update_share_link" | "toggle_share_link" => {
            let code = call.arguments.text("short_code")?;
            let sets_password = call.arguments.has("password");
            let link = session_links::before(&call.services, code, sets_password).await?;
            Some(Before::Link(link))
        }
        _ => None,
    }
}

/// Notes what a call has changed, from its result.
pub(crate) async fn after(services: &Services, tool: &str, before: Before, result: &Value) {
    let journal = &services.journal;
    match before {
        Before::NewFolders => note_new_folders(services, result),
        Before::Copy => {
            if let Some(copy) = read(result) {
                let change = NodeChange::Copied(Arrival::of(&copy));
                journal.note_node(None, &copy, change);
            }
        }
        Before::NewLinks => {
            for link in session_links::made(result) {
                journal.note_link(link, LinkChange::Made);
            }
        }
        Before::Link(link) => session_links::after(services, link).await,
        Before::Node(node) => {
            // Some results are not the node: its state is asked for.
            let Ok(now) = services.node_as_it_is(node.id).await else {
                return;
            };
            note_changed_node(services, tool, &node, &now);
        }
    }
}

fn note_changed_node(services: &Services, tool: &str, before: &Node, now: &Node) {
    let change = match tool {
        "delete_file" => NodeChange::Trashed,
        "restore_from_trash" => NodeChange::Restored(Arrival::of(now)),
        "move_file" | "rename_file" => return services.note_move(before, now),
        _ => {
            let (from, to) = (Details::of(before), Details::of(now));
            if from == to {
                return;
            }
            NodeChange::Details { from, to }
        }
    };
    services.journal.note_node(Some(before), now, change);
}

/// Notes the new folders of a result: the one that it is, or of those that it lists the ones that were not
/// there before.
pub(crate) fn note_new_folders(services: &Services, result: &Value) {
    let listed = result["folders"].as_array().into_iter().flatten();
    let created = result["created"].as_array();
    let is_new = |folder: &&Value| created.is_none_or(|ids| ids.contains(&folder["id"]));
    let new = listed.filter(is_new).chain(std::iter::once(result));
    for folder in new.filter_map(read) {
        if folder.kind == Kind::Folder {
            services
                .journal
                .note_node(None, &folder, NodeChange::MadeFolder);
        }
    }
}

fn read(value: &Value) -> Option<Node> {
    serde_json::from_value(value.clone()).ok()
}

impl Services {
    /// Notes that a node was moved or renamed.
    pub(crate) fn note_move(&self, before: &Node, after: &Node) {
        let (from, to) = (Position::of(before), Position::of(after));
        if from != to {
            let change = NodeChange::Moved { from, to };
            self.journal.note_node(Some(before), after, change);
        }
    }

    /// Returns a node of any of the caller's spaces, active or in the trash.
    pub(crate) async fn node_as_it_is(&self, id: NodeId) -> ToolResult<Node> {
        let id = id.to_string();
        let node = self.request(Verb::Get, &["nodes", &id], &[], None).await?;
        serde_json::from_value(node).map_err(|_| crate::error::ToolError::Internal)
    }
}
