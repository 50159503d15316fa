//! Name conflicts: which entity keeps a name that several want, and the new names of the others.
//! An entity is one file or folder of the user, with up to three nodes: local, remote and synced.
//!
//! The entity that has the name on the service keeps it: it was committed first. All others become
//! conflict copies beside it, so nobody's content is lost. So does what takes the name of a file or folder that this
//! device leaves out, or of a folder that was deleted on this disk and stays on the service for something that is left
//! out.

use crate::Policy;
use crate::constraints::Constraints;
use crate::decision::Decision;
use crate::entity::{Entities, Entity, EntityId, Location, ROOT, Side, UNKNOWN};
use crate::tree::Blocked;
use cairn_model::{ConflictKind, Name, NameKey, SyncMode};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The final location of an entity, on both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) parent: EntityId,
    pub(crate) name: Cow<'a, Name>,
    /// Another keeps its name: it becomes a conflict copy.
    pub(crate) is_conflict_copy: bool,
}

impl Target<'_> {
    /// Returns whether it is at the given location already, byte by byte.
    pub(crate) fn is_at(&self, location: Option<Location<'_>>) -> bool {
        location.is_some_and(|at| at.parent == self.parent && at.name == self.name.as_ref())
    }
}

/// Two entities that want one name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NameConflict {
    pub(crate) winner: EntityId,
    pub(crate) loser: EntityId,
    pub(crate) kind: ConflictKind,
}

/// Returns the final targets and the name conflicts; `None` when a constraint was added.
pub(crate) fn resolve<'a>(
    entities: &Entities<'a>,
    decisions: &[Decision],
    locations: &[Option<Location<'a>>],
    constraints: &mut Constraints,
    policy: &Policy,
) -> Option<(Vec<Option<Target<'a>>>, Vec<NameConflict>)> {
    let mut targets: Vec<Option<Target<'a>>> = locations
        .iter()
        .map(|location| {
            location.map(|location| Target {
                parent: location.parent,
                name: Cow::Borrowed(location.name),
                is_conflict_copy: false,
            })
        })
        .collect();
    let staying = staying_on_service(entities, decisions, constraints, policy);
    let NameClaims {
        mut taken,
        contested,
    } = name_claims(entities, decisions, locations, &staying);
    let mut name_conflicts = Vec::new();
    let mut deferred = false;
    for mut contenders in contested.into_values() {
        contenders.sort_by_key(|&id| {
            let rank = rank(&entities.all[id], locations[id], id);
            (!staying.contains(&id), rank)
        });
        let Some((&winner, losers)) = contenders.split_first() else {
            continue;
        };
        for &loser in losers {
            if policy.mode == SyncMode::Upload {
                constraints.defer(entities, loser);
                deferred = true;
                continue;
            }
            let Some(location) = locations[loser] else {
                continue;
            };
            let name = free_name(entities, &taken, location, policy);
            taken.insert((location.parent, name.key()), loser);
            targets[loser] = Some(Target {
                parent: location.parent,
                name: Cow::Owned(name),
                is_conflict_copy: true,
            });
            name_conflicts.push(NameConflict {
                winner,
                loser,
                kind: kind(entities, winner, loser),
            });
        }
    }
    (!deferred).then_some((targets, name_conflicts))
}

/// Returns what is on the service and not on this disk and keeps its name: what is not selected for this device, and the
/// folders that were deleted on this disk and stay for it. One in which deletions wait for a person may go.
fn staying_on_service(
    entities: &Entities<'_>,
    decisions: &[Decision],
    constraints: &Constraints,
    policy: &Policy,
) -> BTreeSet<EntityId> {
    if policy.mode != SyncMode::TwoWay {
        return BTreeSet::new();
    }
    let above = |mut id: EntityId| {
        let mut folders = Vec::new();
        while let Some(at) = entities.all[id].location(Side::Remote) {
            id = at.parent;
            let is_deleted = |e: &Entity<'_>| e.base.is_some() && e.local.is_none();
            if id == ROOT || id == UNKNOWN || folders.contains(&id) {
                break;
            }
            if decisions[id] != Decision::Blocked || !is_deleted(&entities.all[id]) {
                break;
            }
            folders.push(id);
        }
        folders
    };
    let is_unselected = |&id: &EntityId| {
        let remote = entities.all[id].remote;
        remote.is_some_and(|remote| remote.blocked == Blocked::Unselected)
    };
    let is_there_alone = |id: &EntityId| {
        let e = &entities.all[*id];
        e.base.is_none() && e.local.is_none()
    };
    let unselected: Vec<EntityId> = entities.ids().filter(is_unselected).collect();
    let folders = unselected.iter().flat_map(|&id| above(id));
    let alone = unselected.iter().copied().filter(is_there_alone);
    let mut staying: BTreeSet<EntityId> = folders.chain(alone).collect();
    if !staying.is_empty() {
        for id in entities.ids().filter(|&id| constraints.gated[id]) {
            staying.remove(&id);
            for folder in above(id) {
                staying.remove(&folder);
            }
        }
    }
    staying
}

struct NameClaims {
    taken: HashMap<(EntityId, NameKey), EntityId>,
    /// The entities that want one name, where there are several; keyed by their first id, so that the order is
    /// deterministic.
    contested: BTreeMap<EntityId, Vec<EntityId>>,
}

fn name_claims(
    entities: &Entities<'_>,
    decisions: &[Decision],
    locations: &[Option<Location<'_>>],
    staying: &BTreeSet<EntityId>,
) -> NameClaims {
    let mut claims = NameClaims {
        taken: HashMap::new(),
        contested: BTreeMap::new(),
    };
    let is_at_target = |id: EntityId| {
        Side::BOTH
            .into_iter()
            .all(|side| entities.all[id].location(side) == locations[id])
    };
    for id in entities.ids() {
        let (Decision::Keep, Some(location), false) =
            (decisions[id], locations[id], is_at_target(id))
        else {
            continue;
        };
        let key = (location.parent, location.name.key());
        // Only a node that leaves a temporary name can meet one that is at the location on both sides.
        for side in Side::BOTH {
            let holder = entities.at(side).get(&key).copied();
            let keeps_name = |h: EntityId| locations[h].is_some() && is_at_target(h);
            if let Some(holder) =
                holder.filter(|&h| h != id && (keeps_name(h) || staying.contains(&h)))
            {
                claims.claim(&key, holder);
            }
        }
        claims.claim(&key, id);
    }
    claims
}

impl NameClaims {
    fn claim(&mut self, key: &(EntityId, NameKey), id: EntityId) {
        let first = *self.taken.entry(key.clone()).or_insert(id);
        if first != id {
            let contenders = self.contested.entry(first).or_insert_with(|| vec![first]);
            if !contenders.contains(&id) {
                contenders.push(id);
            }
        }
    }
}

/// Returns the sort key of a contender; the smallest wins: on the service at this location, on the
/// service at all, the lower index.
fn rank(e: &Entity<'_>, location: Option<Location<'_>>, id: EntityId) -> (bool, bool, EntityId) {
    let is_on_service = match (e.location(Side::Remote), location) {
        (Some(remote), Some(target)) => {
            remote.parent == target.parent && remote.name.key() == target.name.key()
        }
        (Some(_), None) | (None, _) => false,
    };
    (!is_on_service, e.remote.is_none(), id)
}

fn free_name(
    entities: &Entities<'_>,
    taken: &HashMap<(EntityId, NameKey), EntityId>,
    location: Location<'_>,
    policy: &Policy,
) -> Name {
    let mut attempt = 0;
    loop {
        let name = location
            .name
            .conflict_copy(&policy.device, &policy.stamp, attempt);
        let key = (location.parent, name.key());
        let is_taken = taken.contains_key(&key)
            || entities.local_at.contains_key(&key)
            || entities.remote_at.contains_key(&key);
        if !is_taken || attempt == u32::MAX {
            return name;
        }
        attempt += 1;
    }
}

fn kind(entities: &Entities<'_>, winner: EntityId, loser: EntityId) -> ConflictKind {
    let (first, second) = (&entities.all[winner], &entities.all[loser]);
    if entities.split.get(&loser) == Some(&winner) {
        ConflictKind::Edit
    } else if first.kind != second.kind {
        ConflictKind::Type
    } else if first.is_pair() || second.is_pair() {
        ConflictKind::Move
    } else {
        ConflictKind::Create
    }
}
