//! Noting in the session's journal what the calls of tools change.

use crate::call::Call;
use crate::error::ToolResult;
use crate::services::Services;
use crate::session_journal::{Change, Position};
use crate::tool::Verb;
use cairn_model::NodeId;
use cairn_wire::nodes::Node;
use serde_json::Value;

/// The state before a call changes something.
pub(crate) enum Before {
    /// A node that is moved, renamed, trashed or restored.
    Node(Box<Node>),
    /// Something new.
    Nothing,
}

/// Looks at what a call is about to change; `None` for a call whose change is not noted.
pub(crate) async fn before(tool: &str, call: &Call) -> Option<Before> {
    match tool {
        "create_folder" | "create_nested_folders" | "copy_file" => Some(Before::Nothing),
        "move_file" | "rename_file" | "delete_file" | "restore_from_trash" => {
            let id = call.arguments.id("file_uuid").ok()?;
            // Without it the call itself says what is wrong.
            let node = call.services.node_as_it_is(id).await.ok()?;
            Some(Before::Node(Box::new(node)))
        }
        _ => None,
    }
}

/// Notes what a call has changed, from its result.
pub(crate) fn after(services: &Services, tool: &str, before: Before, result: &Value) {
    let read = |value: &Value| serde_json::from_value::<Node>(value.clone()).ok();
    let made = |node: Node| Change::Made {
        node: node.id,
        revision: node.revision_id,
    };
    let journal = &services.journal;
    match (tool, before) {
        ("create_nested_folders", Before::Nothing) => {
            let folders = result["folders"].as_array().into_iter().flatten();
            folders
                .filter_map(read)
                .map(made)
                .for_each(|c| journal.note(c));
        }
        (_, Before::Nothing) => read(result)
            .map(made)
            .into_iter()
            .for_each(|c| journal.note(c)),
        ("delete_file", Before::Node(node)) => journal.note(Change::Trashed { node: node.id }),
        ("restore_from_trash", Before::Node(node)) => {
            journal.note(Change::Restored { node: node.id });
        }
        (_, Before::Node(node)) => {
            if let Some(moved) = read(result) {
                services.note_move(&node, &moved);
            }
        }
    }
}

impl Services {
    /// Notes that a node was moved or renamed.
    pub(crate) fn note_move(&self, before: &Node, after: &Node) {
        let (from, to) = (Position::of(before), Position::of(after));
        if from != to {
            let node = before.id;
            self.journal.note(Change::Moved { node, from, to });
        }
    }

    /// Returns a node of any of the caller's spaces, active or in the trash.
    pub(crate) async fn node_as_it_is(&self, id: NodeId) -> ToolResult<Node> {
        let id = id.to_string();
        let node = self.request(Verb::Get, &["nodes", &id], &[], None).await?;
        serde_json::from_value(node).map_err(|_| crate::error::ToolError::Internal)
    }
}
