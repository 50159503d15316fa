//! Folders that have left the pair on one side, because they were moved to where they take no part. For the other side
//! they are deleted, so a plan has to know all that they hold there: else what is synced would stay in a folder that
//! something keeps, the deletion gate would count too little, and what was never synced would go with the folder.

use crate::engine::Engine;
use crate::key::{Key, keys_of};
use cairn_index::{Db, Dirty, IndexError};
use cairn_model::{FolderId, Kind, LocalId, NodeId};
use cairn_plan::{Blocked, Plan, SyncedNode, Trees};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the folders of a plan that have left on one side, with all that is below them on the other one. It is not
/// marked as changed: each part of a round that meets such a folder needs all of it, and marks that come anew with each
/// part would keep the round from its end.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn all_below(db: &Db<'_>, folder: FolderId, trees: &Trees) -> Result<Dirty, IndexError> {
    let node_of: BTreeMap<LocalId, NodeId> = (trees.synced.values())
        .map(|base| (base.local, base.node))
        .collect();
    let mut below = Dirty::default();
    for base in (trees.synced.values()).filter(|base| base.kind == Kind::Folder) {
        if trees.local.contains_key(&base.local) && has_left_service(trees, base) {
            below.local.extend(db.all_below_local(folder, base.local)?);
        }
        if trees.remote.contains_key(&base.node) && has_left_disk(trees, &node_of, base) {
            below.node.extend(db.all_below_node(base.node)?);
        }
    }
    Ok(below)
}

/// Marks those of the keys below folders that have left with which something is to be done, so that it is tried until it
/// is done.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn mark_undone(
    engine: &Engine,
    folder: FolderId,
    below: &Dirty,
    (plan, unknown): (&Plan, &BTreeSet<Key>),
) -> Result<(), IndexError> {
    if below.local.is_empty() && below.node.is_empty() {
        return Ok(());
    }
    let mut undone: BTreeSet<Key> = plan.steps.iter().flat_map(keys_of).collect();
    undone.extend(unknown);
    let locals = (below.local.iter().copied()).filter(|id| undone.contains(&Key::Local(*id)));
    let nodes = (below.node.iter().copied()).filter(|id| undone.contains(&Key::Node(*id)));
    let (locals, nodes): (Vec<_>, Vec<_>) = (locals.collect(), nodes.collect());
    engine.index.write(|db| {
        for local in locals {
            db.keep_local_marked(folder, local)?;
        }
        for node in nodes {
            db.keep_node_marked(folder, node)?;
        }
        Ok(())
    })
}

/// Returns whether a node was moved on the service to where this device has nothing.
fn has_left_service(trees: &Trees, base: &SyncedNode) -> bool {
    let Some(node) = trees.remote.get(&base.node) else {
        return false;
    };
    let has_moved = (node.parent, &node.name) != (base.parent, &base.name);
    let is_below_blocked = || {
        is_any_above(&trees.remote, node.parent, |above| {
            (above.parent, above.blocked != Blocked::No)
        })
    };
    has_moved && (node.blocked == Blocked::Unselected || is_below_blocked())
}

/// Returns whether a directory was moved on this disk to where nothing is synced.
fn has_left_disk(trees: &Trees, node_of: &BTreeMap<LocalId, NodeId>, base: &SyncedNode) -> bool {
    let Some(dir) = trees.local.get(&base.local) else {
        return false;
    };
    let is_in_place = match dir.parent {
        None => base.parent.is_none(),
        Some(parent) => base.parent.is_some() && node_of.get(&parent) == base.parent.as_ref(),
    };
    let is_below_blocked = || {
        is_any_above(&trees.local, dir.parent, |above| {
            (above.parent, above.blocked)
        })
    };
    (!is_in_place || dir.name != base.name) && (dir.blocked || is_below_blocked())
}

/// Returns whether anything on the way from a folder up to the root is blocked. `look` returns the parent of a node,
/// and whether it is.
fn is_any_above<K: Ord + Copy, N>(
    tree: &BTreeMap<K, N>,
    from: Option<K>,
    look: impl Fn(&N) -> (Option<K>, bool),
) -> bool {
    let mut at = from;
    // No way is longer, unless it is a circle.
    for _ in 0..tree.len() {
        let Some(node) = at.and_then(|key| tree.get(&key)) else {
            return false;
        };
        let (above, is_blocked) = look(node);
        if is_blocked {
            return true;
        }
        at = above;
    }
    false
}

#[cfg(test)]
mod tests;
