//! One file up, in two passes: find its chunks, then read again and send those that the server lacks.
//!
//! Before a chunk is sealed in the second pass its id is computed again: what changed in between is
//! never sealed under the id, and so under the key, of other bytes.

use crate::commit::{NewRevision, NodeKey, committed, create};
use crate::context::TransferContext;
use crate::error::TransferError;
use crate::local::{Source, SourceReader};
use crate::progress::{Progress, Started};
use crate::scan::{Scanned, scan};
use crate::upload::{Upload, Uploaded};
use bytes::Bytes;
use cairn_api::ApiError;
use cairn_crypto::ContentKey;
use cairn_model::{ChunkId, RevisionId, UploadId};
use cairn_wire::nodes::Node;
use cairn_wire::transfer as wire;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::{ErrorKind, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Chunks on the way at once; each holds its sealed bytes, and for a moment the plain ones.
const IN_FLIGHT: usize = 4;

/// Uploads one file. If a link has handed out its content key, the content goes up under a new one.
pub(crate) async fn upload(
    context: &Arc<TransferContext>,
    upload: Upload,
    progress: &dyn Progress,
) -> Result<Uploaded, TransferError> {
    let again = upload.clone();
    match attempt(context, upload, progress).await {
        Err(TransferError::Api(ApiError::KeyExposed { .. })) => {
            attempt(context, again.under_new_key(), progress).await
        }
        outcome => outcome,
    }
}

async fn attempt(
    context: &Arc<TransferContext>,
    upload: Upload,
    progress: &dyn Progress,
) -> Result<Uploaded, TransferError> {
    let Upload {
        target,
        revision,
        source,
        size,
        modified_ms,
        executable,
        unless,
        resume,
    } = upload;
    let NodeKey { key, wrapped } = context.key_for(&target, resume.as_ref())?;
    let scanned = scan(context, source.clone(), size, key.clone()).await?;
    if unless == Some(scanned.hash) {
        return Ok(Uploaded::Unchanged);
    }
    let mut head = NewRevision {
        target,
        revision,
        modified_ms,
        executable,
    };
    let begun = match begin(context, &mut head, &scanned, &wrapped, resume).await? {
        Begun::Running(begun) => begun,
        Begun::Committed(node) => {
            let (manifest, _) = context.complete(&head, scanned, wrapped)?;
            return committed(&head, *node, manifest);
        }
    };
    progress.started(&Started {
        upload: begun.upload_id,
        revision: head.revision,
        content_key: wrapped.clone(),
        hash: scanned.hash,
    });
    let sending = Sending {
        context,
        source,
        key,
        upload: &begun,
        progress,
        size,
        moved: AtomicU64::new(0),
    };
    sending.send_missing(&scanned).await?;
    finish(context, &head, scanned, wrapped, begun.upload_id).await
}

/// Commits what was sent.
pub(crate) async fn finish(
    context: &TransferContext,
    head: &NewRevision,
    scanned: Scanned,
    wrapped: Vec<u8>,
    upload: UploadId,
) -> Result<Uploaded, TransferError> {
    let (manifest, complete) = context.complete(head, scanned, wrapped)?;
    let node = match context.api.complete_upload(upload, &complete).await {
        Ok(node) => node,
        Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => context
            .already_committed(head.target.node(), head.revision)
            .await?
            .ok_or(TransferError::UploadLost)?,
        Err(error) => {
            if let ApiError::KeyExposed { .. } = error {
                give_up(context, upload).await;
            }
            return Err(error.into());
        }
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
    scanned: &Scanned,
    wrapped: &[u8],
    resume: Option<Started>,
) -> Result<Begun, TransferError> {
    if let Some(started) = resume {
        if started.hash == scanned.hash {
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
    let request = wire::CreateUpload {
        base_key: head.target.base_key(wrapped),
        ..create(head, scanned)
    };
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

/// The position of a chunk in its file.
#[derive(Clone, Copy)]
struct ChunkSpan {
    id: ChunkId,
    offset: u64,
    len: u32,
}

struct Sending<'a> {
    context: &'a Arc<TransferContext>,
    source: Arc<dyn Source>,
    key: ContentKey,
    upload: &'a wire::Upload,
    progress: &'a dyn Progress,
    size: u64,
    moved: AtomicU64,
}

impl Sending<'_> {
    async fn send_missing(&self, scanned: &Scanned) -> Result<(), TransferError> {
        let missing = self.missing(scanned)?;
        let left: u64 = missing.iter().map(|span| u64::from(span.len)).sum();
        self.moved
            .store(self.size.saturating_sub(left), Ordering::Relaxed);
        self.progress
            .moved(self.moved.load(Ordering::Relaxed), self.size);
        if missing.is_empty() {
            return Ok(());
        }
        let source = self.source.clone();
        let reader = self
            .context
            .blocking
            .run(move || source.open())
            .await
            .map_err(TransferError::Source)?;
        let reader = Arc::new(Mutex::new(reader));
        stream::iter(missing)
            .map(|span| self.send_one(&reader, span))
            .buffer_unordered(IN_FLIGHT)
            .try_collect()
            .await
    }

    fn missing(&self, scanned: &Scanned) -> Result<Vec<ChunkSpan>, TransferError> {
        let mut spans = HashMap::with_capacity(scanned.chunks.len());
        let mut offset = 0;
        for chunk in &scanned.chunks {
            spans.entry(chunk.id).or_insert(ChunkSpan {
                id: chunk.id,
                offset,
                len: chunk.len,
            });
            offset += u64::from(chunk.len);
        }
        // Taking each out of the table once keeps a hostile list from being longer than the file.
        let missing = self
            .upload
            .missing
            .iter()
            .map(|id| spans.remove(id))
            .collect::<Option<_>>();
        missing
            .ok_or_else(|| TransferError::protocol("chunks are missing that were never announced"))
    }

    async fn send_one(
        &self,
        reader: &Arc<Mutex<Box<dyn SourceReader>>>,
        span: ChunkSpan,
    ) -> Result<(), TransferError> {
        let (reader, key) = (reader.clone(), self.key.clone());
        let sealed = self
            .context
            .blocking
            .run(move || seal_again(&reader, &key, span))
            .await?;
        self.context.limits.take_up(sealed.len()).await;
        let upload = self.upload;
        match self
            .context
            .api
            .put_chunk(&upload.chunk_url, upload.upload_id, span.id, sealed)
            .await
        {
            Ok(()) => {
                let len = u64::from(span.len);
                let done = self.moved.fetch_add(len, Ordering::Relaxed) + len;
                self.progress.moved(done, self.size);
                Ok(())
            }
            Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => {
                Err(TransferError::UploadLost)
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn seal_again(
    reader: &Mutex<Box<dyn SourceReader>>,
    key: &ContentKey,
    span: ChunkSpan,
) -> Result<Bytes, TransferError> {
    let mut plain = vec![0; span.len as usize];
    {
        let mut reader = reader.lock();
        let read = reader
            .seek(SeekFrom::Start(span.offset))
            .and_then(|_| reader.read_exact(&mut plain));
        read.map_err(|error| {
            if error.kind() == ErrorKind::UnexpectedEof {
                TransferError::SourceChanged
            } else {
                TransferError::Source(error)
            }
        })?;
    }
    if key.chunk_id(&plain) != span.id {
        return Err(TransferError::SourceChanged);
    }
    Ok(key.seal_chunk(&span.id, &plain).into())
}
