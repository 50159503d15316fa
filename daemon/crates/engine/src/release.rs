//! Transfers that can begin at once, because they need none of the other steps of their plan.

use crate::executor::waits;
use crate::key::{Key, LockedKeys, keys_of};
use crate::step::Ctx;
use crate::work::{Queue, pack};
use cairn_index::{Db, IndexError};
use cairn_model::{LocalId, NodeId};
use cairn_plan::{Plan, Step};
use std::collections::BTreeSet;

/// Maximum number of transfers looked at, each with a few statements; the others come with the next plan.
const LOOKED_AT: usize = 2_000;

/// Transfers that may begin.
pub(crate) struct Released {
    pub(crate) work: Queue,
    /// Transfers that wait: after a failure (parked), or for a running one of the same file. The first key of each.
    pub(crate) waiting: BTreeSet<Key>,
}

/// Takes the transfers out of a plan that may begin at once, and those that wait. The others stay in it, after
/// the steps that they may need.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn release(
    ctx: &Ctx,
    plan: &mut Plan,
    locks: &LockedKeys,
) -> Result<Released, IndexError> {
    let is_transfer = |step: &Step| matches!(step, Step::Download { .. } | Step::Upload { .. });
    let (transfers, structure): (Vec<Step>, Vec<Step>) = std::mem::take(&mut plan.steps)
        .into_iter()
        .partition(is_transfer);
    let mut touched: BTreeSet<Key> = structure.iter().flat_map(keys_of).collect();
    let unlinked = unlinked_nodes(&structure);
    plan.steps = structure;
    let (mut free, mut waiting, mut looked_at) = (Vec::new(), BTreeSet::new(), 0);
    ctx.engine.index.read(|db| {
        for node in unlinked {
            let synced = db.synced_row(ctx.folder.id, node)?;
            touched.extend(synced.map(|synced| Key::Local(synced.local)));
        }
        for step in transfers {
            if waits(ctx, &step, locks) {
                waiting.extend(keys_of(&step).first());
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

/// Returns the nodes that will not be paired with their local files any more.
fn unlinked_nodes(structure: &[Step]) -> Vec<NodeId> {
    let node = |step: &Step| {
        let Step::Unlink { node } = step else {
            return None;
        };
        Some(*node)
    };
    structure.iter().filter_map(node).collect()
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
                let row = db.local_row(*local)?;
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
            let row = db.remote_row(*node)?;
            Ok(row.is_some_and(|row| row.parent == parent && row.name == to.name))
        }
    }
}

/// Returns whether a step touches a directory above a file: it would be read where it is no more.
fn moves_above(db: &Db<'_>, local: LocalId, touched: &BTreeSet<Key>) -> Result<bool, IndexError> {
    let mut at = db.local_row(local)?.and_then(|row| row.parent);
    while let Some(above) = at {
        if touched.contains(&Key::Local(above)) {
            return Ok(true);
        }
        at = db.local_row(above)?.and_then(|row| row.parent);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineError;
    use crate::testing::TestEngine;
    use cairn_model::Name;
    use cairn_plan::{Parent, ParentAndName};

    #[tokio::test]
    async fn a_file_that_becomes_a_copy_is_unpaired_though_the_other_version_could_not_be_had() {
        let (ctx, _dir) = TestEngine::new().into_ctx();
        let node = NodeId::from_random_bytes([1; 16]);
        ctx.engine.health().park(
            ctx.folder.id,
            Key::Node(node),
            "f".into(),
            &EngineError::Stale,
            crate::health::RetryHint::Soon,
        );
        let to = ParentAndName {
            parent: Parent::Root,
            name: Name::new("f".to_owned()).unwrap(),
        };
        let over = None;
        let none = LockedKeys::new();
        assert!(waits(&ctx, &Step::Download { node, over, to }, &none));
        assert!(!waits(&ctx, &Step::Unlink { node }, &none));
        let running = LockedKeys::from([Key::Node(node)]);
        assert!(waits(&ctx, &Step::Unlink { node }, &running));
    }
}
