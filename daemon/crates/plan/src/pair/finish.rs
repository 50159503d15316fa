//! The last part of pairing: the facts about each entity (a file or folder with its nodes on both sides) before
//! anything is decided: its parents, whether it is blocked, how the contents compare, and the occupant of each name.

use super::Pairing;
use crate::content::{Content, compare};
use crate::entity::{Entities, Entity, EntityId, Location, Occupants, ROOT, Side, UNKNOWN};
use crate::tree_index::{TreeIndex, TreeNode};
use cairn_model::{Name, NodeId, SyncMode, is_temporary_name};
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl<'a> Pairing<'a> {
    pub(super) fn finish(
        mut self,
        original_names: &'a BTreeMap<Name, Name>,
        mode: SyncMode,
        unmovable: &BTreeSet<NodeId>,
    ) -> Entities<'a> {
        for id in 1..self.all.len() {
            let (local, remote, base) = {
                let e = &self.all[id];
                (e.local, e.remote, e.base)
            };
            let local_parent = local.map_or(UNKNOWN, |l| self.local_parent(l));
            let remote_parent = remote.map_or(UNKNOWN, |r| self.remote_parent(r));
            let base_parent = base.map_or(UNKNOWN, |s| self.base_parent(s));
            let entity = &mut self.all[id];
            entity.local_parent = local_parent;
            entity.remote_parent = remote_parent;
            entity.base_parent = base_parent;
            entity.restore_to = restore_to(entity, original_names);
        }
        let mut blocked = self.blocked_entities();
        let split = self.compare_contents(&mut blocked, mode, unmovable);
        let busy = self.busy_folders();
        let local_at = self.occupants(Side::Local, &busy, &blocked);
        let remote_at = self.occupants(Side::Remote, &busy, &blocked);
        self.needs.sort();
        self.needs.dedup();
        Entities {
            all: self.all,
            blocked,
            local_at,
            remote_at,
            local_aliases: Occupants::new(),
            split,
            needs: self.needs,
        }
    }

    fn blocked_entities(&self) -> Vec<bool> {
        let mut blocked: Vec<bool> = self
            .all
            .iter()
            .enumerate()
            .map(|(id, e)| {
                self.occupied.contains(&id)
                    || e.local
                        .is_some_and(|l| self.local.block_reason(l.id).is_some())
                    || e.remote
                        .is_some_and(|r| self.remote.block_reason(r.id).is_some())
            })
            .collect();
        if !blocked.contains(&true) {
            return blocked;
        }
        // What exists on one side only, in a folder that is blocked on the other, can't be made there.
        block_descendants(&self.remote, &self.of_remote, &mut blocked, |id| {
            let e = &self.all[id];
            (e.local.is_none(), e.remote_parent)
        });
        block_descendants(&self.local, &self.of_local, &mut blocked, |id| {
            let e = &self.all[id];
            (e.remote.is_none(), e.local_parent)
        });
        blocked
    }

    /// Makes a new node with other bytes an entity of its own: it is no successor, and the old node is
    /// gone.
    fn unlink_successor(&mut self, id: EntityId) {
        let entity = &mut self.all[id];
        let mut unlinked = Entity::empty(entity.kind);
        unlinked.remote = entity.remote.take();
        unlinked.remote_parent = entity.remote_parent;
        if let Some(base) = entity.base {
            entity.content = compare(entity.local, None, base, &mut self.needs);
        }
        if let Some(r) = unlinked.remote {
            self.of_remote.insert(r.id, self.all.len());
        }
        self.all.push(unlinked);
    }

    /// Compares the contents of all files. Two versions in conflict become two entities.
    fn compare_contents(
        &mut self,
        blocked: &mut Vec<bool>,
        mode: SyncMode,
        unmovable: &BTreeSet<NodeId>,
    ) -> BTreeMap<EntityId, EntityId> {
        let mut split = BTreeMap::new();
        for id in 1..self.all.len() {
            let entity = &mut self.all[id];
            let (true, false, Some(base)) = (entity.is_file(), blocked[id], entity.base) else {
                continue;
            };
            entity.content = compare(entity.local, entity.remote, base, &mut self.needs);
            if entity.content != Content::Conflict {
                continue;
            }
            if entity.remote.is_some_and(|r| r.id != base.node) {
                self.unlink_successor(id);
                blocked.push(false);
                continue;
            }
            if mode == SyncMode::Upload {
                blocked[id] = true;
                continue;
            }
            let cannot_move = unmovable.contains(&base.node);
            if mode == SyncMode::TwoWay && moves_first(entity, cannot_move) {
                continue;
            }
            let copy = Entity {
                local: entity.local.take(),
                local_parent: entity.local_parent,
                made_from: base.revision,
                ..Entity::empty(entity.kind)
            };
            entity.content = Content::Same;
            entity.unlinked = Some(base.node);
            entity.base = None;
            split.insert(self.all.len(), id);
            if let Some(l) = copy.local {
                self.of_local.insert(l.id, self.all.len());
            }
            self.all.push(copy);
            blocked.push(false);
        }
        split
    }

    /// Returns the folders in which anything may have to be moved or made; among them the root, where
    /// a node may get its temporary name.
    fn busy_folders(&self) -> Vec<bool> {
        let mut busy = vec![false; self.all.len()];
        busy[ROOT] = true;
        for entity in &self.all {
            let locations = [
                entity.base_location(),
                entity.location(Side::Local),
                entity.location(Side::Remote),
            ];
            if locations.iter().all(|location| *location == locations[0])
                && entity.restore_to.is_none()
            {
                continue;
            }
            for location in locations.into_iter().flatten() {
                if location.parent != UNKNOWN {
                    busy[location.parent] = true;
                }
            }
        }
        busy
    }

    /// Returns the occupant of each name in the busy folders; of name duplicates the one that is not
    /// blocked.
    fn occupants(&self, side: Side, busy: &[bool], blocked: &[bool]) -> Occupants {
        let mut at = Occupants::new();
        for (id, entity) in self.all.iter().enumerate() {
            let Some(location) = entity.location(side) else {
                continue;
            };
            if location.parent == UNKNOWN || !busy[location.parent] {
                continue;
            }
            at.entry((location.parent, location.name.key()))
                .and_modify(|holder| {
                    if blocked[*holder] && !blocked[id] {
                        *holder = id;
                    }
                })
                .or_insert(id);
        }
        at
    }
}

/// Returns whether a file in conflict moves before its versions become two entities: once they are two, nobody
/// knows that the move of the one concerns the other.
///
/// A version under a temporary name waits for the end of the interrupted move: unlinked, it would have no location
/// to go to.
fn moves_first(e: &Entity<'_>, cannot_move: bool) -> bool {
    let (local, remote) = (e.location(Side::Local), e.location(Side::Remote));
    if remote.is_some_and(|at| is_temporary_name(at.name)) {
        return e.has_moved(Side::Local);
    }
    let is_temporary = local.is_some_and(|at| is_temporary_name(at.name));
    local != remote && !is_temporary && !cannot_move
}

fn block_descendants<N: TreeNode>(
    index: &TreeIndex<'_, N>,
    of: &HashMap<N::Id, EntityId>,
    blocked: &mut [bool],
    lone_and_parent: impl Fn(EntityId) -> (bool, EntityId),
) {
    for node in &index.order {
        let Some(&id) = of.get(&node.id()) else {
            continue;
        };
        let (one_sided, parent) = lone_and_parent(id);
        if one_sided && parent != UNKNOWN && blocked[parent] {
            blocked[id] = true;
        }
    }
}

/// Returns the location of an entity that an interrupted swap left under a temporary name: on one
/// side only, or recorded as agreed by all sides.
fn restore_to<'a>(
    e: &Entity<'a>,
    original_names: &'a BTreeMap<Name, Name>,
) -> Option<Location<'a>> {
    let one_sided = e.only_side().and_then(|side| e.location(side));
    let common = e
        .location(Side::Local)
        .filter(|_| e.location(Side::Remote) == e.base_location());
    let location = one_sided.or(common.filter(|location| e.base_location() == Some(*location)))?;
    if !is_temporary_name(location.name) {
        return None;
    }
    let base = e.base_location();
    base.filter(|b| b.parent != UNKNOWN && !is_temporary_name(b.name))
        .or_else(|| {
            let name = original_names.get(location.name)?;
            Some(Location { name, ..location })
        })
}
