//! Moves that have not taken place: a folder that something has yet to leave is not deleted. A plan orders the
//! moves before the deletion, but a move can fail, or wait for a transfer.

use crate::step::Ctx;
use cairn_index::{Db, IndexError};
use cairn_model::{LocalId, NodeId};
use cairn_plan::Step;
use std::collections::BTreeSet;

/// The files and folders that are where they were, though the plan moves them.
#[derive(Default)]
pub(super) struct Unmoved {
    locals: BTreeSet<LocalId>,
    nodes: BTreeSet<NodeId>,
}

impl Unmoved {
    /// Records a step that was not carried out, if it is a move.
    pub(super) fn add(&mut self, step: &Step) {
        match step {
            Step::MoveLocal { local, .. } => {
                self.locals.insert(*local);
            }
            Step::MoveRemote { node, .. } => {
                self.nodes.insert(*node);
            }
            Step::Adopt { .. }
            | Step::Forget { .. }
            | Step::Unlink { .. }
            | Step::CreateLocalFolder { .. }
            | Step::CreateRemoteFolder { .. }
            | Step::RestoreRemote { .. }
            | Step::SetLocalExecutable { .. }
            | Step::SetRemoteExecutable { .. }
            | Step::Download { .. }
            | Step::Upload { .. }
            | Step::TrashLocal { .. }
            | Step::TrashRemote { .. } => {}
        }
    }

    /// Returns whether a step would delete something that has yet to leave.
    pub(super) fn holds(&self, ctx: &Ctx, step: &Step) -> bool {
        if self.locals.is_empty() && self.nodes.is_empty() {
            return false;
        }
        let index = &ctx.engine.index;
        let is_above = match step {
            Step::TrashLocal { local, .. } => {
                index.read(|db| is_any_below(&self.locals, *local, |id| local_parent(db, id)))
            }
            Step::TrashRemote { node } => {
                index.read(|db| is_any_below(&self.nodes, *node, |id| remote_parent(db, id)))
            }
            Step::Adopt { .. }
            | Step::Forget { .. }
            | Step::Unlink { .. }
            | Step::CreateLocalFolder { .. }
            | Step::CreateRemoteFolder { .. }
            | Step::RestoreRemote { .. }
            | Step::MoveLocal { .. }
            | Step::MoveRemote { .. }
            | Step::SetLocalExecutable { .. }
            | Step::SetRemoteExecutable { .. }
            | Step::Download { .. }
            | Step::Upload { .. } => return false,
        };
        is_above.unwrap_or_else(|error| {
            tracing::warn!(%error, ?step, "a deletion waits: what is below it can't be looked up");
            true
        })
    }
}

fn local_parent(db: &Db<'_>, id: LocalId) -> Result<Option<LocalId>, IndexError> {
    Ok(db.local_row(id)?.and_then(|row| row.parent))
}

fn remote_parent(db: &Db<'_>, id: NodeId) -> Result<Option<NodeId>, IndexError> {
    Ok(db.remote_row(id)?.and_then(|row| row.parent))
}

/// Returns whether one of these is a folder, or lies below it.
fn is_any_below<Id: Copy + Eq>(
    ids: &BTreeSet<Id>,
    folder: Id,
    parent: impl Fn(Id) -> Result<Option<Id>, IndexError>,
) -> Result<bool, IndexError> {
    for id in ids {
        let mut at = Some(*id);
        while let Some(id) = at {
            if id == folder {
                return Ok(true);
            }
            at = parent(id)?;
        }
    }
    Ok(false)
}
