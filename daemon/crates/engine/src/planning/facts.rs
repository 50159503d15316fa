//! Facts that a plan lacks: hashes of files on this disk, and of contents on the service.

use super::remote_path;
use crate::engine::Engine;
use crate::error::{Disposition, EngineError};
use crate::health::RetryHint;
use crate::key::Key;
use crate::node_rows::download_of;
use crate::observe::hash::{hash_file, local_stat};
use crate::step::stable_file::StableFile;
use cairn_index::{Db, FolderRow, IndexError, LocalStat};
use cairn_model::{ContentHash, LocalId, NodeId};
use cairn_plan::Need;
use cairn_transfer::Download;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
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
    // A plan that is made for something else is no try.
    if engine
        .health()
        .is_parked_for_long(folder.id, Key::Local(id))
    {
        unknown.insert(Key::Local(id));
        return Ok(());
    }
    let (found, replaced) = engine.index.read(|db| {
        let found = db.local_row(id)?.zip(db.local_path(id)?);
        Ok((found, replaced_content(engine, db, id)?))
    })?;
    let Some((row, path)) = found else {
        unknown.insert(Key::Local(id));
        return Ok(());
    };
    let absolute = path.to_path(Path::new(&folder.root));
    let stat = row.stat;
    let failure = match hash_of(engine, absolute, stat, replaced).await {
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

/// Returns the content that an edit of a file would replace.
fn replaced_content(
    engine: &Engine,
    db: &Db<'_>,
    id: LocalId,
) -> Result<Option<Download>, IndexError> {
    let Some(base) = db.synced_by_local(id)? else {
        return Ok(None);
    };
    let row = db.remote_row(base.node)?;
    let row = row.filter(|row| row.revision == base.revision);
    Ok(row.and_then(|row| download_of(&engine.keys, &row)))
}

/// Returns the hash of a file; `None` if it is being changed. If the chunks of the content that it would replace are
/// known, the file is cut while it is read, so that its upload needn't read all of it again.
async fn hash_of(
    engine: &Engine,
    path: PathBuf,
    stat: LocalStat,
    replaced: Option<Download>,
) -> io::Result<Option<ContentHash>> {
    let disk = Arc::clone(&engine.ports.disk);
    if let Some(replaced) = replaced {
        let source = StableFile::new(Arc::clone(&disk), path.clone(), stat);
        let cut = engine
            .transfer
            .cut_ahead(&replaced, Arc::new(source), stat.size)
            .await;
        match cut {
            Ok(Some(hash)) => {
                let is_same = move || Ok(local_stat(&disk.stat(&path)?) == stat);
                let is_same: io::Result<bool> = engine.ports.run_blocking(is_same).await;
                return Ok(is_same?.then_some(hash));
            }
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "a file can't be cut; it is only hashed"),
        }
    }
    let hash = move || hash_file(&*disk, &path, &stat);
    engine.ports.run_blocking(hash).await
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
        let key = Key::Node(row.node);
        if engine.health().is_parked_for_long(folder.id, key) {
            return None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_index::Skipped;

    #[tokio::test(start_paused = true)]
    async fn a_plan_for_something_else_is_no_try_of_a_file_that_could_not_be_read() {
        let test = TestEngine::new();
        let id = test.local_file("f", Skipped::No);
        let (folder, key) = (test.folder.clone(), Key::Local(id));
        let (engine, dir) = test.into_engine();
        // A directory can't be read as a file.
        std::fs::create_dir(dir.path().join("f")).unwrap();
        let write = |db: &Db<'_>| {
            let stat = engine.ports.disk.stat(&dir.path().join("f"));
            let row = db.local_row(id)?.expect("it was added");
            db.update_local(&cairn_index::LocalRow {
                stat: local_stat(&stat.expect("it is there")),
                ..row
            })
        };
        engine.index.write(write).unwrap();
        for _ in 0..5 {
            let mut unknown = BTreeSet::new();
            let needs = [Need::LocalHash(id)];
            supply(&engine, &folder, &needs, &mut unknown)
                .await
                .unwrap();
            assert_eq!(unknown, [key].into());
        }
        assert_eq!(engine.health().tries(folder.id, key), 1);
    }
}
