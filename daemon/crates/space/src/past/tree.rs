//! The nodes of a space as they are and as they were.

use super::same_path;
use crate::space::MAX_DEPTH;
use cairn_model::{Cursor, DeviceId, Kind, NodeId, PastPlace, is_temporary_text};
use cairn_wire::nodes::{Node, NodeState};
use std::collections::{HashMap, HashSet};

/// The stay of a node in the trash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deleted {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// The node with which it was put there: itself, or a folder above it.
    pub root: NodeId,
}

impl Deleted {
    /// Finds with which node another one went to the trash, `None` if it is not there: the highest above it that is
    /// there too, up to the first of the `roots` that were put there by themselves.
    #[must_use]
    pub fn of(node: &Node, nodes: &HashMap<NodeId, Node>, roots: &HashSet<NodeId>) -> Option<Self> {
        if node.state == NodeState::Active {
            return None;
        }
        let mut at = node;
        for _ in 0..MAX_DEPTH {
            if roots.contains(&at.id) {
                break;
            }
            match at.parent_id.and_then(|parent| nodes.get(&parent)) {
                Some(parent) if parent.state == NodeState::Trashed => at = parent,
                Some(_) | None => break,
            }
        }
        Some(Self {
            at_ms: at.updated_at.0,
            root: at.id,
        })
    }
}

/// A state that a node has left: a place, in the trash or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftState {
    /// `None`: the top of the space.
    pub parent: Option<NodeId>,
    pub name: String,
    pub state: NodeState,
    /// Milliseconds since 1970-01-01 UTC: when it ended.
    pub until_ms: i64,
    /// The device that ended it, if it is known.
    pub device: Option<DeviceId>,
}

impl From<PastPlace> for LeftState {
    /// A place that this device saw.
    fn from(place: PastPlace) -> Self {
        Self {
            parent: place.parent,
            name: place.name,
            state: NodeState::Active,
            until_ms: place.until_ms,
            device: None,
        }
    }
}

/// The source of what is known of earlier places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// The service, which knows all since a time.
    Service { from_ms: i64 },
    /// The device itself, because the service keeps none; with the first move that it saw.
    Device { first_ms: Option<i64> },
}

impl Memory {
    /// Returns whether all moves and deletions since a time are known.
    #[must_use]
    pub fn reaches(self, at_ms: i64) -> bool {
        match self {
            Self::Service { from_ms } => from_ms <= at_ms,
            Self::Device { .. } => false,
        }
    }
}

/// A node with its past.
#[derive(Clone, PartialEq, Debug)]
pub struct PastNode {
    pub node: Node,
    pub deleted: Option<Deleted>,
    /// The states that it has left, oldest first.
    pub left: Vec<LeftState>,
}

/// A folder (`None`: the top of the space) and a name in it.
pub type Location<'a> = (Option<NodeId>, &'a str);

/// The part of the space that is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    All,
    /// A node with everything below it; itself it stays where it is.
    Below(NodeId),
    /// A file with the place that it had: what has come there since is in the way.
    Place(NodeId),
}

impl Scope {
    /// Returns the node that the scope is about; none for the whole space.
    pub fn top(self) -> Option<NodeId> {
        match self {
            Self::All => None,
            Self::Below(top) | Self::Place(top) => Some(top),
        }
    }
}

/// All nodes of a space, those in the trash too.
#[derive(Clone, Debug, Default)]
pub struct Past {
    nodes: HashMap<NodeId, PastNode>,
    /// The position in the feed up to which this was read.
    pub cursor: Option<Cursor>,
    /// The source of the states that nodes have left; unknown where none were asked for.
    pub memory: Option<Memory>,
}

impl PastNode {
    /// Returns the state that it had at a time, if it has left that since.
    fn left_since(&self, at_ms: i64) -> Option<&LeftState> {
        self.left.iter().find(|state| state.until_ms > at_ms)
    }

    /// Returns whether it had been made at a time, and did not lie in the trash then.
    fn was_active_itself_at(&self, at_ms: i64) -> bool {
        let is_in_trash = match self.left_since(at_ms) {
            Some(state) => state.state == NodeState::Trashed,
            None => self.deleted.is_some_and(|deleted| deleted.at_ms <= at_ms),
        };
        self.node.created_at.0 <= at_ms && !is_in_trash
    }

    /// Returns whether it lay in the trash at a time, and has come out of it since.
    fn was_in_trash_at(&self, at_ms: i64) -> bool {
        self.left_since(at_ms)
            .is_some_and(|state| state.state == NodeState::Trashed)
    }

    /// Returns the place that it had at a time, as far as its moves are known.
    pub fn place_at(&self, at_ms: i64) -> Location<'_> {
        match self.left_since(at_ms) {
            Some(state) => (state.parent, &state.name),
            None => self.place(),
        }
    }

    /// Returns the place that it has, or had when it was deleted.
    pub fn place(&self) -> Location<'_> {
        (self.node.parent_id, &self.node.name)
    }

    pub fn is_active(&self) -> bool {
        self.deleted.is_none()
    }
}

impl Past {
    pub fn new(nodes: impl IntoIterator<Item = PastNode>) -> Self {
        let nodes = nodes.into_iter().map(|mut past| {
            // Such a name is a step on the way to another one: nobody gave it, and nobody wants it back.
            past.left.retain(|state| !is_temporary_text(&state.name));
            (past.node.id, past)
        });
        Self {
            nodes: nodes.collect(),
            cursor: None,
            memory: None,
        }
    }

    /// Sets the source of the states that nodes have left.
    pub fn known_by(self, memory: Memory) -> Self {
        Self {
            memory: Some(memory),
            ..self
        }
    }

    /// Sets the position in the feed up to which the nodes were read.
    pub fn read_up_to(self, cursor: Cursor) -> Self {
        Self {
            cursor: Some(cursor),
            ..self
        }
    }

    /// Adds a place that a node has left, the latest of its places.
    pub fn remember(&mut self, place: PastPlace) {
        if let Some(past) = self.nodes.get_mut(&place.node)
            && !is_temporary_text(&place.name)
        {
            past.left.push(place.into());
        }
    }

    pub fn get(&self, id: NodeId) -> Option<&PastNode> {
        self.nodes.get(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &PastNode> {
        self.nodes.values()
    }

    /// Returns the path of a node as it is, or was when it was deleted.
    pub fn path(&self, id: NodeId) -> String {
        self.path_by(id, PastNode::place)
    }

    /// Returns the path of a node as it was at a time.
    pub fn path_at(&self, id: NodeId, at_ms: i64) -> String {
        self.path_by(id, |past| past.place_at(at_ms))
    }

    /// Returns the path of a node where each node has the place that is given for it.
    pub(super) fn path_by<'a>(
        &'a self,
        id: NodeId,
        place: impl Fn(&'a PastNode) -> Location<'a>,
    ) -> String {
        let mut names = Vec::new();
        let mut at = Some(id);
        while let Some(past) = at.and_then(|id| self.get(id))
            && names.len() < MAX_DEPTH
        {
            let (parent, name) = place(past);
            names.push(name);
            at = parent;
        }
        names.push("");
        names.reverse();
        names.join("/")
    }

    /// Returns the number of folders above a node, as it was at a time.
    pub fn depth_at(&self, id: NodeId, at_ms: i64) -> usize {
        self.chain(id, |past| past.place_at(at_ms)).count()
    }

    /// Returns whether a node lies in a scope as it is.
    pub fn is_in(&self, id: NodeId, scope: Scope) -> bool {
        self.contains(id, scope, PastNode::place)
    }

    /// Returns whether a node lay in a scope at a time.
    pub fn was_in(&self, id: NodeId, scope: Scope, at_ms: i64) -> bool {
        self.contains(id, scope, |past| past.place_at(at_ms))
    }

    fn contains<'a>(
        &'a self,
        id: NodeId,
        scope: Scope,
        place: impl Fn(&'a PastNode) -> Location<'a> + 'a,
    ) -> bool {
        scope
            .top()
            .is_none_or(|top| self.chain(id, place).any(|above| above == top))
    }

    /// Finds the scope that a path names: what was there at a time, else what is there now.
    pub fn at_path(&self, path: &str, at_ms: i64) -> Option<Scope> {
        if path == "/" {
            return Some(Scope::All);
        }
        let is_there = |one: &PastNode| one.is_active() && same_path(&self.path(one.node.id), path);
        let found = self
            .iter()
            .filter(|one| self.stood_at(one, path, at_ms))
            // Where this device alone remembers, one that was deleted and brought back since counts as never
            // deleted: there may be several.
            .max_by_key(|one| {
                let made = (one.node.created_at.0, one.node.id);
                (is_there(one), one.is_active(), made)
            })
            .or_else(|| self.iter().find(|one| is_there(one)))?;
        Some(Scope::Below(found.node.id))
    }

    /// Returns whether a node was there at a time: neither in the trash itself, nor in a folder that was.
    pub fn existed_at(&self, one: &PastNode, at_ms: i64) -> bool {
        let mut chain = self.chain(one.node.id, |past| past.place_at(at_ms));
        let in_trash = |id| {
            self.get(id)
                .is_some_and(|above| above.was_in_trash_at(at_ms))
        };
        one.was_active_itself_at(at_ms) && !chain.any(in_trash)
    }

    /// Returns whether a node was at a path at a time.
    pub fn stood_at(&self, one: &PastNode, path: &str, at_ms: i64) -> bool {
        self.existed_at(one, at_ms) && same_path(&self.path_at(one.node.id, at_ms), path)
    }

    /// Lists the others that have been at a path of a node, as far as is known: those that were deleted there
    /// or moved away, by themselves or with a folder, the newest first. Without a node: all that have been there.
    pub fn others_at(&self, path: &str, id: Option<NodeId>) -> Vec<&PastNode> {
        let was_there = |one: &&PastNode| {
            let moved_away =
                |until_ms: i64| same_path(&self.path_at(one.node.id, until_ms - 1), path);
            let mut left = self
                .with_folders_above(one.node.id)
                .flat_map(|above| above.left.iter());
            Some(one.node.id) != id
                && (same_path(&self.path(one.node.id), path)
                    || left.any(|left| moved_away(left.until_ms)))
        };
        let mut others: Vec<&PastNode> = self.iter().filter(was_there).collect();
        others.sort_by_key(|one| std::cmp::Reverse((one.node.updated_at.0, one.node.id)));
        others
    }

    /// Finds what was deleted under a path: the latest of those that were there at a time, if one is given.
    pub fn deleted_at_path(&self, path: &str, at_ms: Option<i64>) -> Option<&PastNode> {
        self.iter()
            .filter(|one| !one.is_active() && at_ms.is_none_or(|at_ms| self.existed_at(one, at_ms)))
            .filter(|one| same_path(&self.path(one.node.id), path))
            .max_by_key(|one| one.deleted.map(|deleted| deleted.at_ms))
    }

    /// Returns the files of a scope at a time, each with its path below the scope, sorted by it.
    pub fn files_at(&self, scope: Scope, at_ms: i64) -> Vec<(String, NodeId)> {
        let base = match scope.top() {
            None => String::new(),
            // With its own name: a file is written under it, a folder becomes one.
            Some(top) => {
                let path = self.path_at(top, at_ms);
                path.rsplit_once('/')
                    .map_or_else(String::new, |(above, _)| above.to_owned())
            }
        };
        let is_wanted = |one: &&PastNode| {
            let existed = self.existed_at(one, at_ms) || (at_ms == i64::MAX && !one.is_active());
            one.node.kind == Kind::File && existed && self.was_in(one.node.id, scope, at_ms)
        };
        let mut files: Vec<(String, NodeId)> = self
            .iter()
            .filter(is_wanted)
            .map(|one| {
                let path = self.path_at(one.node.id, at_ms);
                let below = path.strip_prefix(&base).unwrap_or(&path);
                (below.trim_start_matches('/').to_owned(), one.node.id)
            })
            .collect();
        files.sort();
        files
    }

    /// Returns a node and the folders above it, as they are, or were when they were deleted.
    pub fn with_folders_above(&self, id: NodeId) -> impl Iterator<Item = &PastNode> {
        self.chain(id, PastNode::place)
            .filter_map(|id| self.get(id))
    }

    /// A node and the folders above it.
    fn chain<'a>(
        &'a self,
        id: NodeId,
        place: impl Fn(&'a PastNode) -> Location<'a> + 'a,
    ) -> impl Iterator<Item = NodeId> + 'a {
        let above = move |id: &NodeId| self.get(*id).and_then(|past| place(past).0);
        std::iter::successors(Some(id), above).take(MAX_DEPTH)
    }
}
