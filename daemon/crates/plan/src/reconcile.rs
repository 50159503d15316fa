//! The whole: pair, decide, order, write down.
//!
//! Deciding is repeated as long as something turns out to be impossible for now. Each round holds
//! back at least one thing more than the last and nothing is ever let go again, so it ends.

use crate::clash;
use crate::detour::origins;
use crate::emit::Decided;
use crate::entity::{Entities, Side, Spot};
use crate::fate::{Fate, Holds, fates, goal};
use crate::limit::{gate, one_way, wait_with_parents};
use crate::order::order;
use crate::pair::pair;
use crate::ring::open_rings;
use crate::{Direction, Plan, Policy, Trees};

/// Decides what makes the three trees equal.
///
/// Pure and total: it reads nothing but its arguments, and equal arguments give an equal plan.
#[must_use]
pub fn reconcile(trees: &Trees, policy: &Policy) -> Plan {
    let origins = origins(trees);
    let entities = pair(trees, &origins, policy.direction);
    if !entities.needs.is_empty() {
        return Plan {
            needs: entities.needs,
            ..Plan::default()
        };
    }
    let mut holds = Holds::new(&entities);
    loop {
        if let Some(plan) = attempt(&entities, &mut holds, policy) {
            return plan;
        }
    }
}

/// One round; `None` when it held something back.
fn attempt(entities: &Entities<'_>, holds: &mut Holds, policy: &Policy) -> Option<Plan> {
    let fates = fates(entities, holds, policy);
    let gated = gate(entities, &fates, holds, policy);
    let limited = one_way(entities, &fates, holds, policy);
    if gated || limited {
        return None;
    }
    let spots = goals(entities, &fates, holds, policy);
    if open_rings(entities, &fates, &spots, holds)
        || wait_with_parents(entities, &fates, &spots, holds)
    {
        return None;
    }
    let (goals, clashes) = clash::settle(entities, &fates, &spots, holds, policy)?;
    let depths = entities.depths(|id| goals[id].as_ref().map(|g| g.parent));
    let makes_remote = policy.direction != Direction::Download;
    let local = order(Side::Local, true, entities, &fates, holds, &goals, &depths);
    let remote = order(
        Side::Remote,
        makes_remote,
        entities,
        &fates,
        holds,
        &goals,
        &depths,
    );
    match (local, remote) {
        (Ok(local), Ok(remote)) => {
            let decided = Decided {
                entities,
                fates: &fates,
                holds,
                goals: &goals,
                depths: &depths,
                clashes: &clashes,
                direction: policy.direction,
            };
            Some(decided.into_plan(&local, &remote))
        }
        (local, remote) => {
            let stuck = [local.err(), remote.err()];
            for id in stuck.into_iter().flatten().flatten() {
                holds.wait(entities, id);
            }
            None
        }
    }
}

fn goals<'a>(
    entities: &Entities<'a>,
    fates: &[Fate],
    holds: &Holds,
    policy: &Policy,
) -> Vec<Option<Spot<'a>>> {
    let mut goals = vec![None; entities.all.len()];
    for id in entities.ids() {
        if fates[id] == Fate::Alive && holds.is_free(id) {
            goals[id] = goal(entities, holds, policy, id);
        }
    }
    goals
}
