//! From decisions to steps.
//!
//! The order of the whole: what parts and what is gone, folders that are one, local structure,
//! structure on the service, executable bits, files that are one, transfers, deletions.

mod report;

use crate::clash::{Clash, Goal};
use crate::content::Content;
use crate::entity::{Entities, Entity, EntityId, NOWHERE, ROOT, Side};
use crate::fate::{Fate, Holds};
use crate::order::{Op, Ordered};
use crate::step::MoveReason;
use crate::{Direction, Parent, Place, Plan, Step};
use cairn_model::{Name, NodeId};
use std::cmp::Reverse;

/// All that was decided.
pub(crate) struct Decided<'d, 'a> {
    pub(crate) entities: &'d Entities<'a>,
    pub(crate) fates: &'d [Fate],
    pub(crate) holds: &'d Holds,
    pub(crate) goals: &'d [Option<Goal<'a>>],
    pub(crate) depths: &'d [u32],
    pub(crate) clashes: &'d [Clash],
    pub(crate) direction: Direction,
}

impl<'a> Decided<'_, 'a> {
    /// Writes the plan down.
    pub(crate) fn into_plan(self, local: &Ordered, remote: &Ordered) -> Plan {
        let mut bits = Vec::new();
        let mut links = Vec::new();
        let mut transfers = Vec::new();
        for id in self.entities.ids() {
            if self.fates[id] == Fate::Alive && !self.holds.frozen[id] {
                self.content(id, &mut bits, &mut links, &mut transfers);
            }
        }
        let (mut steps, late) = self.partings();
        steps.extend(self.folder_links());
        steps.extend(local.ops.iter().filter_map(|op| self.local_op(op)));
        steps.extend(late);
        steps.extend(remote.ops.iter().filter_map(|op| self.remote_op(op)));
        steps.append(&mut bits);
        steps.append(&mut links);
        transfers.sort_by_key(|&(id, size, _)| (self.depths[id], size, id));
        steps.extend(transfers.into_iter().map(|(_, _, step)| step));
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
        }
    }

    fn entity(&self, id: EntityId) -> &Entity<'a> {
        &self.entities.all[id]
    }

    /// The records that must go before anything treats the sides as strangers.
    ///
    /// Children first: whether a child was moved can only be seen while its folder is known. Second
    /// come those that are to be known until an interrupted local detour is undone; one on the
    /// service stays known until it is made here anew.
    fn partings(&self) -> (Vec<Step>, Vec<Step>) {
        let depths = self.entities.depths(|id| Some(self.entity(id).base_parent));
        let mut found = Vec::new();
        for id in self.entities.ids() {
            let e = self.entity(id);
            if let Some(node) = e.cut {
                found.push((id, Step::Unlink { node }));
            }
            let Some(base) = e.base else { continue };
            let node = base.node;
            let free = !self.holds.frozen[id];
            match self.fates[id] {
                Fate::Gone => found.push((id, Step::Forget { node })),
                Fate::Alive if !free || (e.stranded.is_some() && e.local.is_none()) => {}
                Fate::Alive if !e.is_pair() || e.remote.is_some_and(|r| r.id != node) => {
                    found.push((id, Step::Unlink { node }));
                }
                Fate::Alive | Fate::Absent | Fate::Frozen | Fate::Doomed(_) => {}
            }
        }
        found.sort_by_key(|&(id, _)| (Reverse(depths[id]), id));
        let (late, early): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|&(id, _)| self.entity(id).stranded.is_some() && !self.entity(id).is_pair());
        let steps = |list: Vec<(EntityId, Step)>| list.into_iter().map(|(_, step)| step).collect();
        (steps(early), steps(late))
    }

    /// Parents first: the steps below them name the node.
    fn folder_links(&self) -> Vec<Step> {
        let mut found: Vec<(u32, EntityId, Step)> = Vec::new();
        for id in self.entities.ids() {
            let e = self.entity(id);
            if self.fates[id] != Fate::Alive || self.holds.frozen[id] || e.is_file() {
                continue;
            }
            if let Some(step) = link(e, is_unrecorded(e)) {
                found.push((self.depths[id], id, step));
            }
        }
        found.sort_by_key(|&(depth, id, _)| (depth, id));
        found.into_iter().map(|(_, _, step)| step).collect()
    }

    fn content(
        &self,
        id: EntityId,
        bits: &mut Vec<Step>,
        links: &mut Vec<Step>,
        transfers: &mut Vec<(EntityId, u64, Step)>,
    ) {
        let e = self.entity(id);
        if !e.is_file() {
            return;
        }
        let (sends, receives) = (
            self.direction != Direction::Download,
            self.direction != Direction::Upload,
        );
        match (e.local, e.remote) {
            (Some(l), None) if sends => {
                let Some(to) = self.place(id, Side::Remote) else {
                    return;
                };
                transfers.push((
                    id,
                    l.size,
                    Step::Upload {
                        local: l.id,
                        over: None,
                        to,
                    },
                ));
            }
            (None, Some(r)) if receives => {
                let Some(to) = self.place(id, Side::Local) else {
                    return;
                };
                transfers.push((
                    id,
                    r.size,
                    Step::Download {
                        node: r.id,
                        over: None,
                        to,
                    },
                ));
            }
            (Some(l), Some(r)) => {
                let executable = match e.base {
                    Some(base) if r.executable == base.executable => l.executable,
                    Some(_) | None => r.executable,
                };
                let pulls = receives && e.content == Content::Pull;
                let pushes = sends && e.content == Content::Push;
                // Bits go first, so that the transfer carries the right one.
                if l.executable != executable && receives && !pulls {
                    bits.push(Step::SetLocalExecutable {
                        node: r.id,
                        local: l.id,
                        executable,
                    });
                }
                if r.executable != executable && sends && !pushes {
                    bits.push(Step::SetRemoteExecutable {
                        node: r.id,
                        local: l.id,
                        executable,
                    });
                }
                if pulls {
                    let Some(to) = self.place(id, Side::Local) else {
                        return;
                    };
                    transfers.push((
                        id,
                        r.size,
                        Step::Download {
                            node: r.id,
                            over: Some(l.id),
                            to,
                        },
                    ));
                } else if pushes {
                    let Some(to) = self.place(id, Side::Remote) else {
                        return;
                    };
                    transfers.push((
                        id,
                        l.size,
                        Step::Upload {
                            local: l.id,
                            over: Some(r.id),
                            to,
                        },
                    ));
                } else if matches!(e.content, Content::Same | Content::Relink) {
                    links.extend(link(e, e.content == Content::Relink || is_unrecorded(e)));
                }
            }
            (Some(_), None) | (None, Some(_)) | (None, None) => {}
        }
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
            Op::Detour(id, folder, name) => Some(Step::MoveLocal {
                local: self.entity(*id).local?.id,
                to: self.in_folder(*folder, name.clone()),
                reason: MoveReason::Detour,
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
            Op::Detour(id, folder, name) => Some(Step::MoveRemote {
                node: self.node(*id)?,
                to: self.in_folder(*folder, name.clone()),
                reason: MoveReason::Detour,
            }),
            Op::Delete(id) => self.trash_remote(*id),
        }
    }

    fn reason(&self, id: EntityId) -> MoveReason {
        if self.goals[id].as_ref().is_some_and(|g| g.copy) {
            MoveReason::Conflict
        } else if self.holds.put_back[id] {
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

    /// Where it shall stand on a side, or where it stands there if it has to stay.
    fn place(&self, id: EntityId, side: Side) -> Option<Place> {
        if let Some(goal) = &self.goals[id] {
            return Some(self.in_folder(goal.parent, goal.name.as_ref().clone()));
        }
        let spot = self.entity(id).spot(side)?;
        Some(self.in_folder(spot.parent, spot.name.clone()))
    }

    fn in_folder(&self, folder: EntityId, name: Name) -> Place {
        let parent = if folder == ROOT || folder == NOWHERE {
            Parent::Root
        } else {
            self.entity(folder).as_parent()
        };
        Place { parent, name }
    }
}

fn link(e: &Entity<'_>, wanted: bool) -> Option<Step> {
    let (local, node) = (e.local?.id, e.remote?.id);
    wanted.then_some(Step::Link { local, node })
}

/// Tells whether the sides agree on something that the synced node doesn't know.
fn is_unrecorded(e: &Entity<'_>) -> bool {
    let (Some(l), Some(r)) = (e.local, e.remote) else {
        return false;
    };
    let Some(base) = e.base else { return true };
    let (here, there) = (e.spot(Side::Local), e.spot(Side::Remote));
    let moved = here == there && here != e.base_spot();
    let bit = e.is_file() && l.executable == r.executable && l.executable != base.executable;
    moved || bit || base.local != l.id || base.node != r.id
}
