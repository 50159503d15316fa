//! The last part of pairing: what is known about each entity before anything is decided.
//!
//! Parents as entities, what is frozen, how contents compare, who holds which name.

use super::Pairing;
use crate::Direction;
use crate::content::{Content, compare};
use crate::detour::is_detour;
use crate::entity::{Entities, Entity, EntityId, NOWHERE, Occupants, ROOT, Side, Spot};
use crate::hold::{Survey, TreeNode};
use cairn_model::Name;
use std::collections::{BTreeMap, HashMap};

impl<'a> Pairing<'a> {
    pub(super) fn finish(
        mut self,
        origins: &'a BTreeMap<Name, Name>,
        direction: Direction,
    ) -> Entities<'a> {
        for id in 1..self.all.len() {
            let (local, remote, base) = {
                let e = &self.all[id];
                (e.local, e.remote, e.base)
            };
            let local_parent = local.map_or(NOWHERE, |l| self.local_parent(l));
            let remote_parent = remote.map_or(NOWHERE, |r| self.remote_parent(r));
            let base_parent = base.map_or(NOWHERE, |s| self.base_parent(s));
            let entity = &mut self.all[id];
            entity.local_parent = local_parent;
            entity.remote_parent = remote_parent;
            entity.base_parent = base_parent;
            entity.stranded = stranded(entity, origins);
        }
        let mut frozen = self.frozen();
        let parted = self.compare_contents(&mut frozen, direction);
        let busy = self.busy_folders();
        let local_at = self.occupants(Side::Local, &busy, &frozen);
        let remote_at = self.occupants(Side::Remote, &busy, &frozen);
        self.needs.sort();
        self.needs.dedup();
        Entities {
            all: self.all,
            frozen,
            local_at,
            remote_at,
            parted,
            needs: self.needs,
        }
    }

    fn frozen(&self) -> Vec<bool> {
        let mut frozen: Vec<bool> = self
            .all
            .iter()
            .enumerate()
            .map(|(id, e)| {
                self.forced.contains(&id)
                    || e.local.is_some_and(|l| self.local.freeze(l.id).is_some())
                    || e.remote.is_some_and(|r| self.remote.freeze(r.id).is_some())
            })
            .collect();
        if !frozen.contains(&true) {
            return frozen;
        }
        // What stands on one side only, in a folder that is held on the other, has nowhere to go.
        inherit(&self.remote, &self.of_remote, &mut frozen, |id| {
            let e = &self.all[id];
            (e.local.is_none(), e.remote_parent)
        });
        inherit(&self.local, &self.of_local, &mut frozen, |id| {
            let e = &self.all[id];
            (e.remote.is_none(), e.local_parent)
        });
        frozen
    }

    /// A new node with other bytes is no successor: it comes as a stranger, and the old one is gone.
    fn disown(&mut self, id: EntityId) {
        let entity = &mut self.all[id];
        let mut stranger = Entity::hole(entity.kind);
        stranger.remote = entity.remote.take();
        stranger.remote_parent = entity.remote_parent;
        if let Some(base) = entity.base {
            entity.content = compare(entity.local, None, base, &mut self.needs);
        }
        if let Some(r) = stranger.remote {
            self.of_remote.insert(r.id, self.all.len());
        }
        self.all.push(stranger);
    }

    /// Compares what can be compared. Two versions that part become two entities.
    fn compare_contents(
        &mut self,
        frozen: &mut Vec<bool>,
        direction: Direction,
    ) -> BTreeMap<EntityId, EntityId> {
        let mut parted = BTreeMap::new();
        for id in 1..self.all.len() {
            let entity = &mut self.all[id];
            let (true, false, Some(base)) = (entity.is_file(), frozen[id], entity.base) else {
                continue;
            };
            entity.content = compare(entity.local, entity.remote, base, &mut self.needs);
            if entity.content != Content::Conflict {
                continue;
            }
            if entity.remote.is_some_and(|r| r.id != base.node) {
                self.disown(id);
                frozen.push(false);
                continue;
            }
            if direction == Direction::Upload {
                frozen[id] = true;
                continue;
            }
            // First the interrupted move is finished: alone, the node would not know where to.
            let detour = entity.remote.is_some_and(|r| is_detour(&r.name));
            if detour && entity.moved(Side::Local) && direction == Direction::TwoWay {
                continue;
            }
            let copy = Entity {
                local: entity.local.take(),
                local_parent: entity.local_parent,
                ..Entity::hole(entity.kind)
            };
            entity.content = Content::Same;
            entity.cut = Some(base.node);
            entity.base = None;
            parted.insert(self.all.len(), id);
            if let Some(l) = copy.local {
                self.of_local.insert(l.id, self.all.len());
            }
            self.all.push(copy);
            frozen.push(false);
        }
        parted
    }

    /// The folders in which anything may have to be moved or made; the root, because a detour may
    /// lead there.
    fn busy_folders(&self) -> Vec<bool> {
        let mut busy = vec![false; self.all.len()];
        busy[ROOT] = true;
        for entity in &self.all {
            let spots = [
                entity.base_spot(),
                entity.spot(Side::Local),
                entity.spot(Side::Remote),
            ];
            if spots.iter().all(|spot| *spot == spots[0]) && entity.stranded.is_none() {
                continue;
            }
            for spot in spots.into_iter().flatten() {
                if spot.parent != NOWHERE {
                    busy[spot.parent] = true;
                }
            }
        }
        busy
    }

    /// Who stands where in the busy folders. Of twins, the one that is not frozen counts.
    fn occupants(&self, side: Side, busy: &[bool], frozen: &[bool]) -> Occupants {
        let mut at = Occupants::new();
        for (id, entity) in self.all.iter().enumerate() {
            let Some(spot) = entity.spot(side) else {
                continue;
            };
            if spot.parent == NOWHERE || !busy[spot.parent] {
                continue;
            }
            at.entry((spot.parent, spot.name.key()))
                .and_modify(|holder| {
                    if frozen[*holder] && !frozen[id] {
                        *holder = id;
                    }
                })
                .or_insert(id);
        }
        at
    }
}

fn inherit<N: TreeNode>(
    survey: &Survey<'_, N>,
    of: &HashMap<N::Id, EntityId>,
    frozen: &mut [bool],
    lone_and_parent: impl Fn(EntityId) -> (bool, EntityId),
) {
    for node in &survey.order {
        let Some(&id) = of.get(&node.id()) else {
            continue;
        };
        let (lone, parent) = lone_and_parent(id);
        if lone && parent != NOWHERE && frozen[parent] {
            frozen[id] = true;
        }
    }
}

/// Where something belongs that an interrupted detour left under a name that nobody chose: alone,
/// or so that all sides have taken it for the truth.
fn stranded<'a>(e: &Entity<'a>, origins: &'a BTreeMap<Name, Name>) -> Option<Spot<'a>> {
    let lone = e.lone_side().and_then(|side| e.spot(side));
    let agreed = e
        .spot(Side::Local)
        .filter(|_| e.spot(Side::Remote) == e.base_spot());
    let spot = lone.or(agreed.filter(|spot| e.base_spot() == Some(*spot)))?;
    if !is_detour(spot.name) {
        return None;
    }
    let base = e.base_spot();
    base.filter(|b| b.parent != NOWHERE && !is_detour(b.name))
        .or_else(|| {
            let name = origins.get(spot.name)?;
            Some(Spot { name, ..spot })
        })
}
