//! Folders that have left the pair on one side, because they were moved to where they take no part. For the other side
//! they are deleted, so a plan has to know all that they hold there: else what is synced would stay in a folder that
//! something keeps, the deletion gate would count too little, and what was never synced would go with the folder.

use cairn_index::{Db, IndexError};
use cairn_model::{FolderId, Kind, LocalId, NodeId};
use cairn_plan::{Blocked, SyncedNode, Trees};
use std::collections::BTreeMap;

/// Marks the folders of a plan that have left on one side, with all that is below them on the other one. Returns
/// whether any of it was not marked, and so may be missing in the trees.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn mark_below(db: &Db<'_>, folder: FolderId, trees: &Trees) -> Result<bool, IndexError> {
    let node_of: BTreeMap<LocalId, NodeId> = (trees.synced.values())
        .map(|base| (base.local, base.node))
        .collect();
    let mut any = false;
    for base in (trees.synced.values()).filter(|base| base.kind == Kind::Folder) {
        if trees.local.contains_key(&base.local) && has_left_service(trees, base) {
            any |= db.mark_below_local(folder, base.local)?;
        }
        if trees.remote.contains_key(&base.node) && has_left_disk(trees, &node_of, base) {
            any |= db.mark_below_node(folder, base.node)?;
        }
    }
    Ok(any)
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
