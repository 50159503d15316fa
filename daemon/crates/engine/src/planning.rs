//! From the index to a plan: the three trees as the planner wants them, and the facts it asks for.

use crate::engine::Engine;
use crate::error::{Disposition, EngineError};
use crate::health::RetryHint;
use crate::key::Key;
use crate::observe::hash::hash_file;
use crate::observe::rules::Rules;
use crate::restored;
use crate::selection;
use cairn_index::{Db, FolderRow, IndexError, RemoteRow, Skipped, Snapshot, SyncedRow};
use cairn_model::{LocalId, NodeId, RESTORED, RelPath};
use cairn_plan::{
    Blocked, LocalNode, Need, Plan, Policy, RemoteNode, SyncedNode, Trees, reconcile,
};
use cairn_transfer::Download;
use cairn_wire::nodes::ContentSource;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use time::{OffsetDateTime, UtcOffset};

/// Facts are asked for in rounds; each answers all that a plan needs, so two or three suffice.
const ROUNDS: u32 = 20;
/// Manifests are fetched in requests of this many.
const MANIFESTS: usize = 256;

/// A plan with the folder as it was when it was made.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// Keys whose facts can't be had now: they wait.
    pub(crate) unknown: BTreeSet<Key>,
}

/// Makes a plan for everything that is dirty in a folder.
///
/// # Errors
/// The index's, or the network's when a manifest is needed.
pub(crate) async fn plan_folder(
    engine: &Arc<Engine>,
    folder: &FolderRow,
    rules: &Rules,
    hold: (bool, bool),
) -> Result<Planned, EngineError> {
    let policy = policy(engine, folder, hold)?;
    let mut unknown = BTreeSet::new();
    for _ in 0..ROUNDS {
        let trees = engine.index.write(|db| {
            let mut around = db.snapshot(folder)?;
            if selection::unlink_ignored(db, folder, rules, &around)? {
                around = db.snapshot(folder)?;
            }
            trees(engine, db, folder, rules, around, &unknown)
        })?;
        let plan = reconcile(&trees, &policy);
        if plan.needs.is_empty() {
            return Ok(Planned { plan, unknown });
        }
        supply(engine, folder, &plan.needs, &mut unknown).await?;
    }
    Err(EngineError::ReplanExhausted)
}

fn policy(
    engine: &Engine,
    folder: &FolderRow,
    (local, remote): (bool, bool),
) -> Result<Policy, IndexError> {
    let restored = engine
        .index
        .read(|db| restored::history_id(db, folder.id))?;
    let (device, stamp) = match restored {
        Some(history) => (RESTORED.to_owned(), history),
        None => (engine.device_name.clone(), stamp(engine)),
    };
    Ok(Policy {
        mode: folder.settings.mode,
        device,
        stamp,
        block_local_deletions: local,
        block_remote_deletions: remote,
    })
}

/// Now in local time, as `YYYY-MM-DD HHMMSS`.
pub(crate) fn stamp(engine: &Engine) -> String {
    let now = OffsetDateTime::from_unix_timestamp(engine.ports.clock.now_ms().div_euclid(1000))
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let offset =
        UtcOffset::from_whole_seconds(engine.ports.clock.offset_s()).unwrap_or(UtcOffset::UTC);
    let at = now.to_offset(offset);
    let (hour, minute, second) = at.to_hms();
    format!(
        "{:04}-{:02}-{:02} {hour:02}{minute:02}{second:02}",
        at.year(),
        u8::from(at.month()),
        at.day()
    )
}

fn trees(
    engine: &Engine,
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &Rules,
    around: Snapshot,
    unknown: &BTreeSet<Key>,
) -> Result<Trees, IndexError> {
    let base = folder.remote_node.flatten();
    let out = Trees {
        local: local_tree(&around, base, unknown),
        remote: remote_tree(engine, db, folder, rules, &around, unknown)?,
        synced: synced_tree(around.synced, base),
    };
    tracing::trace!(local = out.local.len(), remote = out.remote.len(), device = %engine.device_name, "planning");
    Ok(out)
}

fn local_tree(
    around: &Snapshot,
    base: Option<NodeId>,
    unknown: &BTreeSet<Key>,
) -> BTreeMap<LocalId, LocalNode> {
    let linked: BTreeSet<LocalId> = around.synced.values().map(|base| base.local).collect();
    let wanted = wanted_names(around, base);
    let mut out = BTreeMap::new();
    for (id, row) in &around.local {
        // A link or a socket counts only where it takes a name that the service wants.
        if row.skipped == Skipped::Special
            && !linked.contains(id)
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
                blocked: row.skipped != Skipped::No || unknown.contains(&Key::Local(*id)),
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
    around: &Snapshot,
    unknown: &BTreeSet<Key>,
) -> Result<BTreeMap<NodeId, RemoteNode>, IndexError> {
    let base = folder.remote_node.flatten();
    let rules = selection::remote_rules(db, folder, rules)?;
    let mut out = BTreeMap::new();
    for (id, row) in &around.remote {
        let mut blocked = selection::hold(db, folder, &rules, row, around.synced.get(id))?;
        let is_invalid =
            unknown.contains(&Key::Node(*id)) || engine.ports.disk.acceptable(&row.name).is_err();
        if is_invalid && blocked == Blocked::No {
            blocked = Blocked::Unsupported;
        }
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

/// Returns the places on this disk that the names of the service would take.
fn wanted_names(
    around: &Snapshot,
    base: Option<NodeId>,
) -> BTreeSet<(Option<LocalId>, cairn_model::NameKey)> {
    let places = around.remote.values().filter_map(|row| {
        let parent = match row.parent {
            parent if parent == base => None,
            Some(parent) => Some(around.synced.get(&parent)?.local),
            None => return None,
        };
        Some((parent, row.name.key()))
    });
    places.collect()
}

async fn supply(
    engine: &Arc<Engine>,
    folder: &FolderRow,
    needs: &[Need],
    unknown: &mut BTreeSet<Key>,
) -> Result<(), EngineError> {
    let mut locals = Vec::new();
    let mut nodes = Vec::new();
    for need in needs {
        match need {
            Need::LocalHash(id) => locals.push(*id),
            Need::RemoteHash(id) => nodes.push(*id),
        }
    }
    for id in locals {
        if engine.is_interrupted() {
            return Err(EngineError::Paused);
        }
        hash_local(engine, folder, id, unknown).await?;
    }
    for part in nodes.chunks(MANIFESTS) {
        open_manifests(engine, folder, part, unknown).await?;
    }
    Ok(())
}

async fn hash_local(
    engine: &Arc<Engine>,
    folder: &FolderRow,
    id: LocalId,
    unknown: &mut BTreeSet<Key>,
) -> Result<(), EngineError> {
    let found = engine
        .index
        .read(|db| Ok((db.local(id)?, db.local_path(id)?)))?;
    let (Some(row), Some(path)) = found else {
        unknown.insert(Key::Local(id));
        return Ok(());
    };
    let disk = Arc::clone(&engine.ports.disk);
    let absolute = path.to_path(Path::new(&folder.root));
    let stat = row.stat;
    let outcome = engine
        .ports
        .blocking(move || hash_file(&*disk, &absolute, &stat))
        .await;
    let failure = match outcome {
        Ok(Some(hash)) => {
            let write = |db: &Db<'_>| db.set_local_hash(id, &stat, hash);
            if !engine.index.write(write)? {
                unknown.insert(Key::Local(id));
            }
            return Ok(());
        }
        Ok(None) => EngineError::Stale,
        Err(error) => EngineError::Disk(error),
    };
    let retry = RetryHint::after(failure.disposition());
    let (key, path) = (Key::Local(id), path.to_string());
    engine.health().park(folder.id, key, path, &failure, retry);
    unknown.insert(key);
    Ok(())
}

async fn open_manifests(
    engine: &Arc<Engine>,
    folder: &FolderRow,
    nodes: &[NodeId],
    unknown: &mut BTreeSet<Key>,
) -> Result<(), EngineError> {
    let rows = engine.index.read(|db| {
        nodes
            .iter()
            .map(|id| db.remote(*id))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let wanted: Vec<(RemoteRow, Download)> = rows
        .into_iter()
        .flatten()
        .filter_map(|row| download_of(engine, &row).map(|download| (row, download)))
        .collect();
    let downloads: Vec<Download> = wanted.iter().map(|(_, download)| *download).collect();
    let manifests = engine.transfer.manifests(&downloads).await;
    let mut known = BTreeSet::new();
    for ((row, download), manifest) in wanted.into_iter().zip(manifests) {
        match manifest {
            Ok(manifest) => {
                engine.index.write(|db| {
                    db.set_remote_manifest(
                        row.node,
                        download.revision,
                        manifest.hash,
                        manifest.number,
                    )
                })?;
                known.insert(row.node);
            }
            Err(error) => {
                let error = EngineError::Transfer(error);
                if error.disposition() == Disposition::Stop {
                    return Err(error);
                }
                let path = remote_path(engine, folder, row.node);
                engine.health().park(
                    folder.id,
                    Key::Node(row.node),
                    path,
                    &error,
                    RetryHint::Later,
                );
            }
        }
    }
    unknown.extend(
        nodes
            .iter()
            .filter(|id| !known.contains(id))
            .map(|id| Key::Node(*id)),
    );
    Ok(())
}

/// Returns the download of a node's current revision.
pub(crate) fn download_of(engine: &Engine, row: &RemoteRow) -> Option<Download> {
    let sealed = crate::node_rows::seal_info(&engine.keys, row).flatten();
    Some(Download {
        node: row.node,
        revision: row.revision?,
        source: row.source.map(|(node_id, revision_id)| ContentSource {
            node_id,
            revision_id,
        }),
        manifest_hash: sealed.and_then(|info| info.manifest_hash),
    })
}

/// A node's path in the folder, for people.
pub(crate) fn remote_path(engine: &Engine, folder: &FolderRow, node: NodeId) -> String {
    let path: Option<RelPath> = engine
        .index
        .read(|db| db.remote_path_in(folder, node))
        .ok()
        .flatten();
    path.map_or_else(|| node.to_string(), |p| p.to_string())
}
