//! Rings: X was moved into Y here, Y into X there.
//!
//! The service's tree has no ring, so giving the local moves of a ring back to it opens the ring.

use crate::entity::{Entities, EntityId, NOWHERE, ROOT, Side, Spot};
use crate::fate::{Fate, Holds};

/// Marks what has to be put back; returns whether there was any ring.
pub(crate) fn open_rings(
    entities: &Entities<'_>,
    fates: &[Fate],
    goals: &[Option<Spot<'_>>],
    holds: &mut Holds,
) -> bool {
    let mut seen_in: Vec<usize> = vec![0; entities.all.len()];
    let mut rings = Vec::new();
    for start in entities.ids() {
        let mut path = Vec::new();
        let mut at = start;
        loop {
            if seen_in[at] == start {
                let first = path.iter().position(|&p| p == at).unwrap_or(0);
                rings.push(path.split_off(first));
                break;
            }
            if seen_in[at] != 0 || at == ROOT || fates[at] != Fate::Alive || !holds.is_free(at) {
                break;
            }
            seen_in[at] = start;
            path.push(at);
            match goals[at] {
                Some(spot) if spot.parent != NOWHERE => at = spot.parent,
                Some(_) | None => break,
            }
        }
    }
    for ring in &rings {
        open(entities, ring, goals, holds);
    }
    !rings.is_empty()
}

fn open(entities: &Entities<'_>, ring: &[EntityId], goals: &[Option<Spot<'_>>], holds: &mut Holds) {
    let mut opened = false;
    for &id in ring {
        let e = &entities.all[id];
        if e.is_pair() && goals[id] != e.spot(Side::Remote) && !holds.put_back[id] {
            holds.put_back[id] = true;
            opened = true;
        }
    }
    if !opened {
        // Only a snapshot with a ring of its own comes here.
        for &id in ring {
            holds.wait(entities, id);
        }
    }
}
