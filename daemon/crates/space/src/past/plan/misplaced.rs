//! The place of what a rewind is for. A folder stays where it is, and so do the folders above a file: what was at a path
//! at the time may be elsewhere after the rewind.

use super::super::{Past, PastNode, Scope, same_path};
use super::{Incomplete, Plan};
use crate::space::MAX_DEPTH;
use cairn_model::NodeId;

impl Plan {
    /// Returns what will keep the scope of this plan from being at the path where it was, if something does. A scope
    /// that is named by where it is now has no other place to go to.
    pub fn misplaced(
        &self,
        past: &Past,
        scope: Scope,
        path: &str,
        at_ms: i64,
    ) -> Option<Incomplete> {
        let top = past.get(scope.top()?)?;
        let id = top.node.id;
        let is_moved = self.moves_node(id);
        let is_reported =
            matches!(scope, Scope::Place(_)) && top.place_at(at_ms) != top.place() && !is_moved;
        if is_reported || !past.stood_at(top, path, at_ms) {
            return None;
        }
        let is_at = past.path(id);
        let lands = self.landing_path(past, id);
        if same_path(&lands, path) {
            return self.beside(past, id);
        }
        let stays = match (top.is_active(), lands == is_at) {
            (false, _) => "comes back here",
            (true, true) => "stays where it is",
            (true, false) => "its folder stays where it is",
        };
        let above = moved_in(past, top, at_ms);
        Some(Incomplete {
            path: lands,
            message: format!(
                "it was {path} then, and {stays}; a rewind of {above} gives it its place back"
            ),
        })
    }

    /// Returns the first of the folders above a node, or itself, that comes back from the trash and whose name is taken.
    fn beside(&self, past: &Past, id: NodeId) -> Option<Incomplete> {
        let folder_stays_away = |one: &PastNode| {
            let folder = one.node.parent_id.and_then(|id| past.get(id));
            folder.is_some_and(|it| !it.is_active() && !self.brings_back(past, it.node.id))
        };
        // Its folder may be one of the same name that was made since.
        let is_at_path_of = |other: &PastNode, one: &PastNode| {
            other.place() == one.place()
                || other.place().1 == one.place().1
                    && folder_stays_away(one)
                    && same_path(&past.path(other.node.id), &past.path(one.node.id))
        };
        let is_taken = |one: &&PastNode| {
            let stays = |other: &PastNode| {
                other.is_active()
                    && other.node.id != one.node.id
                    && is_at_path_of(other, one)
                    && !self.trash.contains(&other.node.id)
                    && !self.moves_node(other.node.id)
            };
            // A folder in the trash that does not come back itself is made again, or the one that is there is taken.
            self.brings_back(past, one.node.id)
                && !self.moves_node(one.node.id)
                && past.iter().any(stays)
        };
        let one = past.with_folders_above(id).find(is_taken)?;
        let above = one.node.parent_id.map(|parent| past.path(parent));
        let above = above.as_deref().unwrap_or("/");
        Some(Incomplete {
            path: past.path(one.node.id),
            message: format!(
                "another one is there now, and stays: this one comes back beside it; a rewind of {above} gives it its \
                 place back"
            ),
        })
    }

    fn moves_node(&self, id: NodeId) -> bool {
        self.moves.iter().any(|step| step.node == id)
    }
}

/// Returns the path of the folder, as it was at a time, in which the outermost of the moves since then was made that
/// concern a node.
fn moved_in(past: &Past, top: &PastNode, at_ms: i64) -> String {
    let mut found = None;
    let mut at = Some(top);
    for _ in 0..MAX_DEPTH {
        let Some(one) = at else { break };
        let (parent, _) = one.place_at(at_ms);
        if one.place_at(at_ms) != one.place() {
            found = parent.map(|parent| past.path_at(parent, at_ms));
        }
        at = parent.and_then(|parent| past.get(parent));
    }
    found.unwrap_or_else(|| "/".to_owned())
}
