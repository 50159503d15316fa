//! Records in the session's journal what each call of a tool has changed, so that it can be undone. A session is all
//! calls of one client, from the start to the end of this process.

use crate::error::ToolResult;
use crate::foreign_records::read_node;
use crate::services::Services;
use crate::session_edit::NodeEdit;
use crate::session_labels::LabelsBefore;
use crate::session_links::{self, LinkBefore};
use crate::session_lookup::{NewLinks, NewNodes};
use crate::session_own_change::Wanted;
use cairn_model::Kind;
use cairn_space::undo::NodeChange;
use cairn_wire::nodes::{Node, NodeState};
use serde_json::Value;

/// The state before a call changes something.
pub(crate) enum Before {
    Node(NodeEdit, Box<Node>, Wanted),
    Link(LinkBefore),
    /// The folders that a call makes, if it names any that can be made.
    NewFolders(Option<NewNodes>),
    NewCopy(Option<NewNodes>),
    NewLinks(Option<NewLinks>),
    Labels(LabelsBefore),
}

/// Notes what a call has changed, from its result.
///
/// # Errors
/// The error of a copy that can't be read; those of the service where the result is not enough. Nothing is noted then.
pub(crate) async fn after(services: &Services, before: &Before, result: &Value) -> ToolResult {
    let journal = &services.journal;
    match before {
        Before::NewFolders(_) => note_new_folders(services, result),
        Before::NewCopy(_) => {
            let copy = read_node(result.clone())?;
            journal.note_new_node(&copy, NodeChange::Copied);
        }
        Before::NewLinks(_) => {
            for link in session_links::created_links(result) {
                journal.note_new_link(link);
            }
        }
        Before::Link(link) => session_links::after(services, link).await?,
        Before::Labels(labels) => {
            labels.note_changes(services, None).await?;
        }
        Before::Node(edit, node, _) => {
            // Some results are not the node: its state is asked for.
            let now = services.node_as_it_is(node.id).await?;
            note_changed_node(services, *edit, node, &now);
        }
    }
    Ok(())
}

/// Notes what a call has changed of a node, if it has, and if no other call has noted it: a lost call and its repetition
/// find the same.
pub(crate) fn note_changed_node(services: &Services, edit: NodeEdit, before: &Node, now: &Node) {
    use NodeState::{Active, Trashed};
    if services.journal.has_noted(now) {
        return;
    }
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
fn note_new_folders(services: &Services, result: &Value) {
    let listed = result["folders"].as_array().into_iter().flatten();
    let created = result["created"].as_array();
    let is_new = |folder: &&Value| created.is_none_or(|ids| ids.contains(&folder["id"]));
    let new = listed.filter(is_new).chain(std::iter::once(result));
    for folder in new.filter_map(|record| read_node(record.clone()).ok()) {
        if folder.kind == Kind::Folder {
            services.journal.note_new_node(&folder, NodeChange::Made);
        }
    }
}

impl Services {
    /// Notes that a node was moved or renamed, perhaps to where and what it was.
    pub(crate) fn note_move(&self, before: &Node, after: &Node) {
        match NodeChange::move_between(before, after) {
            Some(change) => self.journal.note_node(Some(before), after, change),
            None => self.journal.note_touched(before, after),
        }
    }
}
