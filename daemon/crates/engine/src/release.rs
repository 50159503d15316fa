//! The transfers of a plan that need none of its other steps: they don't wait for them.

use crate::executor::{keys_of, waits};
use crate::key::{Key, LockedKeys};
use crate::step::Ctx;
use crate::work::{Queue, pack};
use cairn_index::{Db, IndexError};
use cairn_model::LocalId;
use cairn_plan::{Plan, Step};
use std::collections::BTreeSet;

/// So many transfers are looked at, each with a few statements; the others come with the next plan.
const LOOKED_AT: usize = 2_000;

/// Transfers that may begin.
pub(crate) struct Released {
    pub(crate) work: Queue,
    /// Transfers that wait (parked, or held by a running one).
    pub(crate) waiting: u64,
}

/// Takes the transfers out of a plan that may begin at once, and those that wait. The others stay in it, after
/// the steps that they may need.
///
/// # Errors
/// The index's.
pub(crate) fn release(
    ctx: &Ctx,
    plan: &mut Plan,
    locks: &LockedKeys,
) -> Result<Released, IndexError> {
    let is_transfer = |step: &Step| matches!(step, Step::Download { .. } | Step::Upload { .. });
    let (transfers, structure): (Vec<Step>, Vec<Step>) = std::mem::take(&mut plan.steps)
        .into_iter()
        .partition(is_transfer);
    let touched: BTreeSet<Key> = structure.iter().flat_map(keys_of).collect();
    plan.steps = structure;
    let (mut free, mut waiting, mut looked_at) = (Vec::new(), 0, 0);
    ctx.engine.index.read(|db| {
        for step in transfers {
            if waits(ctx, &step, locks) {
                waiting += 1;
                continue;
            }
            let is_free = touched.is_empty()
                || (looked_at < LOOKED_AT && {
                    looked_at += 1;
                    needs_nothing(ctx, db, &step, &touched)?
                });
            if is_free {
                free.push(step);
            } else {
                plan.steps.push(step);
            }
        }
        Ok(())
    })?;
    let free: Vec<&Step> = free.iter().collect();
    Ok(Released {
        work: pack(ctx, &free)?,
        waiting,
    })
}

/// Returns whether a transfer is touched by none of the other steps, and its place is there and free.
fn needs_nothing(
    ctx: &Ctx,
    db: &Db<'_>,
    step: &Step,
    touched: &BTreeSet<Key>,
) -> Result<bool, IndexError> {
    if keys_of(step).iter().any(|key| touched.contains(key)) {
        return Ok(false);
    }
    if let Step::Download { over, to, .. } = step {
        let Some((parent, _)) = ctx.local_place(db, to)? else {
            return Ok(false);
        };
        return match over {
            None => {
                let taken = db.children_by_key(ctx.folder.id, parent, &to.name)?;
                Ok(taken.is_empty())
            }
            Some(local) => {
                let row = db.local(*local)?;
                Ok(row.is_some_and(|row| row.parent == parent && row.name == to.name))
            }
        };
    }
    let Step::Upload { local, over, to } = step else {
        return Ok(false);
    };
    let Some(parent) = ctx.remote_parent(db, to)? else {
        return Ok(false);
    };
    if moves_above(db, *local, touched)? {
        return Ok(false);
    }
    match over {
        None => Ok(db.remote_children_by_key(parent, &to.name)?.is_empty()),
        Some(node) => {
            let row = db.remote(*node)?;
            Ok(row.is_some_and(|row| row.parent == parent && row.name == to.name))
        }
    }
}

/// Returns whether a step touches a directory above a file: it would be read where it is no more.
fn moves_above(db: &Db<'_>, local: LocalId, touched: &BTreeSet<Key>) -> Result<bool, IndexError> {
    let mut at = db.local(local)?.and_then(|row| row.parent);
    while let Some(above) = at {
        if touched.contains(&Key::Local(above)) {
            return Ok(true);
        }
        at = db.local(above)?.and_then(|row| row.parent);
    }
    Ok(false)
}
