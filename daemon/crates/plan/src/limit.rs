//! The limits of a plan: mass deletions that a person has not agreed to, and one-way directions.
//!
//! Each function returns whether it added any constraint (a change that is not allowed); then everything is decided
//! anew, because other decisions may depend on it.

use crate::Policy;
use crate::constraints::Constraints;
use crate::content::Content;
use crate::decision::{Decision, target};
use crate::entity::{Entities, Entity, EntityId, Location, ROOT, Side, UNKNOWN};
use cairn_model::SyncMode;

/// Blocks deletions that wait for a person's consent.
pub(crate) fn apply_gate(
    entities: &Entities<'_>,
    decisions: &[Decision],
    constraints: &mut Constraints,
    policy: &Policy,
) -> bool {
    let is_gated = |side| match side {
        Side::Local => policy.block_local_deletions,
        Side::Remote => policy.block_remote_deletions,
    };
    let mut changed = false;
    for id in entities.ids() {
        let is_held = |side| side == Side::Remote && is_held(&entities.all[id], policy);
        if let Decision::Delete(side) = decisions[id]
            && (is_gated(side) || is_held(side))
        {
            constraints.gated[id] = true;
            constraints.blocked[id] = true;
            changed = true;
        }
    }
    changed
}

/// Keeps the pairs as they are on both sides whose new content waits for a person's consent.
pub(crate) fn hold_contents(
    entities: &Entities<'_>,
    constraints: &mut Constraints,
    policy: &Policy,
) {
    for id in entities.ids() {
        let e = &entities.all[id];
        if e.is_pair() && e.content == Content::Push && is_held(e, policy) {
            constraints.held[id] = true;
            constraints.defer(entities, id);
        }
    }
}

fn is_held(e: &Entity<'_>, policy: &Policy) -> bool {
    e.base.is_some_and(|base| policy.held.contains(&base.node))
}

/// Blocks what would change the side that the direction leaves alone.
pub(crate) fn apply_direction(
    entities: &Entities<'_>,
    decisions: &[Decision],
    constraints: &mut Constraints,
    policy: &Policy,
) -> bool {
    let closed = match policy.mode {
        SyncMode::TwoWay => return false,
        SyncMode::Upload => Side::Local,
        SyncMode::Download => Side::Remote,
    };
    let mut changed = false;
    for id in entities.ids() {
        if !constraints.is_movable(id) {
            continue;
        }
        let e = &entities.all[id];
        match decisions[id] {
            Decision::Delete(side) if side == closed => constraints.blocked[id] = true,
            // A new local node may still have to be renamed for what is downloaded.
            Decision::Keep if closed == Side::Local && !e.exists_on(closed) => {
                constraints.blocked[id] = true
            }
            Decision::Keep
                if e.exists_on(closed)
                    && target(entities, constraints, policy, id) != e.location(closed) =>
            {
                constraints.defer(entities, id);
            }
            Decision::Absent
            | Decision::Blocked
            | Decision::Forget
            | Decision::Delete(_)
            | Decision::Keep => continue,
        }
        changed = true;
    }
    changed
}

/// Defers everything that belongs into a folder that is deferred itself.
pub(crate) fn defer_with_parents(
    entities: &Entities<'_>,
    decisions: &[Decision],
    targets: &[Option<Location<'_>>],
    constraints: &mut Constraints,
) -> bool {
    let mut waits: Vec<Option<bool>> = decisions
        .iter()
        .map(|f| (*f != Decision::Keep).then_some(true))
        .collect();
    waits[ROOT] = Some(false);
    let mut changed = false;
    for id in entities.ids() {
        let mut path: Vec<EntityId> = Vec::new();
        let mut at = id;
        // Cycles were broken before, so every path ends at something known.
        let mut above = loop {
            if let Some(known) = waits[at] {
                break known;
            }
            if constraints.pinned[at] {
                waits[at] = Some(false);
                break false;
            }
            path.push(at);
            match targets[at] {
                Some(location)
                    if location.parent != UNKNOWN && path.len() <= entities.all.len() =>
                {
                    at = location.parent
                }
                Some(_) | None => break true,
            }
        };
        for id in path.into_iter().rev() {
            let e = &entities.all[id];
            let displaced = Side::BOTH
                .into_iter()
                .any(|side| e.location(side) != targets[id]);
            if above && displaced {
                constraints.defer(entities, id);
                changed = true;
            }
            // A pair exists on both sides even if it is deferred.
            above = above && !e.is_pair();
            waits[id] = Some(above);
        }
    }
    changed
}
