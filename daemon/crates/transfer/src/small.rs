//! Upload of many small files: everything of a file in one place of one request, encrypted while the request
//! before is being sent.

use crate::commit::{NewContent, NewRevision, check_committed, create};
use crate::compression;
use crate::context::TransferContext;
use crate::each::each;
use crate::error::TransferError;
use crate::local::BytesSource;
use crate::naming::{KnownChunks, Naming};
use crate::progress::Progress;
use crate::scan::scan_bytes;
use crate::send;
use crate::upload::{SmallUpload, Upload, Uploaded};
use bytes::Bytes;
use cairn_api::ApiError;
use cairn_model::Manifest;
use cairn_wire::nodes::NodeResult;
use cairn_wire::transfer::{BATCH_BYTES, BATCH_FILES, BatchFile, UploadBatch};
use futures_util::stream::{self, StreamExt as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A larger file fills a batch by itself and is uploaded alone.
const ALONE_FROM: usize = BATCH_BYTES / 2;
/// Requests that are sent or encrypted at once.
const IN_FLIGHT: usize = 2;

type UploadResult = Result<Uploaded, TransferError>;

pub(crate) async fn upload_batch<K>(
    context: &Arc<TransferContext>,
    files: Vec<(K, SmallUpload)>,
    progress: &dyn Progress,
) -> Vec<(K, UploadResult)> {
    let total = files.iter().map(|(_, file)| file.bytes.len() as u64).sum();
    let moved = &AtomicU64::new(0);
    stream::iter(groups(files))
        .map(|group| async move {
            let bytes: u64 = group.iter().map(|(_, file)| file.bytes.len() as u64).sum();
            let results = send_group(context, group).await;
            progress.on_progress(moved.fetch_add(bytes, Ordering::Relaxed) + bytes, total);
            results
        })
        .buffered(IN_FLIGHT)
        .concat()
        .await
}

/// Splits files into groups that fit into a request each.
fn groups<K>(files: Vec<(K, SmallUpload)>) -> Vec<Vec<(K, SmallUpload)>> {
    let mut groups: Vec<Vec<_>> = Vec::new();
    let mut room = 0;
    for (key, file) in files {
        // Padding adds up to an eighth, each chunk's seal and row in a list a few bytes.
        let cost = file.bytes.len() + file.bytes.len() / 8 + 256;
        match groups.last_mut() {
            Some(group) if group.len() < BATCH_FILES && cost <= room => {
                group.push((key, file));
                room -= cost;
            }
            Some(_) | None => {
                groups.push(vec![(key, file)]);
                room = BATCH_BYTES.saturating_sub(cost);
            }
        }
    }
    groups
}

async fn send_group<K>(
    context: &Arc<TransferContext>,
    mut group: Vec<(K, SmallUpload)>,
) -> Vec<(K, UploadResult)> {
    let is_alone = group.len() == 1;
    if let Some((key, file)) = group.pop_if(|(_, file)| is_alone && file.bytes.len() >= ALONE_FROM)
    {
        let sent = send::upload(context, file.into_upload(), &()).await;
        return vec![(key, sent)];
    }
    let sealer = context.clone();
    let prepared = each(group, async |files: Vec<SmallUpload>| {
        let prepare = move |file| prepare(&sealer, file);
        let blocking = context.blocking;
        let prepare_all = move || files.into_iter().map(prepare).collect::<Vec<_>>();
        blocking.run(prepare_all).await
    });
    send_prepared(context, prepared.await).await
}

/// Sends what is ready in one request.
async fn send_prepared<K>(
    context: &Arc<TransferContext>,
    prepared: Vec<(K, Result<Option<SealedFile>, TransferError>)>,
) -> Vec<(K, UploadResult)> {
    let mut results = Vec::with_capacity(prepared.len());
    let mut sending = Vec::with_capacity(prepared.len());
    for (key, prepared) in prepared {
        match prepared {
            Ok(Some(ready)) => sending.push(((key, ready.sent), (ready.file, ready.chunks))),
            Ok(None) => results.push((key, Ok(Uploaded::Unchanged))),
            Err(error) => results.push((key, Err(error))),
        }
    }
    let sent = each(sending, async |files| request(context, files).await);
    for ((key, sent), result) in sent.await {
        let result = match result {
            Ok(result) => finish(context, *sent, result).await,
            Err(error) => Err(error),
        };
        results.push((key, result));
    }
    results
}

pub(crate) async fn request(
    context: &TransferContext,
    files: Vec<(BatchFile, Vec<Bytes>)>,
) -> Vec<Result<NodeResult, TransferError>> {
    if files.is_empty() {
        return Vec::new();
    }
    let (files, payload): (Vec<_>, Vec<_>) = files.into_iter().unzip();
    let (count, batch) = (files.len(), UploadBatch { files });
    let payload = payload.concat();
    let bytes = payload.iter().map(Bytes::len).sum();
    context.limits.take_up(bytes).await;
    match context.api.upload_batch(&batch, &payload).await {
        Ok(response) => response.results.into_iter().map(Ok).collect(),
        Err(error) => (0..count).map(|_| Err(error.clone().into())).collect(),
    }
}

/// A file that is sealed for a batch.
struct SealedFile {
    file: BatchFile,
    chunks: Vec<Bytes>,
    sent: Box<Sent>,
}

/// A file of a batch that was sent.
pub(crate) struct Sent {
    pub(crate) head: NewRevision,
    pub(crate) manifest: Manifest,
}

/// Seals everything of one file; `None` if it needs no upload.
fn prepare(
    context: &TransferContext,
    file: SmallUpload,
) -> Result<Option<SealedFile>, TransferError> {
    let key = context.keys.node_key(file.target.node());
    let compression = compression::of(&file.target);
    let none = KnownChunks::default();
    let mut naming = Naming::new(key.clone(), none, compression, usize::MAX);
    let hash = scan_bytes(&file.bytes, naming.cuts(), &mut naming)?;
    if file.skip_if == Some(hash) {
        return Ok(None);
    }
    let mut named = naming.finish();
    let planned = named.plan(&key)?;
    let content = NewContent::of(&planned, hash, file.bytes.len() as u64);
    let chunks = planned
        .announced
        .iter()
        .map(|chunk| {
            named
                .kept
                .remove(&chunk.id)
                .expect("all of a small file is kept")
        })
        .collect();
    let head = NewRevision {
        target: file.target,
        revision: file.revision,
        modified_ms: file.modified_ms,
        executable: file.executable,
    };
    let create = create(&head, content.size, planned.announced);
    let (manifest, complete) = context.complete(&head, content)?;
    Ok(Some(SealedFile {
        file: BatchFile { create, complete },
        chunks,
        sent: Box::new(Sent { head, manifest }),
    }))
}

pub(crate) async fn finish(
    context: &TransferContext,
    sent: Sent,
    result: NodeResult,
) -> UploadResult {
    let Sent { head, manifest } = sent;
    let NodeResult {
        status,
        node,
        error,
    } = result;
    match (status, node) {
        (200..=299, Some(node)) => check_committed(&head, node, manifest),
        (200..=299, None) => Err(TransferError::protocol(
            "a committed file came without its node",
        )),
        (409, _) => match context
            .find_committed(head.target.node(), head.revision)
            .await?
        {
            Some(node) => check_committed(&head, node, manifest),
            None => Err(refusal(409, error)),
        },
        (_, _) => Err(refusal(status, error)),
    }
}

pub(crate) fn refusal(status: u16, error: Option<cairn_wire::ErrorBody>) -> TransferError {
    let message = error.map_or_else(|| "no reason given".to_owned(), |body| body.message);
    ApiError::from_status(status, message).into()
}

impl SmallUpload {
    fn into_upload(self) -> Upload {
        Upload {
            size: self.bytes.len() as u64,
            source: Arc::new(BytesSource(self.bytes.into())),
            target: self.target,
            revision: self.revision,
            modified_ms: self.modified_ms,
            executable: self.executable,
            skip_if: self.skip_if,
            resume: None,
        }
    }
}
