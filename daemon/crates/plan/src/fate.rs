//! Existence: which entities live on, which are deleted, which wait.
//!
//! A deletion loses against an edit, against a move, and against a move of a folder that was
//! deleted along with the node. A folder lives as long as anything that lives has it as parent.

use crate::content::Content;
use crate::detour::is_detour;
use crate::entity::{Entities, Entity, EntityId, NOWHERE, ROOT, Side, Spot};
use crate::{Direction, Policy};

/// What becomes of an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// No entity at all: a merge took its faces.
    Absent,
    /// It exists and gets no step.
    Frozen,
    /// Both sides are gone, only the synced node is left.
    Gone,
    /// To be deleted on the side where it still stands.
    Doomed(Side),
    Alive,
}

/// What was found to be impossible for now. It only ever grows, so that planning ends.
#[derive(Debug)]
pub(crate) struct Holds {
    /// Gets no step at all.
    pub(crate) frozen: Vec<bool>,
    /// Stays where it is on both sides; its content may travel.
    pub(crate) pinned: Vec<bool>,
    /// Goes back to where the service has it.
    pub(crate) put_back: Vec<bool>,
    /// A deletion that waits for a person's consent.
    pub(crate) gated: Vec<bool>,
}

impl Holds {
    pub(crate) fn new(entities: &Entities<'_>) -> Self {
        let none = vec![false; entities.all.len()];
        Self {
            frozen: entities.frozen.clone(),
            pinned: none.clone(),
            put_back: none.clone(),
            gated: none,
        }
    }

    /// Lets an entity wait: a pair stays where it stands, anything else gets no step.
    pub(crate) fn wait(&mut self, entities: &Entities<'_>, id: EntityId) {
        if entities.all[id].is_pair() {
            self.pinned[id] = true;
        } else {
            self.frozen[id] = true;
        }
    }

    /// Tells whether an entity may be moved or made.
    pub(crate) fn is_free(&self, id: EntityId) -> bool {
        !self.frozen[id] && !self.pinned[id]
    }
}

/// Decides about every entity. May freeze folders whose deletion has to wait for what is in them.
pub(crate) fn fates(entities: &Entities<'_>, holds: &mut Holds, policy: &Policy) -> Vec<Fate> {
    let mut carried = Carried::new(entities);
    let mut fates: Vec<Fate> = (0..entities.all.len())
        .map(|id| {
            let e = &entities.all[id];
            match e.lone_side() {
                _ if id == ROOT => Fate::Alive,
                _ if holds.frozen[id] && (e.local.is_some() || e.remote.is_some()) => Fate::Frozen,
                None if e.is_pair() => Fate::Alive,
                None if e.base.is_some() => Fate::Gone,
                None => Fate::Absent,
                Some(_) if e.base.is_none() => Fate::Alive,
                Some(side) if survives(e, side) || carried.contains(id, side) => Fate::Alive,
                Some(side) => Fate::Doomed(side),
            }
        })
        .collect();
    keep_parents(entities, holds, policy, &mut fates);
    keep_shelters(entities, holds, &mut fates);
    fates
}

/// Tells whether a change on the side that is left beats the deletion on the other.
fn survives(e: &Entity<'_>, side: Side) -> bool {
    matches!(e.content, Content::Push | Content::Pull) || e.moved(side)
}

/// Where an entity that may move belongs; `None` for the root and for holes.
pub(crate) fn goal<'a>(
    entities: &Entities<'a>,
    holds: &Holds,
    policy: &Policy,
    id: EntityId,
) -> Option<Spot<'a>> {
    let e = &entities.all[id];
    let local = e.spot(Side::Local);
    let remote = e.spot(Side::Remote);
    let (None, Some(here), Some(there)) = (e.stranded, local, remote) else {
        return e.stranded.or(local).or(remote);
    };
    let moved_here = e.moved(Side::Local) || is_adrift(e, here, there);
    let uncontested = !e.moved(Side::Remote) || policy.direction == Direction::Upload;
    let local_wins = e.base.is_some() && moved_here && uncontested && !holds.put_back[id];
    Some(match holds.put_back[id] && is_detour(there.name) {
        true => Spot {
            parent: there.parent,
            name: here.name,
        },
        false if local_wins => here,
        false => there,
    })
}

/// A detour was interrupted after the folder that the node came from was deleted: nothing but the
/// local place says where it belongs.
fn is_adrift(e: &Entity<'_>, here: Spot<'_>, there: Spot<'_>) -> bool {
    e.base_parent == NOWHERE && is_detour(there.name) && !is_detour(here.name)
}

/// A folder lives if something that lives belongs into it, on whichever side it was deleted.
fn keep_parents(entities: &Entities<'_>, holds: &Holds, policy: &Policy, fates: &mut [Fate]) {
    let mut open: Vec<EntityId> = entities
        .ids()
        .filter(|&id| fates[id] == Fate::Alive && holds.is_free(id))
        .collect();
    while let Some(id) = open.pop() {
        let Some(spot) = goal(entities, holds, policy, id) else {
            continue;
        };
        if spot.parent != NOWHERE && matches!(fates[spot.parent], Fate::Doomed(_)) {
            fates[spot.parent] = Fate::Alive;
            open.push(spot.parent);
        }
    }
}

/// A folder that is to be deleted waits as long as it holds something that must stay as it is.
fn keep_shelters(entities: &Entities<'_>, holds: &mut Holds, fates: &mut [Fate]) {
    let mut open: Vec<EntityId> = entities
        .ids()
        .filter(|&id| match fates[id] {
            Fate::Frozen => true,
            Fate::Alive => holds.pinned[id],
            Fate::Absent | Fate::Gone | Fate::Doomed(_) => false,
        })
        .collect();
    while let Some(id) = open.pop() {
        for side in Side::BOTH {
            let Some(spot) = entities.all[id].spot(side) else {
                continue;
            };
            if spot.parent != NOWHERE && fates[spot.parent] == Fate::Doomed(side) {
                fates[spot.parent] = Fate::Frozen;
                holds.frozen[spot.parent] = true;
                open.push(spot.parent);
            }
        }
    }
}

/// Finds what was deleted along with a folder that the other side moved: moving a folder keeps
/// all that was in it.
struct Carried<'e, 'a> {
    entities: &'e Entities<'a>,
    known: Vec<Option<bool>>,
}

impl<'e, 'a> Carried<'e, 'a> {
    fn new(entities: &'e Entities<'a>) -> Self {
        Self {
            entities,
            known: vec![None; entities.all.len()],
        }
    }

    /// `side` is the side where the entity still stands.
    fn contains(&mut self, id: EntityId, side: Side) -> bool {
        let mut path = Vec::new();
        let mut at = id;
        let answer = loop {
            if let Some(known) = self.known[at] {
                break known;
            }
            // A snapshot whose synced tree runs in a circle ends here.
            if path.len() > self.entities.all.len() {
                break false;
            }
            path.push(at);
            let above = self.entities.all[at].base_parent;
            if above == ROOT || above == NOWHERE {
                break false;
            }
            let folder = &self.entities.all[above];
            if folder.base.is_none() || folder.lone_side() != Some(side) {
                break false;
            }
            if folder.moved(side) {
                break true;
            }
            at = above;
        };
        for id in path {
            self.known[id] = Some(answer);
        }
        answer
    }
}
