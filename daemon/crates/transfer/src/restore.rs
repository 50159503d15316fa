//! An older content of a file as its newest revision: sealed like any other, with chunks that the server
//! has already.

use crate::chunk_list::{self, ChunkList, chunk_id};
use crate::commit::{NewContent, NewRevision, check_committed, create};
use crate::context::TransferContext;
use crate::download::Download;
use crate::each::each;
use crate::error::TransferError;
use crate::send::{finish, give_up};
use crate::small::{self, Sent};
use crate::upload::{UploadTarget, Uploaded};
use cairn_api::ErrorClass;
use cairn_model::{ChunkId, Manifest, RevisionId};
use cairn_wire::nodes::ContentSource;
use cairn_wire::transfer::{BATCH_FILES, BatchFile, SealedChunk};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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
    let (head, content) = new_revision(target, revision, &manifest);
    let request = create(&head, manifest.size, objects);
    let begun = context.api.create_upload(&request).await?;
    if !begun.missing.is_empty() {
        give_up(context, begun.upload_id).await;
        return Ok(None);
    }
    let (uploaded, _) = finish(context, &head, content, begun.upload_id).await?;
    Ok(Some(uploaded))
}

/// Commits the older contents of many files in few requests, each with its opened manifest: no chunk is sent, and no list
/// of chunks read. `None` where nothing is known to be committed: [`restore`] does it or tells why it can't be done.
pub(crate) async fn restore_batch<K>(
    context: &Arc<TransferContext>,
    restores: Vec<(K, Restore, Manifest)>,
) -> Vec<(K, Option<Uploaded>)> {
    let mut results = Vec::with_capacity(restores.len());
    let mut waiting = restores.into_iter().peekable();
    while waiting.peek().is_some() {
        let group = waiting.by_ref().take(BATCH_FILES);
        let prepared = group.map(|(key, restore, older)| {
            let file = prepare(context, restore, &older).ok().flatten();
            (key, file)
        });
        let mut sending = Vec::with_capacity(BATCH_FILES);
        for (key, file) in prepared {
            match file {
                Some((file, sent)) => sending.push(((key, sent), (file, Vec::new()))),
                None => results.push((key, None)),
            }
        }
        let sent = each(sending, async |files| small::request(context, files).await);
        for ((key, sent), result) in sent.await {
            let committed = match result {
                Ok(result) => small::finish(context, sent, result).await,
                Err(error) => after_error(context, sent, error).await,
            };
            let committed = committed.inspect_err(|error| {
                tracing::debug!(%error, "an older content can't be restored with others");
            });
            results.push((key, committed.ok()));
        }
    }
    results
}

/// Finds out what became of a file whose batch had no usable response: it may be committed all the same.
async fn after_error(
    context: &TransferContext,
    sent: Sent,
    error: TransferError,
) -> Result<Uploaded, TransferError> {
    let is_unknown = matches!(
        &error,
        TransferError::Api(error)
            if matches!(error.class(), ErrorClass::Transient | ErrorClass::Protocol)
    );
    if !is_unknown {
        return Err(error);
    }
    let Sent { head, manifest } = sent;
    match context
        .find_committed(head.target.node(), head.revision)
        .await?
    {
        Some(node) => check_committed(&head, node, manifest),
        None => Err(error),
    }
}

/// Makes the request for one file of a batch; `None` if its content was sealed for another file or revision.
fn prepare(
    context: &TransferContext,
    restore: Restore,
    older: &Manifest,
) -> Result<Option<(BatchFile, Sent)>, TransferError> {
    let Restore {
        target,
        revision,
        content,
    } = restore;
    if (older.node, older.revision) != (target.node(), content.revision) {
        return Ok(None);
    }
    let (head, new) = new_revision(target, revision, older);
    let mut create = create(&head, older.size, Vec::new());
    create.copy_of = Some(ContentSource {
        node_id: content.node,
        revision_id: content.revision,
    });
    let (manifest, complete) = context.complete(&head, new)?;
    Ok(Some((
        BatchFile { create, complete },
        Sent { head, manifest },
    )))
}

/// Describes the revision that an older content becomes.
fn new_revision(
    target: UploadTarget,
    revision: RevisionId,
    older: &Manifest,
) -> (NewRevision, NewContent) {
    let head = NewRevision {
        target,
        revision,
        modified_ms: older.modified_ms,
        executable: older.executable,
    };
    let content = NewContent {
        object: older.content,
        hash: older.hash,
        size: older.size,
    };
    (head, content)
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
