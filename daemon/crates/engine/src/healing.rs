//! Sends again what the service has lost of files that are in sync here, or has other bytes of.

use crate::error::EngineError;
use crate::node_rows::download_of;
use crate::step::Ctx;
use crate::step::stable_file::StableFile;
use cairn_index::{Db, IndexError, Skipped};
use cairn_model::{NodeId, RevisionId};
use cairn_transfer::{Upload, UploadTarget};
use std::sync::Arc;

/// Asks the service what it has lost, and sends what the folders have of it.
///
/// # Errors
/// The error of the index, or the service's where no other file would fare better.
pub(crate) async fn heal(folders: Vec<Ctx>) -> Result<(), EngineError> {
    let Some(first) = folders.first() else {
        return Ok(());
    };
    let transfer = first.engine.transfer.clone();
    for node in transfer.damaged_files().await? {
        for ctx in &folders {
            let Some(upload) = ctx.engine.index.read(|db| prepare(ctx, db, node))? else {
                continue;
            };
            match transfer.heal(upload).await {
                Ok(0) => {
                    tracing::debug!(
                        %node,
                        "the service has lost parts of a file, or of its former versions, that can't be made again here"
                    );
                }
                Ok(chunks) => {
                    tracing::info!(%node, chunks, "the service had lost parts of a file; they were sent again")
                }
                Err(error) => {
                    let error = EngineError::from(error);
                    if error.concerns_all() || error.is_login_ended() {
                        return Err(error);
                    }
                    tracing::warn!(%error, %node, "what the service has lost of a file can't be sent now");
                }
            }
        }
    }
    Ok(())
}

/// Returns the upload of a file as it is in sync, which has what the service has lost. `None` if the folder doesn't have
/// the file's present content.
fn prepare(ctx: &Ctx, db: &Db<'_>, node: NodeId) -> Result<Option<Upload>, IndexError> {
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
    Ok(Some(Upload {
        target,
        revision: RevisionId::from_random_bytes(ctx.engine.ports.id()),
        source: Arc::new(StableFile::new(disk, ctx.absolute_path(&path), local.stat)),
        size: local.stat.size,
        modified_ms: local.stat.mtime.div_euclid(1_000_000),
        executable: local.executable,
        skip_if: None,
        resume: None,
    }))
}
