//! Records in the session's journal what each call of a tool changes, so that it can be undone. The tool's
//! declaration says what kind of change to look for. A session is all calls of one client, from the start to
//! the end of this process.

use crate::call::Call;
use crate::error::ToolResult;
use crate::services::Services;
use crate::session_journal::LinkChange;
use crate::session_links::{self, LinkBefore};
use crate::tool::{NodeEdit, Undo, Verb};
use cairn_model::{Kind, NodeId};
use cairn_space::undo::NodeChange;
use cairn_wire::nodes::{Node, NodeState};
use serde_json::Value;

/// The state before a call changes something.
pub(crate) enum Before {
    Node(NodeEdit, Box<Node>),
    Link(LinkBefore),
    NewFolders,
    NewCopy,
    NewLinks,
}

/// Looks at what a call is about to change; `None` for a call whose change is not noted.
pub(crate) async fn read_before(undo: Undo, call: &Call) -> Option<Before> {
    let services = &call.services;
    if services.journal.is_to_begin()
        && let Ok(space) = services.own_space_id().await
    {
        services.journal.begin(space);
    }
    match undo {
        Undo::NewFolders => Some(Before::NewFolders),
        Undo::NewCopy => Some(Before::NewCopy),
        Undo::NewLinks => Some(Before::NewLinks),
        Undo::Node(edit) => {
            let id = call.arguments.id("file_uuid").ok()?;
            // Without it the call itself says what is wrong.
            let node = call.services.node_as_it_is(id).await.ok()?;
            Some(Before::Node(edit, Box::new(node)))
        }
        Undo::LinkSettings => {
            let code = call.arguments.text("short_code")?;
            let sets_password = call.arguments.has("password");
            let link = session_links::read_before(&call.services, code, sets_password).await?;
            Some(Before::Link(link))
        }
        Undo::NotedByTool => None,
    }
}

/// Notes what a call has changed, from its result.
pub(crate) async fn after(services: &Services, before: Before, result: &Value) {
    let journal = &services.journal;
    match before {
        Before::NewFolders => note_new_folders(services, result),
        Before::NewCopy => {
            if let Some(copy) = read(result) {
                journal.note_node(None, &copy, NodeChange::Copied);
            }
        }
        Before::NewLinks => {
            for link in session_links::created_links(result) {
                journal.note_link(link, LinkChange::Made);
            }
        }
        Before::Link(link) => session_links::after(services, link).await,
        Before::Node(edit, node) => {
            // Some results are not the node: its state is asked for.
            let Ok(now) = services.node_as_it_is(node.id).await else {
                return;
            };
            note_changed_node(services, edit, &node, &now);
        }
    }
}

fn note_changed_node(services: &Services, edit: NodeEdit, before: &Node, now: &Node) {
    use NodeState::{Active, Trashed};
    // A call may find things as it wants them: what others did is not this session's to take back.
    let states = (before.state, now.state);
    let change = match edit {
        NodeEdit::Trash => (states == (Active, Trashed)).then_some(NodeChange::Trashed),
        NodeEdit::Restore => (states == (Trashed, Active)).then_some(NodeChange::Restored),
        NodeEdit::Content => NodeChange::content(before, now),
        NodeEdit::Move => return services.note_move(before, now),
        NodeEdit::Details => return services.journal.note_details(before, now),
    };
    if let Some(change) = change {
        services.journal.note_node(Some(before), now, change);
    }
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
            services.journal.note_node(None, &folder, NodeChange::Made);
        }
    }
}

fn read(value: &Value) -> Option<Node> {
    serde_json::from_value(value.clone()).ok()
}

impl Services {
    /// Notes that a node was moved or renamed, perhaps to where and what it was.
    pub(crate) fn note_move(&self, before: &Node, after: &Node) {
        match NodeChange::move_between(before, after) {
            Some(change) => self.journal.note_node(Some(before), after, change),
            None => self.journal.note_touched(before, after),
        }
    }

    /// Returns a node of any of the caller's spaces, active or in the trash.
    pub(crate) async fn node_as_it_is(&self, id: NodeId) -> ToolResult<Node> {
        let id = id.to_string();
        let node = self.request(Verb::Get, &["nodes", &id], &[], None).await?;
        serde_json::from_value(node).map_err(|_| crate::error::ToolError::Internal)
    }
}
