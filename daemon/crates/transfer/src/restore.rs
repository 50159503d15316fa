//! An older content of a file as its newest revision: sealed like any other, with chunks that the server
//! has already.

use crate::chunk_list::{self, ChunkList, chunk_id};
use crate::commit::{NewContent, NewRevision, create};
use crate::context::TransferContext;
use crate::download::Download;
use crate::error::TransferError;
use crate::send::{finish, give_up};
use crate::upload::{UploadTarget, Uploaded};
use cairn_model::{ChunkId, Manifest, RevisionId};
use cairn_wire::transfer::SealedChunk;
use std::collections::{HashMap, HashSet};

/// One older content to make the newest.
#[derive(Clone, Debug)]
pub struct Restore {
    /// A [`UploadTarget::Revision`] of the file as it is now.
    pub target: UploadTarget,
    /// The new revision's id.
    pub revision: RevisionId,
    /// The older revision.
    pub content: Download,
}

/// Commits the older content. `None` if it was sealed for another file or revision, or if its objects are
/// not all there.
///
/// # Errors
/// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if the head is another one, [`ApiError::Protocol`](cairn_api::ApiError::Protocol)
/// if the service lists other objects than the content is made of; nothing is committed then.
pub(crate) async fn restore(
    context: &TransferContext,
    restore: Restore,
) -> Result<Option<Uploaded>, TransferError> {
    let Restore {
        target,
        revision,
        content,
    } = restore;
    let sealed = context.api.manifest(content.node, content.revision).await?;
    let manifest = context.open_revision(&content, &sealed)?;
    // That it is the content of then, only the service says.
    if (manifest.node, manifest.revision) != (target.node(), content.revision) {
        return Ok(None);
    }
    let list = chunk_list::of_revision(context, content.node, &manifest).await?;
    let objects = objects(&manifest, &list, &sealed.chunks)?;
    let head = NewRevision {
        target,
        revision,
        modified_ms: manifest.modified_ms,
        executable: manifest.executable,
    };
    let content = NewContent {
        object: manifest.content,
        hash: manifest.hash,
        size: manifest.size,
    };
    let request = create(&head, manifest.size, objects);
    let begun = context.api.create_upload(&request).await?;
    if !begun.missing.is_empty() {
        give_up(context, begun.upload_id).await;
        return Ok(None);
    }
    finish(context, &head, content, begun.upload_id)
        .await
        .map(Some)
}

/// Returns the objects of a content, each once: chunks in file order, then the lists of them. Their ids are those
/// of the opened list; only their stored lengths come from the service.
fn objects(
    manifest: &Manifest,
    list: &ChunkList,
    stored: &[SealedChunk],
) -> Result<Vec<SealedChunk>, TransferError> {
    let sizes: HashMap<ChunkId, u64> = stored.iter().map(|one| (one.id, one.size)).collect();
    let chunks = list.rows().iter().map(|row| chunk_id(&row.id));
    let ids = chunks.chain(list.parts()).chain([manifest.content.id]);
    let mut objects = Vec::with_capacity(sizes.len());
    let mut announced = HashSet::with_capacity(sizes.len());
    for id in ids.filter(|id| announced.insert(*id)) {
        let &size = sizes.get(&id).ok_or_else(|| {
            TransferError::protocol("the service does not list all objects of the older content")
        })?;
        objects.push(SealedChunk { id, size });
    }
    Ok(objects)
}
