//! What a plan tells besides its steps: the conflicts that it settles and how much it deletes.

use super::Decided;
use crate::entity::{EntityId, NOWHERE, ROOT, Side};
use crate::fate::Fate;
use crate::plan::{Conflict, ConflictKind};
use cairn_model::RelPath;
use std::collections::BTreeSet;

impl Decided<'_, '_> {
    pub(super) fn deletions(&self, side: Side) -> u64 {
        let counted = self.entities.ids().filter(|&id| {
            let e = self.entity(id);
            let gated = self.holds.gated[id] && e.lone_side() == Some(side);
            e.is_file() && (gated || self.fates[id] == Fate::Doomed(side))
        });
        counted.map(|_| 1).sum()
    }

    pub(super) fn conflicts(&self) -> Vec<Conflict> {
        let mut found: Vec<Conflict> = self
            .clashes
            .iter()
            .filter_map(|c| self.conflict(c.winner, c.loser, c.kind))
            .collect();
        // Two versions of one file that also part their ways keep both names.
        let renamed: BTreeSet<EntityId> = self.clashes.iter().map(|c| c.loser).collect();
        for (&copy, &winner) in &self.entities.parted {
            let lives = self.fates[copy] == Fate::Alive && self.fates[winner] == Fate::Alive;
            if lives && !renamed.contains(&copy) {
                found.extend(self.conflict(winner, copy, ConflictKind::Edit));
            }
        }
        found.sort_by_key(|c| c.copy);
        found
    }

    fn conflict(&self, winner: EntityId, loser: EntityId, kind: ConflictKind) -> Option<Conflict> {
        Some(Conflict {
            node: self.node(winner),
            copy: self.entity(loser).local?.id,
            kind,
            path: self.path(winner),
            copy_path: self.path(loser),
        })
    }

    fn path(&self, id: EntityId) -> RelPath {
        let mut names = Vec::new();
        let mut at = id;
        while at != ROOT && at != NOWHERE && names.len() < self.entities.all.len() {
            let e = self.entity(at);
            if let Some(goal) = &self.goals[at] {
                names.push(goal.name.as_ref().clone());
                at = goal.parent;
            } else if let Some(spot) = e.spot(Side::Local).or_else(|| e.spot(Side::Remote)) {
                names.push(spot.name.clone());
                at = spot.parent;
            } else {
                break;
            }
        }
        names.into_iter().rev().collect()
    }
}
