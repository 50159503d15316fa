//! The three trees in the planner's types.

use crate::engine::Engine;
use crate::key::Key;
use crate::node_rows::seal_info;
use crate::observe::rules::Rules;
use crate::selection;
use cairn_index::{Db, FolderRow, IndexError, Skipped, Snapshot, SyncedRow};
use cairn_model::{FolderId, LocalId, NameKey, NodeId};
use cairn_plan::{Blocked, LocalNode, RemoteNode, SyncedNode, Trees};
use std::collections::{BTreeMap, BTreeSet};

/// Makes the trees of a snapshot. Nodes with unknown facts are blocked.
pub(super) fn trees(
    engine: &Engine,
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &Rules,
    snapshot: Snapshot,
    unknown: &BTreeSet<Key>,
) -> Result<Trees, IndexError> {
    let base = folder.remote_node.flatten();
    let out = Trees {
        local: local_tree(&snapshot, base, unknown),
        remote: remote_tree(engine, db, folder, rules, &snapshot, unknown)?,
        trashed: trashed_nodes(engine, db, folder.id, &snapshot)?,
        synced: synced_tree(snapshot.synced, base),
        aliases: BTreeMap::new(),
    };
    tracing::trace!(local = out.local.len(), remote = out.remote.len(), device = %engine.device_name, "planning");
    Ok(out)
}

fn local_tree(
    snapshot: &Snapshot,
    base: Option<NodeId>,
    unknown: &BTreeSet<Key>,
) -> BTreeMap<LocalId, LocalNode> {
    let linked: BTreeSet<LocalId> = snapshot.synced.values().map(|base| base.local).collect();
    let wanted = wanted_names(snapshot, base);
    let gone_there: BTreeSet<Option<LocalId>> = (snapshot.synced.values())
        .filter(|base| !snapshot.remote.contains_key(&base.node))
        .map(|base| Some(base.local))
        .collect();
    let mut out = BTreeMap::new();
    for (id, row) in &snapshot.local {
        // A link or a socket counts only where it takes a name that the service wants, or lies in a folder that was
        // deleted there and stays for it.
        if row.skipped == Skipped::Special
            && !linked.contains(id)
            && !gone_there.contains(&row.parent)
            && !wanted.contains(&(row.parent, row.name.key()))
        {
            continue;
        }
        out.insert(
            *id,
            LocalNode {
                id: *id,
                parent: row.parent,
                name: row.name.clone(),
                kind: row.kind,
                hash: row.hash,
                size: row.stat.size,
                executable: row.executable,
                blocked: row.skipped != Skipped::No,
                is_unknown: unknown.contains(&Key::Local(*id)),
            },
        );
    }
    out
}

fn remote_tree(
    engine: &Engine,
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &Rules,
    snapshot: &Snapshot,
    unknown: &BTreeSet<Key>,
) -> Result<BTreeMap<NodeId, RemoteNode>, IndexError> {
    let base = folder.remote_node.flatten();
    let rules = selection::remote_rules(db, folder, rules)?;
    let mut out = BTreeMap::new();
    for (id, row) in &snapshot.remote {
        let mut blocked =
            selection::blocked_by_selection(db, folder, &rules, row, snapshot.synced.get(id))?;
        let is_invalid =
            unknown.contains(&Key::Node(*id)) || engine.ports.disk.check_name(&row.name).is_err();
        if is_invalid && blocked == Blocked::No {
            blocked = Blocked::Unsupported;
        }
        // Beside a merge base, the bit of a state without a seal is the known one.
        let is_executable_sealed =
            snapshot.synced.contains_key(id) || seal_info(&engine.keys, row).flatten().is_some();
        out.insert(
            *id,
            RemoteNode {
                id: *id,
                parent: row.parent.filter(|p| Some(*p) != base),
                name: row.name.clone(),
                kind: row.kind,
                revision: row.revision,
                hash: row.hash,
                size: row.size,
                executable: row.executable,
                is_executable_sealed,
                blocked,
            },
        );
    }
    Ok(out)
}

fn synced_tree(
    synced: BTreeMap<NodeId, SyncedRow>,
    base: Option<NodeId>,
) -> BTreeMap<NodeId, SyncedNode> {
    let node = |(id, row): (NodeId, SyncedRow)| {
        let node = SyncedNode {
            node: id,
            local: row.local,
            parent: row.parent.filter(|p| Some(*p) != base),
            name: row.name,
            kind: row.kind,
            revision: row.revision,
            hash: row.hash,
            size: row.size,
            executable: row.executable,
        };
        (id, node)
    };
    synced.into_iter().map(node).collect()
}

/// Returns the nodes that can be taken out of the service's trash, as far as is known: a device has put each there for
/// itself without a person's agreement, whose seal has no hash of the content, and this engine has not tried yet to take
/// it out.
fn trashed_nodes(
    engine: &Engine,
    db: &Db<'_>,
    folder: FolderId,
    snapshot: &Snapshot,
) -> Result<BTreeSet<NodeId>, IndexError> {
    let gone: Vec<NodeId> = (snapshot.synced.iter())
        .filter(|(id, base)| {
            // An upload that runs ends by itself, without any node to go to.
            !snapshot.remote.contains_key(id)
                && snapshot.local.contains_key(&base.local)
                && !engine.arriving.contains(Key::Node(**id))
        })
        .map(|(id, _)| *id)
        .collect();
    let mut out = BTreeSet::new();
    if gone.is_empty() {
        return Ok(out);
    }
    let confirmed = db.confirmed_deletions(folder)?;
    for id in gone.into_iter().filter(|id| !confirmed.contains(id)) {
        let number = db.deletion_seal(id)?;
        if number.is_some_and(|number| !engine.tried_restores.contains(folder, id, number)) {
            out.insert(id);
        }
    }
    Ok(out)
}

/// Returns the places on this disk that the names of the service would take.
fn wanted_names(snapshot: &Snapshot, base: Option<NodeId>) -> BTreeSet<(Option<LocalId>, NameKey)> {
    let places = snapshot.remote.values().filter_map(|row| {
        let parent = match row.parent {
            parent if parent == base => None,
            Some(parent) => Some(snapshot.synced.get(&parent)?.local),
            None => return None,
        };
        Some((parent, row.name.key()))
    });
    places.collect()
}
