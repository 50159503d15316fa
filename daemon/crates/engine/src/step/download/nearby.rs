//! Files on this disk that share content with a download, from which it takes what it can.

use super::{PreparedDownload, Task};
use crate::error::EngineError;
use crate::step::Ctx;
use crate::step::stable_file::StableFile;
use cairn_index::{Db, IndexError, LocalRow, MIN_LOOKUP_SIZE, Skipped};
use cairn_model::{ContentHash, LocalId, RelPath};
use cairn_transfer::{Nearby, Source};
use std::sync::Arc;

/// Finds the version that is replaced, or else a file of the folder with the same content.
pub(super) async fn find(
    ctx: &Ctx,
    task: &Task,
    ready: &PreparedDownload,
) -> Result<Option<Nearby>, EngineError> {
    let index = &ctx.engine.index;
    let open = |(row, path): (LocalRow, RelPath)| -> Arc<dyn Source> {
        let disk = Arc::clone(&ctx.engine.ports.disk);
        Arc::new(StableFile::new(disk, ctx.absolute_path(&path), row.stat))
    };
    if let Some(id) = task.over {
        let found = index.read(|db| Ok(db.local_row(id)?.zip(db.local_path(id)?)))?;
        return Ok(found.map(open).map(Nearby::Earlier));
    }
    let size = ready.remote.size;
    if size <= MIN_LOOKUP_SIZE || !index.read(|db| db.is_size_synced(size))? {
        return Ok(None);
    }
    let hash = hash_of(ctx, ready).await?;
    let found = index.read(|db| file_with_content(ctx, db, size, hash))?;
    Ok(found.map(open).map(Nearby::Equal))
}

/// Returns the hash of the content to download. Its manifest (the record of the revision) is fetched if no plan has
/// needed it yet.
async fn hash_of(ctx: &Ctx, ready: &PreparedDownload) -> Result<ContentHash, EngineError> {
    if let Some(hash) = ready.remote.hash {
        return Ok(hash);
    }
    let (node, revision) = (ready.remote.node, ready.download.revision);
    let record = ctx.engine.transfer.manifest(ready.download).await?;
    ctx.engine
        .index
        .write(|db| db.set_remote_manifest(node, revision, record.hash, record.number))?;
    Ok(record.hash)
}

/// Returns a file of the folder that had a content when it was looked at last.
fn file_with_content(
    ctx: &Ctx,
    db: &Db<'_>,
    size: u64,
    hash: ContentHash,
) -> Result<Option<(LocalRow, RelPath)>, IndexError> {
    let ids = db.synced_with_content(size, hash)?;
    let ids = ids.iter().filter(|base| base.folder == ctx.folder.id);
    for id in ids.map(|base| base.local) {
        if let Some(found) = unchanged_file(db, id, hash)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn unchanged_file(
    db: &Db<'_>,
    id: LocalId,
    hash: ContentHash,
) -> Result<Option<(LocalRow, RelPath)>, IndexError> {
    let row = db.local_row(id)?;
    let row = row.filter(|row| row.hash == Some(hash) && row.skipped == Skipped::No);
    Ok(row.zip(db.local_path(id)?))
}
