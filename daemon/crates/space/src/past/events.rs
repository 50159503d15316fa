//! Events of the nodes of a part of the space, newest first. Pure.

use super::{Past, PastNode, Scope};
use cairn_model::{DeviceId, NodeId, PastKind, RevisionId};
use cairn_wire::nodes::{NodeState, Revision};

/// Something that happened to a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    pub at_ms: i64,
    pub kind: PastKind,
    pub node: NodeId,
    /// The path at the time.
    pub path: String,
    /// The path before a move.
    pub from: Option<String>,
    pub device: Option<DeviceId>,
    /// The e-mail address of the account.
    pub by: Option<String>,
    pub version: Option<u64>,
    pub revision: Option<RevisionId>,
    pub bytes: Option<u64>,
}

impl Event {
    /// Returns whether it is the making of something that has changed since: its node no longer says by which device,
    /// and how large it was.
    pub fn lacks_maker(&self) -> bool {
        self.kind == PastKind::Created && self.device.is_none() && self.bytes.is_none()
    }

    /// Adds what the first of the revisions of its file says of its making.
    pub fn add_maker(&mut self, revisions: &[Revision]) {
        let first = revisions.iter().find(|revision| revision.number == 1);
        if let Some(first) = first.filter(|first| first.node_id == self.node) {
            self.device = first.device_id;
            self.by = Some(first.uploaded_by.clone());
            self.bytes = Some(first.size);
        }
    }
}

/// Lists the events of a scope. With `revisions`, those of the one file that the scope is.
pub fn events(past: &Past, scope: Scope, revisions: &[Revision]) -> Vec<Event> {
    let mut events = Vec::new();
    for one in past.iter() {
        if !past.is_in(one.node.id, scope) {
            continue;
        }
        events.extend(moves(past, one));
        events.extend(states(past, scope, one, revisions));
    }
    events.extend(revisions.iter().map(|revision| version(past, revision)));
    events.sort_by(|a, b| {
        let key = |e: &Event| (e.at_ms, e.kind, e.version, e.node);
        key(b).cmp(&key(a))
    });
    events
}

fn event(one: &PastNode, at_ms: i64, kind: PastKind, path: String) -> Event {
    Event {
        at_ms,
        kind,
        node: one.node.id,
        path,
        from: None,
        device: None,
        by: None,
        version: None,
        revision: None,
        bytes: None,
    }
}

/// Returns the moves of a node, and its stays in the trash that are over.
fn moves<'a>(past: &'a Past, one: &'a PastNode) -> impl Iterator<Item = Event> + 'a {
    let last = one.left.len();
    (1..).zip(&one.left).filter_map(move |(next, left)| {
        let is_gone = match one.left.get(next) {
            Some(state) => state.state == NodeState::Trashed,
            // Itself, and then: a place that this device remembers says nothing of a later deletion.
            None => one.deleted.is_some_and(|deleted| {
                (deleted.root, deleted.at_ms) == (one.node.id, left.until_ms)
            }),
        };
        let was_gone = left.state == NodeState::Trashed;
        // The last deletion is told with the present state.
        if is_gone && next == last {
            return None;
        }
        // Just before it was moved, and from then on.
        let from = past.path_at(one.node.id, left.until_ms - 1);
        let path = past.path_at(one.node.id, left.until_ms);
        let kind = match (was_gone, is_gone) {
            (_, true) => PastKind::Deleted,
            (true, false) => PastKind::Restored,
            (false, false) => PastKind::Moved,
        };
        let is_elsewhere = from != path;
        let latest = is_latest(one, left.until_ms)
            .then_some(one.node.device_id)
            .flatten();
        Some(Event {
            from: (kind == PastKind::Moved || is_elsewhere).then_some(from),
            device: left.device.or(latest),
            ..event(one, left.until_ms, kind, path)
        })
    })
}

/// Returns whether a time is that of the node's latest change, of which the device is known.
fn is_latest(one: &PastNode, at_ms: i64) -> bool {
    one.node.updated_at.0 == at_ms
}

/// Returns the events that the node's own fields show: created, changed, deleted.
fn states(past: &Past, scope: Scope, one: &PastNode, revisions: &[Revision]) -> Vec<Event> {
    let node = &one.node;
    let mut events = Vec::new();
    let latest = Event {
        device: node.device_id,
        bytes: (node.kind == cairn_model::Kind::File).then_some(node.size),
        ..event(
            one,
            node.updated_at.0,
            PastKind::Changed,
            past.path(node.id),
        )
    };
    let own_versions = revisions.iter().any(|revision| revision.node_id == node.id);
    if !own_versions {
        let made = node.created_at.0;
        let is_unchanged = is_latest(one, made);
        events.push(Event {
            device: latest.device.filter(|_| is_unchanged),
            bytes: latest.bytes.filter(|_| is_unchanged),
            ..event(one, made, PastKind::Created, past.path_at(node.id, made))
        });
    }
    if let Some(deleted) = one.deleted {
        // What went along with its folder is said once: of the folder, or of what is looked at.
        if deleted.root == node.id || scope.top() == Some(node.id) {
            let root = past.get(deleted.root);
            events.push(Event {
                at_ms: deleted.at_ms,
                kind: PastKind::Deleted,
                device: root.and_then(|root| root.node.device_id),
                ..latest
            });
        }
        return events;
    }
    let is_move = one.left.iter().any(|left| is_latest(one, left.until_ms));
    let is_new = is_latest(one, node.created_at.0);
    if !is_move && !is_new && !own_versions {
        events.push(latest);
    }
    events
}

fn version(past: &Past, revision: &Revision) -> Event {
    let first = revision.number == 1;
    Event {
        at_ms: revision.created_at.0,
        kind: if first {
            PastKind::Created
        } else {
            PastKind::Version
        },
        node: revision.node_id,
        path: past.path_at(revision.node_id, revision.created_at.0),
        from: None,
        device: revision.device_id,
        by: Some(revision.uploaded_by.clone()),
        version: Some(revision.number),
        revision: Some(revision.id),
        bytes: Some(revision.size),
    }
}
