//! Facts that a plan lacks: hashes of files on this disk, and of contents on the service.

use super::remote_path;
use crate::engine::Engine;
use crate::error::{Disposition, EngineError};
use crate::health::RetryHint;
use crate::key::Key;
use crate::node_rows::download_of;
use crate::observe::hash::hash_file;
use cairn_index::{Db, FolderRow};
use cairn_model::{LocalId, NodeId};
use cairn_plan::Need;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Manifests (records of revisions, with the hash of the content) in one request.
const MANIFESTS: usize = 256;

/// Finds out facts that a plan needs, and records them in the index. Those that can't be had now become
/// `unknown`.
///
/// # Errors
/// Returns the error of the index, or a failure that concerns more than one node.
pub(super) async fn supply(
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
        .read(|db| Ok((db.local_row(id)?, db.local_path(id)?)))?;
    let (Some(row), Some(path)) = found else {
        unknown.insert(Key::Local(id));
        return Ok(());
    };
    let disk = Arc::clone(&engine.ports.disk);
    let absolute = path.to_path(Path::new(&folder.root));
    let stat = row.stat;
    let outcome = engine
        .ports
        .run_blocking(move || hash_file(&*disk, &absolute, &stat))
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
            .map(|id| db.remote_row(*id))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let wanted = rows.into_iter().flatten().filter_map(|row| {
        let download = download_of(&engine.keys, &row)?;
        Some(((row, download.revision), download))
    });
    let manifests = engine.transfer.manifests(wanted.collect()).await;
    let mut known = BTreeSet::new();
    for ((row, revision), manifest) in manifests {
        match manifest {
            Ok(manifest) => {
                engine.index.write(|db| {
                    db.set_remote_manifest(row.node, revision, manifest.hash, manifest.number)
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
