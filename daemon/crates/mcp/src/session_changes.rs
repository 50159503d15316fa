//! Records in the session's journal what each call of a tool changes, so that it can be undone. The tool's
//! declaration says what kind of change to look for. A session is all calls of one client, from the start to
//! the end of this process.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::outcome;
use crate::services::Services;
use crate::session_intents::Intent;
use crate::session_journal::LinkChange;
use crate::session_links::{self, LinkBefore};
use crate::session_lookup::{NewLinks, NewNodes};
use crate::tool::{NodeEdit, Undo, Verb};
use cairn_model::{Kind, NodeId};
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
}

/// The place that a call gives to a node, as far as it names one.
#[derive(Default)]
pub(crate) struct Wanted {
    name: Option<String>,
    parent: Option<NodeId>,
}

impl Wanted {
    fn of(call: &Call) -> Self {
        Self {
            name: call.arguments.text("new_name").map(str::to_owned),
            parent: call.arguments.id("target_folder_uuid").ok(),
        }
    }

    /// Makes that of a move into a folder.
    pub(crate) fn folder(parent: NodeId) -> Self {
        Self {
            name: None,
            parent: Some(parent),
        }
    }

    /// Returns false for a place that the call can't have given to the node. The top of a space has no id.
    fn may_be(&self, now: &Node) -> bool {
        self.name.as_ref().is_none_or(|name| *name == now.name)
            && (now.parent_id.is_none() || self.parent.is_none_or(|of| now.parent_id == Some(of)))
    }
}

/// Looks at what a call is about to change; `None` for a call whose change is not noted.
pub(crate) async fn read_before(undo: Undo, call: &Call) -> Option<Before> {
    let services = &call.services;
    if services.journal.is_to_begin()
        && let Ok(space) = services.own_space_id().await
    {
        services.journal.begin(space);
    }
    settle_open(services, IfUnmade::Keep).await;
    match undo {
        Undo::NewFolders => Some(Before::NewFolders(new_folders(call).await)),
        Undo::NewCopy => Some(Before::NewCopy(new_copy(call).await)),
        Undo::NewLinks => Some(Before::NewLinks(new_links(call).await)),
        Undo::Node(edit) => {
            let id = call.arguments.id("file_uuid").ok()?;
            // Without it the call itself says what is wrong.
            let node = call.services.node_as_it_is(id).await.ok()?;
            Some(Before::Node(edit, Box::new(node), Wanted::of(call)))
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

/// Notes what a call has changed, from its result.
pub(crate) async fn after(services: &Services, before: &Before, result: &Value) {
    let journal = &services.journal;
    match before {
        Before::NewFolders(_) => note_new_folders(services, result),
        Before::NewCopy(_) => {
            if let Some(copy) = read(result) {
                journal.note_node(None, &copy, NodeChange::Copied);
            }
        }
        Before::NewLinks(_) => {
            for link in session_links::created_links(result) {
                journal.note_link(link, LinkChange::Made);
            }
        }
        Before::Link(link) => session_links::after(services, link).await,
        Before::Node(edit, node, _) => {
            // Some results are not the node: its state is asked for.
            let Ok(now) = services.node_as_it_is(node.id).await else {
                return;
            };
            note_changed_node(services, *edit, node, &now);
        }
    }
}

/// The fate of a noted change that has not taken place: its request may still be on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IfUnmade {
    Keep,
    Forget,
}

impl IfUnmade {
    /// Returns that of a change whose call has failed: one that was refused will never take place.
    pub(crate) fn after(error: &ToolError) -> Self {
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
        settle(services, intent, if_unmade).await;
    }
}

/// Looks at a change whose call has no result, and notes it if it took place.
pub(crate) async fn settle(services: &Services, intent: Intent<'_>, if_unmade: IfUnmade) {
    let Some(before) = intent.change() else {
        return;
    };
    let is_made = took_place(services, before).await;
    if is_made == Some(true) || (is_made.is_some() && if_unmade == IfUnmade::Forget) {
        intent.finish();
    }
}

/// Notes a change whose call has no result if it took place all the same; `None` if that can't be found out now.
async fn took_place(services: &Services, before: &Before) -> Option<bool> {
    let journal = &services.journal;
    match before {
        Before::NewFolders(new) => {
            let Some(new) = new else {
                return Some(false);
            };
            let nodes = new.find(services).await?;
            let folders = nodes.iter().filter(|node| node.kind == Kind::Folder);
            for folder in folders {
                journal.note_node(None, folder, NodeChange::Made);
            }
            Some(!nodes.is_empty())
        }
        Before::NewCopy(new) => {
            let Some(new) = new else {
                return Some(false);
            };
            let nodes = new.find(services).await?;
            for copy in &nodes {
                journal.note_node(None, copy, NodeChange::Copied);
            }
            Some(!nodes.is_empty())
        }
        Before::NewLinks(new) => {
            let Some(new) = new else {
                return Some(false);
            };
            let links = new.find(services).await?;
            let is_made = !links.is_empty();
            for link in links {
                journal.note_link(link, LinkChange::Made);
            }
            Some(is_made)
        }
        Before::Link(link) => session_links::after_if_changed(services, link).await,
        Before::Node(edit, node, wanted) => {
            let now = services.node_as_it_is(node.id).await.ok()?;
            let is_made = is_own_change(services, node, &now) && wanted.may_be(&now);
            if is_made {
                note_changed_node(services, *edit, node, &now);
            }
            Some(is_made)
        }
    }
}

/// The versions that one call adds to a node: a restored one is sealed in a second step.
const VERSIONS_OF_A_CALL: u64 = 2;

/// Returns true for a node that one call of this device can have led from one state to the other.
fn is_own_change(services: &Services, before: &Node, now: &Node) -> bool {
    let versions = now.version.saturating_sub(before.version);
    let of_others = now
        .device_id
        .is_some_and(|device| device != services.reads.device());
    (1..=VERSIONS_OF_A_CALL).contains(&versions) && !of_others
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
        serde_json::from_value(node).map_err(|_| ToolError::Internal)
    }
}
