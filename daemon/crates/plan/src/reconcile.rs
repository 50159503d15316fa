//! The whole of planning: pair the nodes of three trees, decide, order, emit the steps.
//!
//! Deciding is repeated as long as something turns out to be impossible for now. Each round adds at
//! least one constraint (a change that is not allowed) and none is ever removed, so it ends.

use crate::constraints::Constraints;
use crate::content::Content;
use crate::cycle::break_cycles;
use crate::decision::{Decision, decide, target};
use crate::emit::Decisions;
use crate::entity::{Entities, EntityId, Location, Side};
use crate::limit::{apply_direction, apply_gate, defer_with_parents, hold_contents};
use crate::name_conflicts;
use crate::order::order;
use crate::pair::pair;
use crate::{Plan, Policy, Trees};
use cairn_model::{Name, NodeId, SyncMode, is_temporary_name, original_name};
use std::collections::{BTreeMap, BTreeSet};

/// Plans the steps that make the three trees equal.
///
/// Pure and total: it reads nothing but its arguments, and equal arguments give an equal plan.
#[must_use]
pub fn reconcile(trees: &Trees, policy: &Policy) -> Plan {
    let original_names = original_names(trees);
    let mut unmovable = BTreeSet::new();
    loop {
        let entities = pair(trees, &original_names, policy.mode, &unmovable);
        if !entities.needs.is_empty() {
            return Plan {
                needs: entities.needs,
                ..Plan::default()
            };
        }
        let mut constraints = Constraints::new(&entities);
        hold_contents(&entities, &mut constraints, policy);
        let plan = loop {
            if let Some(plan) = attempt(trees, &entities, &mut constraints, policy) {
                break plan;
            }
        };
        let known = unmovable.len();
        unmovable.extend(unmovable_conflicts(&entities, &constraints));
        if unmovable.len() == known {
            return plan;
        }
    }
}

/// Returns all temporary names in the trees, each with its original name.
fn original_names(trees: &Trees) -> BTreeMap<Name, Name> {
    let local = trees.local.values().map(|l| &l.name);
    let remote = trees.remote.values().map(|r| &r.name);
    let temporary = local.chain(remote).filter(|name| is_temporary_name(name));
    temporary
        .filter_map(|name| Some((name.clone(), original_name(name)?)))
        .collect()
}

/// Returns the nodes in conflict whose move, which should come first, is impossible for now: what they conflict
/// about must not wait for it.
fn unmovable_conflicts(entities: &Entities<'_>, constraints: &Constraints) -> Vec<NodeId> {
    let waits =
        |&id: &EntityId| entities.all[id].content == Content::Conflict && constraints.pinned[id];
    let node = |id: EntityId| entities.all[id].base.map(|base| base.node);
    entities.ids().filter(waits).filter_map(node).collect()
}

/// Runs one round; `None` when it added a constraint.
fn attempt(
    trees: &Trees,
    entities: &Entities<'_>,
    constraints: &mut Constraints,
    policy: &Policy,
) -> Option<Plan> {
    let decisions = decide(entities, constraints, policy);
    let gated = apply_gate(entities, &decisions, constraints, policy);
    let limited = apply_direction(entities, &decisions, constraints, policy);
    if gated || limited {
        return None;
    }
    let locations = targets(entities, &decisions, constraints, policy);
    if break_cycles(entities, &decisions, &locations, constraints)
        || defer_with_parents(entities, &decisions, &locations, constraints)
    {
        return None;
    }
    let (targets, name_conflicts) =
        name_conflicts::resolve(entities, &decisions, &locations, constraints, policy)?;
    let depths = entities.depths(|id| targets[id].as_ref().map(|g| g.parent));
    let makes_remote = policy.mode != SyncMode::Download;
    let order_of = |side, makes_new| {
        let (decisions, constraints) = (&decisions, &*constraints);
        order(
            side,
            makes_new,
            entities,
            decisions,
            constraints,
            &targets,
            &depths,
        )
    };
    let local = order_of(Side::Local, true);
    let remote = order_of(Side::Remote, makes_remote);
    match (local, remote) {
        (Ok(local), Ok(remote)) => {
            let decided = Decisions {
                entities,
                decisions: &decisions,
                constraints,
                targets: &targets,
                depths: &depths,
                name_conflicts: &name_conflicts,
                mode: policy.mode,
                trashed: &trees.trashed,
            };
            Some(decided.into_plan(&local, &remote))
        }
        (local, remote) => {
            let stuck = [local.err(), remote.err()];
            for id in stuck.into_iter().flatten().flatten() {
                constraints.defer(entities, id);
            }
            None
        }
    }
}

fn targets<'a>(
    entities: &Entities<'a>,
    decisions: &[Decision],
    constraints: &Constraints,
    policy: &Policy,
) -> Vec<Option<Location<'a>>> {
    let mut targets = vec![None; entities.all.len()];
    for id in entities.ids() {
        if decisions[id] == Decision::Keep && constraints.is_movable(id) {
            targets[id] = target(entities, constraints, policy, id);
        }
    }
    targets
}
