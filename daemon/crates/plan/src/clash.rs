//! Names: who keeps one that several want, and what the others are called from then on.
//!
//! What already stands there on the service keeps it: it was committed first. All others become
//! conflict copies beside it, so nobody's content is lost.

use crate::entity::{Entities, Entity, EntityId, Side, Spot};
use crate::fate::{Fate, Holds};
use crate::plan::ConflictKind;
use crate::{Direction, Policy};
use cairn_model::{Name, NameKey};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Where an entity shall stand in the end, on both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Goal<'a> {
    pub(crate) parent: EntityId,
    pub(crate) name: Cow<'a, Name>,
    /// It lost its name and becomes a conflict copy.
    pub(crate) copy: bool,
}

impl Goal<'_> {
    /// Tells whether a side has it there already, letter by letter.
    pub(crate) fn is_at(&self, spot: Option<Spot<'_>>) -> bool {
        spot.is_some_and(|s| s.parent == self.parent && s.name == self.name.as_ref())
    }
}

/// Two that wanted one name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Clash {
    pub(crate) winner: EntityId,
    pub(crate) loser: EntityId,
    pub(crate) kind: ConflictKind,
}

/// The final goals with their clashes; `None` when something had to be held back.
pub(crate) fn settle<'a>(
    entities: &Entities<'a>,
    fates: &[Fate],
    spots: &[Option<Spot<'a>>],
    holds: &mut Holds,
    policy: &Policy,
) -> Option<(Vec<Option<Goal<'a>>>, Vec<Clash>)> {
    let mut goals: Vec<Option<Goal<'a>>> = spots
        .iter()
        .map(|spot| {
            spot.map(|s| Goal {
                parent: s.parent,
                name: Cow::Borrowed(s.name),
                copy: false,
            })
        })
        .collect();
    let Claims {
        mut taken,
        contests,
    } = claims(entities, fates, spots);
    let mut clashes = Vec::new();
    let mut held = false;
    for mut rivals in contests.into_values() {
        rivals.sort_by_key(|&id| rank(&entities.all[id], spots[id], id));
        let Some((&winner, losers)) = rivals.split_first() else {
            continue;
        };
        for &loser in losers {
            if policy.direction == Direction::Upload {
                holds.wait(entities, loser);
                held = true;
                continue;
            }
            let Some(spot) = spots[loser] else { continue };
            let name = free_name(entities, &taken, spot, policy);
            taken.insert((spot.parent, name.key()), loser);
            goals[loser] = Some(Goal {
                parent: spot.parent,
                name: Cow::Owned(name),
                copy: true,
            });
            clashes.push(Clash {
                winner,
                loser,
                kind: kind(entities, winner, loser),
            });
        }
    }
    (!held).then_some((goals, clashes))
}

struct Claims {
    taken: HashMap<(EntityId, NameKey), EntityId>,
    /// Only where there are several; keyed by their smallest id, so that the order is certain.
    contests: BTreeMap<EntityId, Vec<EntityId>>,
}

fn claims(entities: &Entities<'_>, fates: &[Fate], spots: &[Option<Spot<'_>>]) -> Claims {
    let mut claims = Claims {
        taken: HashMap::new(),
        contests: BTreeMap::new(),
    };
    let is_home = |id: EntityId| {
        Side::BOTH
            .into_iter()
            .all(|side| entities.all[id].spot(side) == spots[id])
    };
    for id in entities.ids() {
        let (Fate::Alive, Some(spot), false) = (fates[id], spots[id], is_home(id)) else {
            continue;
        };
        let place = (spot.parent, spot.name.key());
        // Only something that was stranded can find one that stands there on both sides.
        for side in Side::BOTH {
            let holder = entities.at(side).get(&place).copied();
            if let Some(holder) = holder.filter(|&h| h != id && spots[h].is_some() && is_home(h)) {
                claims.claim(&place, holder);
            }
        }
        claims.claim(&place, id);
    }
    claims
}

impl Claims {
    fn claim(&mut self, place: &(EntityId, NameKey), id: EntityId) {
        let first = *self.taken.entry(place.clone()).or_insert(id);
        if first != id {
            let rivals = self.contests.entry(first).or_insert_with(|| vec![first]);
            if !rivals.contains(&id) {
                rivals.push(id);
            }
        }
    }
}

/// Smaller wins: what the service has at this place, what it has at all, the older id.
fn rank(e: &Entity<'_>, spot: Option<Spot<'_>>, id: EntityId) -> (bool, bool, EntityId) {
    let stands = match (e.spot(Side::Remote), spot) {
        (Some(there), Some(goal)) => {
            there.parent == goal.parent && there.name.key() == goal.name.key()
        }
        (Some(_), None) | (None, _) => false,
    };
    (!stands, e.remote.is_none(), id)
}

fn free_name(
    entities: &Entities<'_>,
    taken: &HashMap<(EntityId, NameKey), EntityId>,
    spot: Spot<'_>,
    policy: &Policy,
) -> Name {
    let mut attempt = 0;
    loop {
        let name = spot
            .name
            .conflict_copy(&policy.device, &policy.stamp, attempt);
        let place = (spot.parent, name.key());
        let used = taken.contains_key(&place)
            || entities.local_at.contains_key(&place)
            || entities.remote_at.contains_key(&place);
        if !used || attempt == u32::MAX {
            return name;
        }
        attempt += 1;
    }
}

fn kind(entities: &Entities<'_>, winner: EntityId, loser: EntityId) -> ConflictKind {
    let (first, second) = (&entities.all[winner], &entities.all[loser]);
    if entities.parted.get(&loser) == Some(&winner) {
        ConflictKind::Edit
    } else if first.kind != second.kind {
        ConflictKind::Type
    } else if first.is_pair() || second.is_pair() {
        ConflictKind::Move
    } else {
        ConflictKind::Create
    }
}
