//! The changes that the tools of one session made to files and folders, so that they can be taken back.

mod take_back;

pub(crate) use take_back::undo_session;

use crate::call::Call;
use crate::error::ToolResult;
use crate::services::Services;
use crate::tool::Verb;
use cairn_model::{NodeId, RevisionId};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use serde_json::Value;

/// The folder and name of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Position {
    pub(crate) parent: Option<NodeId>,
    pub(crate) name: String,
}

impl Position {
    fn of(node: &Node) -> Self {
        Self {
            parent: node.parent_id,
            name: node.name.clone(),
        }
    }
}

/// A change, with what is needed to take it back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// An empty folder, or a copy with this content.
    Made {
        node: NodeId,
        revision: Option<RevisionId>,
    },
    Moved {
        node: NodeId,
        from: Position,
        to: Position,
    },
    Trashed {
        node: NodeId,
    },
    /// It came out of the trash.
    Restored {
        node: NodeId,
    },
}

/// The changes of a session, oldest first.
#[derive(Default)]
pub(crate) struct SessionJournal(Mutex<Vec<Change>>);

impl SessionJournal {
    pub(crate) fn note(&self, change: Change) {
        self.0.lock().push(change);
    }

    fn take(&self) -> Vec<Change> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Puts back what could not be taken back: another try may.
    fn keep(&self, left: Vec<Change>) {
        let mut changes = self.0.lock();
        let since = std::mem::replace(&mut *changes, left);
        changes.extend(since);
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn node(n: u8) -> NodeId {
        NodeId::from_random_bytes([n; 16])
    }

    #[test]
    fn what_could_not_be_taken_back_stays_before_what_came_since() {
        let journal = SessionJournal::default();
        let change = |n| Change::Trashed { node: node(n) };
        journal.note(change(1));
        journal.note(change(2));
        assert_eq!(journal.take(), [change(1), change(2)]);
        journal.note(change(3));
        journal.keep(vec![change(1)]);
        assert_eq!(journal.take(), [change(1), change(3)]);
    }
}
