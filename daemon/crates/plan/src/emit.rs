//! Turns the decisions about entities into steps. An entity is one file or folder of the user, with up to three
//! nodes: local, remote and synced.
//!
//! Nodes that come back from the service's trash are a plan of their own. Otherwise, the order of the steps: unlinking
//! and forgetting, adopted folders, local structure, structure on the service, executable bits, adopted files,
//! transfers, deletions. To adopt is to record that both sides are the same; to unlink, to record that they no longer
//! are.

mod content;
mod report;

use self::content::ContentSteps;
use crate::constraints::Constraints;
use crate::decision::Decision;
use crate::entity::{Entities, Entity, EntityId, ROOT, Side, UNKNOWN};
use crate::name_conflicts::{NameConflict, Target};
use crate::order::{Op, Ordered};
use crate::restore::is_restored;
use crate::step::MoveReason;
use crate::{Parent, ParentAndName, Plan, Step};
use cairn_model::{Name, NodeId, SyncMode};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The result of deciding about all entities.
pub(crate) struct Decisions<'d, 'a> {
    pub(crate) entities: &'d Entities<'a>,
    pub(crate) decisions: &'d [Decision],
    pub(crate) constraints: &'d Constraints,
    pub(crate) targets: &'d [Option<Target<'a>>],
    pub(crate) depths: &'d [u32],
    pub(crate) name_conflicts: &'d [NameConflict],
    pub(crate) mode: SyncMode,
    /// Nodes that can be taken out of the service's trash.
    pub(crate) trashed: &'d BTreeSet<NodeId>,
}

impl<'a> Decisions<'_, 'a> {
    /// Makes the plan, given the order of the structural changes of both sides.
    pub(crate) fn into_plan(self, local: &Ordered, remote: &Ordered) -> Plan {
        let restores = self.restores();
        if !restores.is_empty() {
            return Plan {
                steps: restores,
                rest_waits: true,
                ..Plan::default()
            };
        }
        let mut content = ContentSteps::default();
        for id in self.entities.ids() {
            if self.decisions[id] == Decision::Keep && !self.constraints.blocked[id] {
                self.content_steps(id, &mut content);
            }
        }
        let (mut steps, late) = self.unlinks();
        steps.extend(self.folder_adoptions());
        steps.extend(local.ops.iter().filter_map(|op| self.local_op(op)));
        steps.extend(late);
        steps.extend(remote.ops.iter().filter_map(|op| self.remote_op(op)));
        steps.append(&mut content.executable_bits);
        steps.append(&mut content.adoptions);
        content
            .transfers
            .sort_by_key(|t| (self.depths[t.id], t.size, t.id));
        steps.extend(content.transfers.into_iter().map(|t| t.step));
        steps.extend(
            local
                .deletions
                .iter()
                .filter_map(|&id| self.trash_local(id)),
        );
        steps.extend(
            remote
                .deletions
                .iter()
                .filter_map(|&id| self.trash_remote(id)),
        );
        Plan {
            needs: Vec::new(),
            steps,
            conflicts: self.conflicts(),
            local_deletions: self.deletions(Side::Local),
            remote_deletions: self.deletions(Side::Remote),
            rest_waits: false,
        }
    }

    /// Returns the steps that take back deletions on the service.
    fn restores(&self) -> Vec<Step> {
        let wanted = |&id: &EntityId| {
            self.mode == SyncMode::TwoWay
                && !self.constraints.blocked[id]
                && is_restored(self.entities, self.decisions, self.trashed, id)
        };
        let step = |id: EntityId| {
            let (node, local) = (self.entity(id).base?.node, self.entity(id).local?.id);
            Some(Step::RestoreRemote { node, local })
        };
        self.entities
            .ids()
            .filter(wanted)
            .filter_map(step)
            .collect()
    }

    fn entity(&self, id: EntityId) -> &Entity<'a> {
        &self.entities.all[id]
    }

    /// Returns the steps that drop synced nodes: those that must come before anything treats the two
    /// sides as unlinked, and those that come after the local structure.
    ///
    /// Children first: a move of a child can only be seen while its folder is known. The late ones
    /// are needed until an interrupted local swap is undone; one on the service is needed until the
    /// node is made here anew.
    fn unlinks(&self) -> (Vec<Step>, Vec<Step>) {
        let depths = self.entities.depths(|id| Some(self.entity(id).base_parent));
        let mut found = Vec::new();
        for id in self.entities.ids() {
            let e = self.entity(id);
            if let Some(node) = e.unlinked {
                found.push((id, Step::Unlink { node }));
            }
            let Some(base) = e.base else { continue };
            let node = base.node;
            let movable = !self.constraints.blocked[id];
            match self.decisions[id] {
                Decision::Forget => found.push((id, Step::Forget { node })),
                Decision::Keep if !movable || (e.restore_to.is_some() && e.local.is_none()) => {}
                Decision::Keep if !e.is_pair() || e.remote.is_some_and(|r| r.id != node) => {
                    found.push((id, Step::Unlink { node }));
                }
                Decision::Keep | Decision::Absent | Decision::Blocked | Decision::Delete(_) => {}
            }
        }
        found.sort_by_key(|&(id, _)| (Reverse(depths[id]), id));
        let (late, early): (Vec<_>, Vec<_>) = found.into_iter().partition(|&(id, _)| {
            self.entity(id).restore_to.is_some() && !self.entity(id).is_pair()
        });
        let steps = |list: Vec<(EntityId, Step)>| list.into_iter().map(|(_, step)| step).collect();
        (steps(early), steps(late))
    }

    /// Returns the steps that adopt folders, parents first: the steps below them name the node.
    fn folder_adoptions(&self) -> Vec<Step> {
        let mut found: Vec<(u32, EntityId, Step)> = Vec::new();
        for id in self.entities.ids() {
            let e = self.entity(id);
            if self.decisions[id] != Decision::Keep || self.constraints.blocked[id] || e.is_file() {
                continue;
            }
            if let Some(step) = adopt(e, is_unrecorded(e)) {
                found.push((self.depths[id], id, step));
            }
        }
        found.sort_by_key(|&(depth, id, _)| (depth, id));
        found.into_iter().map(|(_, _, step)| step).collect()
    }

    fn local_op(&self, op: &Op) -> Option<Step> {
        match op {
            Op::CreateFolder(id) => Some(Step::CreateLocalFolder {
                node: self.node(*id)?,
                to: self.place(*id, Side::Local)?,
            }),
            Op::Move(id) => {
                let e = self.entity(*id);
                Some(Step::MoveLocal {
                    local: e.local?.id,
                    to: self.place(*id, Side::Local)?,
                    reason: self.reason(*id),
                })
            }
            Op::MoveAside(id, folder, name) => Some(Step::MoveLocal {
                local: self.entity(*id).local?.id,
                to: self.in_folder(*folder, name.clone()),
                reason: MoveReason::Temporary,
            }),
            Op::Delete(id) => self.trash_local(*id),
        }
    }

    fn remote_op(&self, op: &Op) -> Option<Step> {
        match op {
            Op::CreateFolder(id) => Some(Step::CreateRemoteFolder {
                local: self.entity(*id).local?.id,
                to: self.place(*id, Side::Remote)?,
            }),
            Op::Move(id) => Some(Step::MoveRemote {
                node: self.node(*id)?,
                to: self.place(*id, Side::Remote)?,
                reason: self.reason(*id),
            }),
            Op::MoveAside(id, folder, name) => Some(Step::MoveRemote {
                node: self.node(*id)?,
                to: self.in_folder(*folder, name.clone()),
                reason: MoveReason::Temporary,
            }),
            Op::Delete(id) => self.trash_remote(*id),
        }
    }

    fn reason(&self, id: EntityId) -> MoveReason {
        if self.targets[id]
            .as_ref()
            .is_some_and(|target| target.is_conflict_copy)
        {
            MoveReason::Conflict
        } else if self.constraints.put_back[id] {
            MoveReason::PutBack
        } else {
            MoveReason::Follow
        }
    }

    fn trash_local(&self, id: EntityId) -> Option<Step> {
        let e = self.entity(id);
        Some(Step::TrashLocal {
            node: e.base?.node,
            local: e.local?.id,
        })
    }

    fn trash_remote(&self, id: EntityId) -> Option<Step> {
        Some(Step::TrashRemote {
            node: self.node(id)?,
        })
    }

    fn node(&self, id: EntityId) -> Option<NodeId> {
        self.entity(id).remote.map(|r| r.id)
    }

    /// Returns the target of an entity, or its location on a side if it has to stay.
    fn place(&self, id: EntityId, side: Side) -> Option<ParentAndName> {
        if let Some(target) = &self.targets[id] {
            return Some(self.in_folder(target.parent, target.name.as_ref().clone()));
        }
        let location = self.entity(id).location(side)?;
        Some(self.in_folder(location.parent, location.name.clone()))
    }

    fn in_folder(&self, folder: EntityId, name: Name) -> ParentAndName {
        let parent = if folder == ROOT || folder == UNKNOWN {
            Parent::Root
        } else {
            self.entity(folder).as_parent()
        };
        ParentAndName { parent, name }
    }
}

fn adopt(e: &Entity<'_>, wanted: bool) -> Option<Step> {
    let (local, node) = (e.local?.id, e.remote?.id);
    wanted.then_some(Step::Adopt { local, node })
}

/// Returns whether the sides agree on something that the synced node doesn't record.
fn is_unrecorded(e: &Entity<'_>) -> bool {
    let (Some(l), Some(r)) = (e.local, e.remote) else {
        return false;
    };
    let Some(base) = e.base else { return true };
    let (local, remote) = (e.location(Side::Local), e.location(Side::Remote));
    let moved = local == remote && local != e.base_location();
    let bit = e.is_file() && l.executable == r.executable && l.executable != base.executable;
    moved || bit || base.local != l.id || base.node != r.id
}
