//! Sends again what the service has lost of files that are in sync here, or has other bytes of.

use crate::error::EngineError;
use crate::node_rows::download_of;
use crate::step::Ctx;
use crate::step::stable_file::StableFile;
use cairn_index::{Db, IndexError, Skipped};
use cairn_model::{ChunkId, NodeId, RevisionId};
use cairn_transfer::{Upload, UploadTarget};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The contents of which nothing could be sent, with the chunks that were damaged then: as long as these are the same,
/// it is not tried again, since a try may read the whole file.
#[derive(Clone, Default)]
pub(crate) struct Unhealable(Arc<Mutex<HashMap<RevisionId, BTreeSet<ChunkId>>>>);

impl Unhealable {
    /// Notes that nothing could be sent of a content with these damaged chunks.
    fn note(&self, content: RevisionId, chunks: &BTreeSet<ChunkId>) {
        self.0.lock().insert(content, chunks.clone());
    }

    fn has(&self, content: RevisionId, chunks: &BTreeSet<ChunkId>) -> bool {
        self.0.lock().get(&content) == Some(chunks)
    }

    /// Lets everything be tried again.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}

/// Asks the service what it has lost, and sends what the folders have of it.
///
/// # Errors
/// The error of the index, or the service's where no other file would fare better.
pub(crate) async fn heal(folders: Vec<Ctx>, unhealable: Unhealable) -> Result<(), EngineError> {
    let Some(first) = folders.first() else {
        return Ok(());
    };
    for (node, chunks) in first.engine.transfer.damaged_files().await? {
        // A folder that is paused meanwhile sends nothing.
        for ctx in folders.iter().filter(|ctx| !ctx.is_interrupted()) {
            heal_file(ctx, node, &chunks, &unhealable).await?;
        }
    }
    Ok(())
}

/// Sends what the service has lost of a file's present content, if the folder has that.
async fn heal_file(
    ctx: &Ctx,
    node: NodeId,
    chunks: &BTreeSet<ChunkId>,
    unhealable: &Unhealable,
) -> Result<(), EngineError> {
    let prepared = ctx.engine.index.read(|db| prepare(ctx, db, node))?;
    let Some((content, upload)) = prepared else {
        return Ok(());
    };
    if unhealable.has(content, chunks) {
        return Ok(());
    }
    match ctx.engine.transfer.heal(upload).await {
        Ok(0) => {
            tracing::debug!(
                %node,
                "the service has lost parts of a file, or of its former versions, that can't be made again here"
            );
            unhealable.note(content, chunks);
        }
        Ok(sent) => {
            tracing::info!(%node, chunks = sent, "the service had lost parts of a file; they were sent again");
        }
        Err(error) => {
            let error = EngineError::from(error);
            if error.concerns_all() || error.is_login_ended() {
                return Err(error);
            }
            tracing::warn!(%error, %node, "what the service has lost of a file can't be sent now");
        }
    }
    Ok(())
}

/// Returns a file's present content, and the upload of it from this disk. `None` if the folder doesn't have it.
fn prepare(
    ctx: &Ctx,
    db: &Db<'_>,
    node: NodeId,
) -> Result<Option<(RevisionId, Upload)>, IndexError> {
    let (Some(remote), Some(synced)) = (db.remote_row(node)?, db.synced_row(ctx.folder.id, node)?)
    else {
        return Ok(None);
    };
    let (Some(local), Some(path)) = (db.local_row(synced.local)?, db.local_path(synced.local)?)
    else {
        return Ok(None);
    };
    let keys = &ctx.engine.keys;
    let content =
        download_of(keys, &remote).filter(|content| synced.revision == Some(content.revision));
    let Some(content) = content.filter(|_| local.skipped == Skipped::No) else {
        return Ok(None);
    };
    let target = UploadTarget::Revision {
        node,
        parent: remote.parent,
        name: remote.name.to_string(),
        base: content.revision,
        // Nothing is committed, so these are never used.
        number: remote.number.unwrap_or(1),
        replaced: Some(content),
        seal_seq: 1,
        version: None,
    };
    let disk = Arc::clone(&ctx.engine.ports.disk);
    let upload = Upload {
        target,
        revision: ctx.engine.new_revision(),
        source: Arc::new(StableFile::new(disk, ctx.absolute_path(&path), local.stat)),
        size: local.stat.size,
        modified_ms: local.stat.mtime.div_euclid(1_000_000),
        executable: local.executable,
        skip_if: None,
        resume: None,
    };
    Ok(Some((content.revision, upload)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_tried_again_once_something_else_of_it_is_damaged() {
        let content = RevisionId::from_random_bytes([1; 16]);
        let [few, more] = [1, 2].map(|n| (0..n).map(|n| ChunkId([n; 32])).collect());
        let unhealable = Unhealable::default();
        assert!(!unhealable.has(content, &few));
        unhealable.note(content, &few);
        assert!(unhealable.has(content, &few) && !unhealable.has(content, &more));
        unhealable.clear();
        assert!(!unhealable.has(content, &few));
    }
}
