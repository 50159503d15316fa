//! What may not happen now: a person has not agreed to it, or changes travel one way only.
//!
//! Each function returns whether it held anything back; then everything is decided anew, because
//! others may have counted on it.

use crate::entity::{Entities, EntityId, NOWHERE, ROOT, Side, Spot};
use crate::fate::{Fate, Holds, goal};
use crate::{Direction, Policy};

/// Holds deletions that wait for consent.
pub(crate) fn gate(
    entities: &Entities<'_>,
    fates: &[Fate],
    holds: &mut Holds,
    policy: &Policy,
) -> bool {
    let held = |side| match side {
        Side::Local => policy.hold_local_deletions,
        Side::Remote => policy.hold_remote_deletions,
    };
    let mut changed = false;
    for id in entities.ids() {
        if let Fate::Doomed(side) = fates[id]
            && held(side)
        {
            holds.gated[id] = true;
            holds.frozen[id] = true;
            changed = true;
        }
    }
    changed
}

/// Holds what would change the side that the direction leaves alone.
pub(crate) fn one_way(
    entities: &Entities<'_>,
    fates: &[Fate],
    holds: &mut Holds,
    policy: &Policy,
) -> bool {
    let closed = match policy.direction {
        Direction::TwoWay => return false,
        Direction::Upload => Side::Local,
        Direction::Download => Side::Remote,
    };
    let mut changed = false;
    for id in entities.ids() {
        if !holds.is_free(id) {
            continue;
        }
        let e = &entities.all[id];
        match fates[id] {
            Fate::Doomed(side) if side == closed => holds.frozen[id] = true,
            // A local newcomer may still have to make room for what is downloaded.
            Fate::Alive if closed == Side::Local && !e.stands(closed) => holds.frozen[id] = true,
            Fate::Alive
                if e.stands(closed) && goal(entities, holds, policy, id) != e.spot(closed) =>
            {
                holds.wait(entities, id);
            }
            Fate::Absent | Fate::Frozen | Fate::Gone | Fate::Doomed(_) | Fate::Alive => continue,
        }
        changed = true;
    }
    changed
}

/// Lets wait whatever belongs into a folder that waits itself.
pub(crate) fn wait_with_parents(
    entities: &Entities<'_>,
    fates: &[Fate],
    goals: &[Option<Spot<'_>>],
    holds: &mut Holds,
) -> bool {
    let mut waits: Vec<Option<bool>> = fates
        .iter()
        .map(|f| (*f != Fate::Alive).then_some(true))
        .collect();
    waits[ROOT] = Some(false);
    let mut changed = false;
    for id in entities.ids() {
        let mut path: Vec<EntityId> = Vec::new();
        let mut at = id;
        // Rings were broken before, so every path ends at something known.
        let mut above = loop {
            if let Some(known) = waits[at] {
                break known;
            }
            if holds.pinned[at] {
                waits[at] = Some(false);
                break false;
            }
            path.push(at);
            match goals[at] {
                Some(spot) if spot.parent != NOWHERE && path.len() <= entities.all.len() => {
                    at = spot.parent
                }
                Some(_) | None => break true,
            }
        };
        for id in path.into_iter().rev() {
            let e = &entities.all[id];
            let displaced = Side::BOTH.into_iter().any(|side| e.spot(side) != goals[id]);
            if above && displaced {
                holds.wait(entities, id);
                changed = true;
            }
            // A pair exists on both sides even if it waits.
            above = above && !e.is_pair();
            waits[id] = Some(above);
        }
    }
    changed
}
