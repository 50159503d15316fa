//! The report of a plan: the conflicts that it resolves, and what it deletes.

use super::Decisions;
use crate::decision::Decision;
use crate::entity::{EntityId, ROOT, Side, UNKNOWN};
use crate::plan::{Conflict, Deletion};
use cairn_model::{ConflictKind, RelPath};
use std::collections::BTreeSet;

impl Decisions<'_, '_> {
    pub(super) fn deletions(&self, side: Side) -> Vec<Deletion> {
        let deleted = self.entities.ids().filter(|&id| {
            let gated = self.constraints.gated[id] && self.entity(id).only_side() == Some(side);
            gated || self.decisions[id] == Decision::Delete(side)
        });
        let of = |id| {
            let e = self.entity(id);
            Some(Deletion {
                node: e.base?.node,
                kind: e.kind,
            })
        };
        deleted.filter_map(of).collect()
    }

    pub(super) fn conflicts(&self) -> Vec<Conflict> {
        let mut found: Vec<Conflict> = self
            .name_conflicts
            .iter()
            .filter_map(|c| self.conflict(c.winner, c.loser, c.kind))
            .collect();
        // Two versions in different locations both keep their names, if neither could follow the other.
        let renamed: BTreeSet<EntityId> = self.name_conflicts.iter().map(|c| c.loser).collect();
        for (&copy, &winner) in &self.entities.split {
            let lives =
                self.decisions[copy] == Decision::Keep && self.decisions[winner] == Decision::Keep;
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
            base: self.entity(loser).made_from,
            path: self.path(winner),
            copy_path: self.path(loser),
        })
    }

    fn path(&self, id: EntityId) -> RelPath {
        let mut names = Vec::new();
        let mut at = id;
        while at != ROOT && at != UNKNOWN && names.len() < self.entities.all.len() {
            let e = self.entity(at);
            if let Some(target) = &self.targets[at] {
                names.push(target.name.as_ref().clone());
                at = target.parent;
            } else if let Some(location) =
                e.location(Side::Local).or_else(|| e.location(Side::Remote))
            {
                names.push(location.name.clone());
                at = location.parent;
            } else {
                break;
            }
        }
        names.into_iter().rev().collect()
    }
}
