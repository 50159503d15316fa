//! Cycles of folders: X was moved into Y on this device, Y into X on the service.
//!
//! The service's tree has no cycle, so undoing the local moves of a cycle breaks it.

use crate::constraints::Constraints;
use crate::decision::Decision;
use crate::entity::{Entities, EntityId, Location, ROOT, Side, UNKNOWN};

/// Marks the moves that have to be undone; returns whether there was any cycle.
pub(crate) fn break_cycles(
    entities: &Entities<'_>,
    decisions: &[Decision],
    targets: &[Option<Location<'_>>],
    constraints: &mut Constraints,
) -> bool {
    let mut seen_in: Vec<usize> = vec![0; entities.all.len()];
    let mut cycles = Vec::new();
    for start in entities.ids() {
        let mut path = Vec::new();
        let mut at = start;
        loop {
            if seen_in[at] == start {
                let first = path.iter().position(|&p| p == at).unwrap_or(0);
                cycles.push(path.split_off(first));
                break;
            }
            if seen_in[at] != 0
                || at == ROOT
                || decisions[at] != Decision::Keep
                || !constraints.is_movable(at)
            {
                break;
            }
            seen_in[at] = start;
            path.push(at);
            match targets[at] {
                Some(location) if location.parent != UNKNOWN => at = location.parent,
                Some(_) | None => break,
            }
        }
    }
    for cycle in &cycles {
        break_cycle(entities, cycle, targets, constraints);
    }
    !cycles.is_empty()
}

fn break_cycle(
    entities: &Entities<'_>,
    cycle: &[EntityId],
    targets: &[Option<Location<'_>>],
    constraints: &mut Constraints,
) {
    let mut broken = false;
    for &id in cycle {
        let e = &entities.all[id];
        if e.is_pair() && targets[id] != e.location(Side::Remote) && !constraints.put_back[id] {
            constraints.put_back[id] = true;
            broken = true;
        }
    }
    if !broken {
        // Only a snapshot that has a cycle of its own gets here.
        for &id in cycle {
            constraints.defer(entities, id);
        }
    }
}
