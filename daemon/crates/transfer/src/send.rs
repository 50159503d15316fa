//! One file up, in two passes: find its chunks and name them, then read again and send those that the
//! server lacks.

use crate::chunk_list;
use crate::commit::{NewContent, NewRevision, committed, create};
use crate::compression;
use crate::context::TransferContext;
use crate::error::TransferError;
use crate::fetch;
use crate::naming::{KEPT, KnownChunks, Naming, Planned};
use crate::progress::{Progress, Started};
use crate::scan::scan;
use crate::sending::{Sending, unannounced};
use crate::upload::{Upload, UploadTarget, Uploaded};
use cairn_api::ApiError;
use cairn_crypto::MIN_CHUNK;
use cairn_model::{RevisionId, UploadId};
use cairn_wire::nodes::Node;
use cairn_wire::transfer as wire;
use std::sync::Arc;

/// Uploads one file. Chunks that the service lost are sealed again.
pub(crate) async fn upload(
    context: &Arc<TransferContext>,
    upload: Upload,
    progress: &dyn Progress,
) -> Result<Uploaded, TransferError> {
    let known = known_chunks(context, &upload.target, upload.size).await;
    let again = Upload {
        resume: None,
        ..upload.clone()
    };
    match attempt(context, upload, known, progress).await? {
        Attempt::Done(uploaded) => Ok(uploaded),
        Attempt::Lost => {
            let none = KnownChunks::default();
            match attempt(context, again, none, progress).await? {
                Attempt::Done(uploaded) => Ok(uploaded),
                Attempt::Lost => Err(unannounced()),
            }
        }
    }
}

/// Returns the chunks of the content that is replaced. Only an economy: whatever goes wrong with it, all
/// chunks are sealed.
async fn known_chunks(
    context: &Arc<TransferContext>,
    target: &UploadTarget,
    size: u64,
) -> KnownChunks {
    let Some(present) = target.vouched().filter(|_| size > MIN_CHUNK as u64) else {
        return KnownChunks::default();
    };
    let fetch = async {
        let (manifest, stored) = fetch::open(context, present).await?;
        let list = chunk_list::of_revision(context, present.node, &manifest).await?;
        Ok::<_, TransferError>((list, stored))
    };
    match fetch.await {
        Ok((list, stored)) => {
            let own = context.keys.node_key(target.node()).at();
            KnownChunks::of(&list, &stored, own)
        }
        Err(error) => {
            tracing::debug!(%error, node = %target.node(), "what is replaced can't be opened: all is sent");
            KnownChunks::default()
        }
    }
}

/// The result of one attempt to upload.
enum Attempt {
    Done(Uploaded),
    /// The service lacks a chunk that was to be used as it is.
    Lost,
}

async fn attempt(
    context: &Arc<TransferContext>,
    upload: Upload,
    known: KnownChunks,
    progress: &dyn Progress,
) -> Result<Attempt, TransferError> {
    let (source, size) = (upload.source, upload.size);
    let key = context.keys.node_key(upload.target.node());
    let compression = compression::of(&upload.target);
    let naming = Naming::new(key.clone(), known, compression, KEPT);
    let (naming, hash) = scan(context, source.clone(), size, naming.chunker(), naming).await?;
    if upload.unless == Some(hash) {
        return Ok(Attempt::Done(Uploaded::Unchanged));
    }
    let mut named = naming.finish();
    let planned = named.plan(&key)?;
    let content = NewContent::of(&planned, hash, size);
    let mut head = NewRevision {
        target: upload.target,
        revision: upload.revision,
        modified_ms: upload.modified_ms,
        executable: upload.executable,
    };
    let begun = match begin(context, &mut head, &planned, &content, upload.resume).await? {
        Begun::Running(begun) => begun,
        Begun::Committed(node) => {
            let (manifest, _) = context.complete(&head, content)?;
            return committed(&head, *node, manifest).map(Attempt::Done);
        }
    };
    progress.started(&Started {
        upload: begun.upload_id,
        revision: head.revision,
        object: content.object.id,
        hash,
    });
    let sending = Sending {
        context,
        source,
        key,
        named,
        upload: &begun,
        progress,
        size,
        moved: 0.into(),
    };
    let Some(missing) = sending.missing()? else {
        give_up(context, begun.upload_id).await;
        return Ok(Attempt::Lost);
    };
    sending.send(missing).await?;
    finish(context, &head, content, begun.upload_id)
        .await
        .map(Attempt::Done)
}

/// Commits what was sent.
pub(crate) async fn finish(
    context: &TransferContext,
    head: &NewRevision,
    content: NewContent,
    upload: UploadId,
) -> Result<Uploaded, TransferError> {
    let (manifest, complete) = context.complete(head, content)?;
    let node = match context.api.complete_upload(upload, &complete).await {
        Ok(node) => node,
        Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => context
            .already_committed(head.target.node(), head.revision)
            .await?
            .ok_or(TransferError::UploadLost)?,
        Err(error) => return Err(error.into()),
    };
    committed(head, node, manifest)
}

/// Removes an upload that can't be used; left alone, it expires.
pub(crate) async fn give_up(context: &TransferContext, upload: UploadId) {
    if let Err(error) = context.api.delete_upload(upload).await {
        tracing::debug!(%error, %upload, "an upload that is not needed stays until it expires");
    }
}

enum Begun {
    Running(Box<wire::Upload>),
    /// It was committed before; only the response was lost.
    Committed(Box<Node>),
}

/// Finds the upload to resume, or begins one.
async fn begin(
    context: &TransferContext,
    head: &mut NewRevision,
    planned: &Planned,
    content: &NewContent,
    resume: Option<Started>,
) -> Result<Begun, TransferError> {
    if let Some(started) = resume {
        if (started.hash, started.object) == (content.hash, content.object.id) {
            head.revision = started.revision;
            match context.api.get_upload(started.upload).await {
                Ok(found) if is_ours(head, &found) => return Ok(Begun::Running(Box::new(found))),
                Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        } else {
            // Other content can't go under the same revision; what was sent of it is given up.
            give_up(context, started.upload).await;
            if head.revision == started.revision {
                head.revision = context.with_random(|random| {
                    let mut bytes = [0; 16];
                    random.fill(&mut bytes);
                    RevisionId::from_random_bytes(bytes)
                });
            }
        }
    }
    let request = create(head, content.size, planned.announced.clone());
    match context.api.create_upload(&request).await {
        Ok(begun) if is_ours(head, &begun) => Ok(Begun::Running(Box::new(begun))),
        Ok(_) => Err(TransferError::protocol(
            "the upload is for another node or revision",
        )),
        Err(ApiError::Conflict {
            head: found,
            message,
        }) => {
            match context
                .already_committed(head.target.node(), head.revision)
                .await?
            {
                Some(node) => Ok(Begun::Committed(Box::new(node))),
                None => Err(ApiError::Conflict {
                    head: found,
                    message,
                }
                .into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn is_ours(head: &NewRevision, upload: &wire::Upload) -> bool {
    upload.node_id == head.target.node() && upload.revision_id == head.revision
}
