//! The tasks of one side (each creates, moves or deletes one entity: a file or folder with its nodes on both
//! sides), and what can keep one from running.

use crate::decision::Decision;
use crate::entity::{Entity, EntityId, Side, UNKNOWN};
use crate::name_conflicts::Target;
use cairn_model::Kind;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TaskKind {
    CreateFolder,
    /// A file that a transfer makes later: here it only takes its name.
    Reserve,
    Move,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) id: EntityId,
    pub(super) kind: TaskKind,
}

/// The result of checking a task.
pub(super) enum Readiness {
    Ready,
    WaitFor(EntityId, Obstacle),
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Obstacle {
    /// The parent doesn't exist yet.
    Parent,
    /// An entity that has the name which the task's is to get.
    Name,
    /// An entity in the folder that is to be moved into it.
    Inside,
    /// An entity that still lies in a folder whose deletion frees the name.
    Deletion,
}

/// Returns whether an entity is to be deleted on a side, and its folder there is not.
pub(super) fn is_top_deletion(
    decisions: &[Decision],
    side: Side,
    id: EntityId,
    parent: Option<EntityId>,
) -> bool {
    let is_deleted = |id: EntityId| decisions[id] == Decision::Delete(side);
    is_deleted(id) && !parent.is_some_and(|p| p != UNKNOWN && is_deleted(p))
}

/// Returns the task that brings an entity to its target on a side, if there is anything to do.
pub(super) fn task(
    e: &Entity<'_>,
    id: EntityId,
    side: Side,
    makes_new: bool,
    target: &Target<'_>,
) -> Option<Task> {
    let location = e.location(side);
    let kind = match (location, e.kind) {
        (Some(_), _) if target.is_at(location) => return None,
        (Some(_), _) => TaskKind::Move,
        (None, _) if !makes_new => return None,
        (None, Kind::Folder) => TaskKind::CreateFolder,
        (None, Kind::File) => TaskKind::Reserve,
    };
    Some(Task { id, kind })
}
