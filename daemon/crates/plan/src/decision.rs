//! Decides which entities exist: which are kept, which are deleted, which wait; and where the kept ones belong.
//! An entity is one file or folder of the user, with up to three nodes: local, remote and synced.
//!
//! A deletion loses against an edit, against a move, and against a move of a folder that was
//! deleted along with the node. A folder is kept as long as anything that is kept has it as parent, and a rules file
//! stays with its folder.

use crate::Policy;
use crate::constraints::Constraints;
use crate::content::Content;
use crate::entity::{Entities, Entity, EntityId, Location, ROOT, Side, UNKNOWN};
use crate::tree::{RemoteNode, SyncedNode};
use cairn_model::{IGNORE_FILE, SyncMode, is_temporary_name};

/// The decision about the existence of an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// The entity is empty: a merge moved its nodes to another.
    Absent,
    /// The entity exists and gets no step.
    Blocked,
    /// Both sides are gone, only the synced node is left.
    Forget,
    /// The entity is to be deleted on the side where it still exists.
    Delete(Side),
    /// The entity is to exist on both sides.
    Keep,
}

/// Decides about every entity. Blocks folders whose deletion has to wait for what is in them.
pub(crate) fn decide(
    entities: &Entities<'_>,
    constraints: &mut Constraints,
    policy: &Policy,
) -> Vec<Decision> {
    let mut moved_folders = MovedFolders::new(entities);
    let mut decisions: Vec<Decision> = (0..entities.all.len())
        .map(|id| {
            let e = &entities.all[id];
            match e.only_side() {
                _ if id == ROOT => Decision::Keep,
                _ if constraints.blocked[id] && (e.local.is_some() || e.remote.is_some()) => {
                    Decision::Blocked
                }
                None if e.is_pair() => Decision::Keep,
                None if e.base.is_some() => Decision::Forget,
                None => Decision::Absent,
                Some(_) if e.base.is_none() => Decision::Keep,
                Some(side) if survives(e, side) || moved_folders.contains(id, side) => {
                    Decision::Keep
                }
                Some(side) => Decision::Delete(side),
            }
        })
        .collect();
    keep_parents(entities, constraints, policy, &mut decisions);
    block_nonempty_deletions(entities, constraints, &mut decisions);
    keep_rules(entities, constraints, &mut decisions);
    decisions
}

/// Returns whether a change on the remaining side wins over the deletion on the other.
fn survives(e: &Entity<'_>, side: Side) -> bool {
    matches!(e.content, Content::Push | Content::Pull) || e.has_moved(side)
}

/// Returns the location where an entity that may move belongs; `None` for the root and for empty
/// entities.
pub(crate) fn target<'a>(
    entities: &Entities<'a>,
    constraints: &Constraints,
    policy: &Policy,
    id: EntityId,
) -> Option<Location<'a>> {
    let e = &entities.all[id];
    let local = e.location(Side::Local);
    let remote = e.location(Side::Remote);
    let (None, Some(on_disk), Some(on_service)) = (e.restore_to, local, remote) else {
        return e.restore_to.or(local).or(remote);
    };
    let moved_on_disk = e.has_moved(Side::Local) || has_lost_base_parent(e, on_disk, on_service);
    let uncontested = !e.has_moved(Side::Remote) || policy.mode == SyncMode::Upload;
    let local_wins = e.base.is_some() && moved_on_disk && uncontested && !constraints.put_back[id];
    Some(
        match constraints.put_back[id] && is_temporary_name(on_service.name) {
            true => Location {
                parent: on_service.parent,
                name: on_disk.name,
            },
            false if local_wins => on_disk,
            false => on_service,
        },
    )
}

/// Returns whether a swap was interrupted after the folder of the base was deleted: then only the
/// local location tells where the node belongs.
fn has_lost_base_parent(e: &Entity<'_>, local: Location<'_>, remote: Location<'_>) -> bool {
    e.base_parent == UNKNOWN && is_temporary_name(remote.name) && !is_temporary_name(local.name)
}

/// Keeps each folder into which something that is kept belongs, on whichever side it was deleted.
fn keep_parents(
    entities: &Entities<'_>,
    constraints: &Constraints,
    policy: &Policy,
    decisions: &mut [Decision],
) {
    let mut open: Vec<EntityId> = entities
        .ids()
        .filter(|&id| decisions[id] == Decision::Keep && constraints.is_movable(id))
        .collect();
    while let Some(id) = open.pop() {
        let Some(location) = target(entities, constraints, policy, id) else {
            continue;
        };
        if location.parent != UNKNOWN && matches!(decisions[location.parent], Decision::Delete(_)) {
            decisions[location.parent] = Decision::Keep;
            open.push(location.parent);
        }
    }
}

/// Blocks the deletion of each folder that contains something that must stay as it is.
fn block_nonempty_deletions(
    entities: &Entities<'_>,
    constraints: &mut Constraints,
    decisions: &mut [Decision],
) {
    let mut open: Vec<EntityId> = entities
        .ids()
        .filter(|&id| match decisions[id] {
            Decision::Blocked => true,
            Decision::Keep => constraints.pinned[id],
            Decision::Absent | Decision::Forget | Decision::Delete(_) => false,
        })
        .collect();
    while let Some(id) = open.pop() {
        for side in Side::BOTH {
            let Some(location) = entities.all[id].location(side) else {
                continue;
            };
            if location.parent != UNKNOWN && decisions[location.parent] == Decision::Delete(side) {
                decisions[location.parent] = Decision::Blocked;
                constraints.blocked[location.parent] = true;
                open.push(location.parent);
            }
        }
    }
}

/// Lets each rules file that was deleted along with its folder stay where that stays: what is ignored in it would be
/// synced without them.
fn keep_rules(entities: &Entities<'_>, constraints: &mut Constraints, decisions: &mut [Decision]) {
    for id in entities.ids() {
        let (e, Decision::Delete(side)) = (&entities.all[id], decisions[id]) else {
            continue;
        };
        let Some(location) = e.location(side).filter(|at| at.parent != UNKNOWN) else {
            continue;
        };
        let is_rules = e.is_file() && location.name.as_str() == IGNORE_FILE;
        if !is_rules || !was_deleted(&entities.all[location.parent], side) {
            continue;
        }
        match decisions[location.parent] {
            Decision::Keep => decisions[id] = Decision::Keep,
            Decision::Blocked => {
                decisions[id] = Decision::Blocked;
                constraints.blocked[id] = true;
            }
            Decision::Absent | Decision::Forget | Decision::Delete(_) => {}
        }
    }
}

/// Returns whether a folder that is on one side was deleted on the other. On the service a new one may have its place.
fn was_deleted(folder: &Entity<'_>, side: Side) -> bool {
    let is_replaced = |(base, remote): (&SyncedNode, &RemoteNode)| base.node != remote.id;
    folder.only_side() == Some(side)
        || side == Side::Local && folder.base.zip(folder.remote).is_some_and(is_replaced)
}

/// Finds the nodes that were deleted along with a folder that the other side moved: moving a folder
/// keeps all that was in it.
struct MovedFolders<'e, 'a> {
    entities: &'e Entities<'a>,
    known: Vec<Option<bool>>,
}

impl<'e, 'a> MovedFolders<'e, 'a> {
    fn new(entities: &'e Entities<'a>) -> Self {
        Self {
            entities,
            known: vec![None; entities.all.len()],
        }
    }

    /// Returns whether the entity lay in a moved folder. `side` is the one where it still exists.
    fn contains(&mut self, id: EntityId, side: Side) -> bool {
        let mut path = Vec::new();
        let mut at = id;
        let inside = loop {
            if let Some(known) = self.known[at] {
                break known;
            }
            // A snapshot whose synced tree runs in a circle ends here.
            if path.len() > self.entities.all.len() {
                break false;
            }
            path.push(at);
            let above = self.entities.all[at].base_parent;
            if above == ROOT || above == UNKNOWN {
                break false;
            }
            let folder = &self.entities.all[above];
            if folder.base.is_none() || folder.only_side() != Some(side) {
                break false;
            }
            if folder.has_moved(side) {
                break true;
            }
            at = above;
        };
        for id in path {
            self.known[id] = Some(inside);
        }
        inside
    }
}
