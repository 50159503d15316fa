//! New large files with a content that is in sync elsewhere: the service makes them from the chunks that it has.
//!
//! Only an optimisation: a file for which it can't be done is uploaded as any other.

use super::copy::Copied;
use super::prepare::PreparedUpload;
use super::{Task, forget_refused, modified_ms};
use crate::error::EngineError;
use crate::node_rows::download_of;
use crate::observe::hash::{hash_file, local_stat};
use crate::step::Ctx;
use cairn_index::{Db, IndexError, MIN_LOOKUP_SIZE, SentRow};
use cairn_model::ContentHash;
use cairn_transfer::{Download, ServerCopy, UploadTarget, Uploaded};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Has the service make a file. `None` if it has to be sent.
pub(super) async fn make(
    ctx: &Ctx,
    task: &Task,
    ready: &PreparedUpload,
    copied: Option<&Copied>,
) -> Result<Option<Uploaded>, EngineError> {
    let stat = copied.map_or(ready.row.stat, |copied| copied.of);
    let size = stat.size;
    let is_candidate = ctx.engine.server_copies.load(Ordering::Relaxed)
        && matches!(ready.target, UploadTarget::New { .. })
        && ready.resume.is_none()
        && size > MIN_LOOKUP_SIZE;
    if !is_candidate {
        return Ok(None);
    }
    let Some(hash) = hash_of(ctx, task, ready, copied).await? else {
        return Ok(None);
    };
    let index = &ctx.engine.index;
    let Some(source) = index.read(|db| find_source(ctx, db, size, hash))? else {
        return Ok(None);
    };
    let sent = SentRow {
        revision: ready.revision,
        node: ready.target.node(),
        folder: ctx.folder.id,
        local: task.local,
        creates: true,
        hash,
        size,
        executable: ready.row.executable,
    };
    index.write(|db| db.put_sent(&sent))?;
    let copy = ServerCopy {
        target: ready.target.clone(),
        revision: ready.revision,
        hash,
        size,
        modified_ms: modified_ms(ctx, &ready.absolute, &stat),
        executable: ready.row.executable,
        source,
    };
    let made = ctx.engine.transfer.copy_on_server(copy).await;
    if let Err(error) = &made {
        index.write(|db| forget_refused(db, ready.revision, error))?;
    }
    Ok(made?)
}

/// Returns the hash of a file if that can tell whether it is in sync elsewhere: a file of a new size is not read
/// for it. `None` also if it is being changed. Of a file that changes too often to be read, the copy is read.
async fn hash_of(
    ctx: &Ctx,
    task: &Task,
    ready: &PreparedUpload,
    copied: Option<&Copied>,
) -> Result<Option<ContentHash>, EngineError> {
    let (disk, index) = (Arc::clone(&ctx.engine.ports.disk), &ctx.engine.index);
    if let Some(copied) = copied {
        if !index.read(|db| db.is_size_synced(copied.stat.size))? {
            return Ok(None);
        }
        let (path, stat) = (copied.path.clone(), copied.stat);
        let hash = move || hash_file(&*disk, &path, &stat);
        return Ok(ctx.engine.ports.run_blocking(hash).await?);
    }
    let (path, stat) = (ready.absolute.clone(), ready.row.stat);
    if let Some(hash) = ready.row.hash {
        // Nothing is read, so this alone tells that the hash is still that of the file.
        let is_same = local_stat(&disk.stat(&path)?) == stat;
        return Ok(is_same.then_some(hash));
    }
    if !index.read(|db| db.is_size_synced(stat.size))? {
        return Ok(None);
    }
    let hash = move || hash_file(&*disk, &path, &stat);
    let hash = ctx.engine.ports.run_blocking(hash).await?;
    if let Some(hash) = hash {
        index.write(|db| db.set_local_hash(task.local, &stat, hash))?;
    }
    Ok(hash)
}

/// Returns a revision with this content that the service has, and that a checked seal covers.
fn find_source(
    ctx: &Ctx,
    db: &Db<'_>,
    size: u64,
    hash: ContentHash,
) -> Result<Option<Download>, IndexError> {
    for base in db.synced_with_content(size, hash)? {
        let row = db.remote_row(base.node)?;
        // Another revision is there by now: its content is not the one that was synced here.
        let row = row.filter(|row| row.revision == base.revision);
        let source = row.and_then(|row| download_of(&ctx.engine.keys, &row));
        if let Some(source) = source.filter(|source| source.manifest_hash.is_some()) {
            return Ok(Some(source));
        }
    }
    Ok(None)
}
