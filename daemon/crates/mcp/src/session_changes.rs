//! Records in the session's journal what each call of a tool changes, so that it can be undone. The tool's
//! declaration says what kind of change to look for. A session is all calls of one client, from the start to
//! the end of this process.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::outcome;
use crate::services::Services;
use crate::session_intents::Intent;
use crate::session_journal::LinkChange;
use crate::session_labels::LabelsBefore;
use crate::session_links::{self, LinkBefore};
use crate::session_lookup::{NewLinks, NewNodes};
use crate::session_own_change::Wanted;
use crate::tool::{NodeEdit, Undo};
use cairn_api::ApiError;
use cairn_model::Kind;
use cairn_space::undo::NodeChange;
use cairn_wire::nodes::{Node, NodeState};
use serde_json::Value;

/// The state before a call changes something.
pub(crate) enum Before {
    Node(NodeEdit, Box<Node>, Wanted),
    Link(LinkBefore),
    /// The folders that a call makes, if they could be looked up.
    NewFolders(Option<NewNodes>),
    NewCopy(Option<NewNodes>),
    NewLinks(Option<NewLinks>),
    Labels(LabelsBefore),
}

/// Looks at what a call is about to change; `None` for a call whose change is not noted, and for one that names nothing
/// of the caller's, as the call itself says.
///
/// # Errors
/// Those of the service: what could not be taken back later is not changed.
pub(crate) async fn read_before(undo: Undo, call: &Call) -> ToolResult<Option<Before>> {
    let services = &call.services;
    if services.journal.is_to_begin()
        && let Ok(space) = services.own_space_id().await
    {
        services.journal.begin(space);
    }
    settle_open(services, IfUnmade::Keep).await;
    Ok(match undo {
        Undo::NewFolders => Some(Before::NewFolders(new_folders(call).await)),
        Undo::NewCopy => Some(Before::NewCopy(new_copy(call).await)),
        Undo::NewLinks => Some(Before::NewLinks(new_links(call).await)),
        Undo::Node(edit) => edited_node(edit, call).await?,
        Undo::LinkSettings => match call.arguments.text("short_code") {
            Some(code) => {
                let sets_password = call.arguments.has("password");
                let link = session_links::read_before(services, code, sets_password).await?;
                link.map(Before::Link)
            }
            None => None,
        },
        Undo::NotedByTool => None,
    })
}

/// Looks at the file or folder that a call changes.
async fn edited_node(edit: NodeEdit, call: &Call) -> ToolResult<Option<Before>> {
    let Ok(id) = call.arguments.id("file_uuid") else {
        return Ok(None);
    };
    let node = match call.services.node_as_it_is(id).await {
        Ok(node) => node,
        Err(ToolError::Api(ApiError::NotFound { .. } | ApiError::Forbidden { .. })) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let wanted = Wanted {
        name: call.arguments.text("new_name").map(str::to_owned),
        parent: call.arguments.id("target_folder_uuid").ok(),
    };
    Ok(Some(Before::Node(edit, Box::new(node), wanted)))
}

/// Looks at the folders that a call makes.
async fn new_folders(call: &Call) -> Option<NewNodes> {
    let arguments = &call.arguments;
    let path = arguments.text("path").or_else(|| arguments.text("name"))?;
    let parent = arguments.text("parent_uuid");
    NewNodes::read(&call.services, parent, path).await
}

/// Looks at where a call puts the copy of a node.
async fn new_copy(call: &Call) -> Option<NewNodes> {
    let source = call.arguments.id("file_uuid").ok()?;
    let source = call.services.node_as_it_is(source).await.ok()?;
    let parent = call.arguments.text("target_folder_uuid");
    NewNodes::read(&call.services, parent, &source.name).await
}

/// Looks at the links before a call makes some.
async fn new_links(call: &Call) -> Option<NewLinks> {
    let one = call.arguments.text("file_uuid").into_iter();
    let files = one.chain(call.arguments.texts("file_uuids"));
    NewLinks::read(&call.services, files.map(str::to_lowercase).collect()).await
}

/// Notes what a call has changed: from its result, or by a look at it where the call has failed.
pub(crate) async fn conclude(services: &Services, intent: Intent<'_>, result: &ToolResult<Value>) {
    match result {
        Ok(value) => {
            let noted = match intent.change() {
                Some(before) => after(services, before, value).await,
                None => Ok(()),
            };
            match noted {
                Ok(()) => intent.finish(),
                // The change was made: it stays open, and is looked at again.
                Err(error) => {
                    let error = error.public_message();
                    tracing::warn!(error, "what a call has changed can't be noted yet");
                }
            }
        }
        Err(error) => settle_failed(services, intent, error).await,
    }
}

/// Looks at a change whose call has failed, and notes it if it took place.
pub(crate) async fn settle_failed(services: &Services, intent: Intent<'_>, error: &ToolError) {
    // Where the service asks for no further request now, it is looked at later.
    if !outcome::asks_to_wait(error) {
        settle(services, intent, IfUnmade::after(error)).await;
    }
}

/// Notes what a call has changed, from its result.
///
/// # Errors
/// [`ToolError::Internal`] for a result of another form; those of the service where the result is not enough. Nothing
/// is noted then.
async fn after(services: &Services, before: &Before, result: &Value) -> ToolResult {
    let journal = &services.journal;
    match before {
        Before::NewFolders(_) => note_new_folders(services, result),
        Before::NewCopy(_) => {
            let copy = read(result).ok_or(ToolError::Internal)?;
            journal.note_node(None, &copy, NodeChange::Copied);
        }
        Before::NewLinks(_) => {
            for link in session_links::created_links(result) {
                journal.note_link(link, LinkChange::Made);
            }
        }
        Before::Link(link) => session_links::after(services, link).await?,
        Before::Labels(labels) => {
            labels.note_changes(services).await?;
        }
        Before::Node(edit, node, _) => {
            // Some results are not the node: its state is asked for.
            let now = services.node_as_it_is(node.id).await?;
            note_changed_node(services, *edit, node, &now);
        }
    }
    Ok(())
}

/// The fate of a noted change that has not taken place: its request may still be on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IfUnmade {
    Keep,
    Forget,
}

impl IfUnmade {
    /// Returns the fate of a change whose call has failed: one that was refused will never take place.
    fn after(error: &ToolError) -> Self {
        if outcome::is_open(error) {
            Self::Keep
        } else {
            Self::Forget
        }
    }
}

/// Looks at the changes whose calls have ended without a result, and notes those that took place.
pub(crate) async fn settle_open(services: &Services, if_unmade: IfUnmade) {
    for intent in services.intents.take_open() {
        let is_known = settle(services, intent, if_unmade).await;
        // While the service fails, each look would take as long: the others wait, unless this is the last time.
        if !is_known && if_unmade == IfUnmade::Keep {
            return;
        }
    }
}

/// Looks at a change whose call has no result, and notes it if it took place; returns false if that can't be found
/// out now.
async fn settle(services: &Services, intent: Intent<'_>, if_unmade: IfUnmade) -> bool {
    let is_made = match intent.change() {
        Some(before) => took_place(services, before).await,
        None => Some(false),
    };
    match (is_made, if_unmade) {
        (None, _) => intent.postpone(),
        (Some(true), _) | (Some(false), IfUnmade::Forget) => intent.finish(),
        (Some(false), IfUnmade::Keep) => {}
    }
    is_made.is_some()
}

/// Notes a change whose call has no result if it took place all the same; `None` if that can't be found out now.
async fn took_place(services: &Services, before: &Before) -> Option<bool> {
    let journal = &services.journal;
    match before {
        Before::NewFolders(new) => {
            let nodes = NewNodes::find_any(services, new.as_ref()).await?;
            let folders = nodes.iter().filter(|node| node.kind == Kind::Folder);
            for folder in folders {
                journal.note_node(None, folder, NodeChange::Made);
            }
            Some(!nodes.is_empty())
        }
        Before::NewCopy(new) => {
            let nodes = NewNodes::find_any(services, new.as_ref()).await?;
            for copy in &nodes {
                journal.note_node(None, copy, NodeChange::Copied);
            }
            Some(!nodes.is_empty())
        }
        Before::NewLinks(new) => {
            let links = match new {
                Some(new) => new.find(services).await?,
                None => Vec::new(),
            };
            let is_made = !links.is_empty();
            for link in links {
                journal.note_link(link, LinkChange::Made);
            }
            Some(is_made)
        }
        Before::Link(link) => session_links::after_if_changed(services, link).await.ok(),
        Before::Labels(labels) => labels.note_changes(services).await.ok(),
        Before::Node(edit, node, wanted) => {
            let now = match services.node_as_it_is(node.id).await {
                Ok(now) => now,
                Err(ToolError::Api(ApiError::NotFound { .. })) => return Some(false),
                Err(_) => return None,
            };
            let is_made = wanted.may_have_led(services, node, &now);
            if is_made {
                note_changed_node(services, *edit, node, &now);
            }
            Some(is_made)
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
fn note_new_folders(services: &Services, result: &Value) {
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
}
