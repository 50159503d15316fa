//! Many small files up: everything of a file in one place of one request, sealed while the request
//! before is on the way.

use crate::commit::{NewRevision, NodeKey, committed, create};
use crate::context::TransferContext;
use crate::error::TransferError;
use crate::local::BytesSource;
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

/// A larger file fills a batch by itself and goes up on its own.
const ALONE_FROM: usize = BATCH_BYTES / 2;
/// Requests on the way or being sealed at once.
const IN_FLIGHT: usize = 2;

type UploadResult = Result<Uploaded, TransferError>;

pub(crate) async fn upload_batch(
    context: &Arc<TransferContext>,
    files: Vec<SmallUpload>,
    progress: &dyn Progress,
) -> Vec<UploadResult> {
    let total = files.iter().map(|file| file.bytes.len() as u64).sum();
    let moved = &AtomicU64::new(0);
    stream::iter(groups(files))
        .map(|group| async move {
            let bytes: u64 = group.iter().map(|file| file.bytes.len() as u64).sum();
            let outcomes = send_group(context, group).await;
            progress.moved(moved.fetch_add(bytes, Ordering::Relaxed) + bytes, total);
            outcomes
        })
        .buffered(IN_FLIGHT)
        .concat()
        .await
}

/// Splits files into groups that fit into a request each, in order.
fn groups(files: Vec<SmallUpload>) -> Vec<Vec<SmallUpload>> {
    let mut groups: Vec<Vec<SmallUpload>> = Vec::new();
    let mut room = 0;
    for file in files {
        // Padding adds up to an eighth, each chunk's seal a few bytes.
        let cost = file.bytes.len() + file.bytes.len() / 8 + 64;
        match groups.last_mut() {
            Some(group) if group.len() < BATCH_FILES && cost <= room => {
                group.push(file);
                room -= cost;
            }
            Some(_) | None => {
                groups.push(vec![file]);
                room = BATCH_BYTES.saturating_sub(cost);
            }
        }
    }
    groups
}

async fn send_group(context: &Arc<TransferContext>, group: Vec<SmallUpload>) -> Vec<UploadResult> {
    if let [file] = &group[..]
        && file.bytes.len() >= ALONE_FROM
    {
        let mut group = group;
        let upload = group.remove(0).into_upload();
        return vec![send::upload(context, upload, &()).await];
    }
    let sealer = context.clone();
    let prepared: Vec<Prepared> = context
        .blocking
        .run(move || {
            group
                .into_iter()
                .map(|file| prepare(&sealer, file))
                .collect()
        })
        .await;

    send_prepared(context, prepared).await
}

/// Sends what is ready in one request; the outcomes are in the same order.
async fn send_prepared(
    context: &Arc<TransferContext>,
    prepared: Vec<Prepared>,
) -> Vec<UploadResult> {
    let mut batch = UploadBatch {
        files: Vec::with_capacity(prepared.len()),
    };
    let mut payload = Vec::new();
    let mut waiting = Vec::with_capacity(prepared.len());
    for prepared in prepared {
        waiting.push(match prepared {
            Prepared::Done(outcome) => Waiting::Done(outcome),
            Prepared::Ready(ready) => {
                let Ready {
                    head,
                    manifest,
                    file,
                    chunks,
                    again,
                } = *ready;
                batch.files.push(file);
                payload.extend(chunks);
                Waiting::Response(Box::new(Sent {
                    head,
                    manifest,
                    again,
                }))
            }
        });
    }
    let mut results = request(context, &batch, &payload).await.map(Vec::into_iter);
    drop(payload);
    let mut outcomes = Vec::with_capacity(waiting.len());
    for waiting in waiting {
        outcomes.push(match (waiting, &mut results) {
            (Waiting::Done(outcome), _) => outcome,
            (Waiting::Response(_), Err(error)) => Err(error.clone().into()),
            (Waiting::Response(sent), Ok(results)) => match results.next() {
                Some(result) => finish(context, *sent, result).await,
                None => Err(TransferError::protocol(
                    "the response has too few results for the batch",
                )),
            },
        });
    }
    outcomes
}

async fn request(
    context: &TransferContext,
    batch: &UploadBatch,
    payload: &[Bytes],
) -> Result<Vec<NodeResult>, ApiError> {
    if batch.files.is_empty() {
        return Ok(Vec::new());
    }
    let bytes = payload.iter().map(Bytes::len).sum();
    context.limits.take_up(bytes).await;
    let response = context.api.upload_batch(batch, payload).await?;
    Ok(response.results)
}

enum Prepared {
    Done(UploadResult),
    Ready(Box<Ready>),
}

struct Ready {
    head: NewRevision,
    manifest: Manifest,
    file: BatchFile,
    chunks: Vec<Bytes>,
    again: Option<SmallUpload>,
}

/// A file of a batch that was sent.
struct Sent {
    head: NewRevision,
    manifest: Manifest,
    /// The file once more, where the server may refuse its content key.
    again: Option<SmallUpload>,
}

enum Waiting {
    Done(UploadResult),
    Response(Box<Sent>),
}

fn prepare(context: &TransferContext, file: SmallUpload) -> Prepared {
    match try_prepare(context, file) {
        Ok(Some(ready)) => Prepared::Ready(Box::new(ready)),
        Ok(None) => Prepared::Done(Ok(Uploaded::Unchanged)),
        Err(error) => Prepared::Done(Err(error)),
    }
}

/// Seals everything of one file; `None` if it needs no upload.
fn try_prepare(
    context: &TransferContext,
    file: SmallUpload,
) -> Result<Option<Ready>, TransferError> {
    let NodeKey { key, wrapped } = context.key_for(&file.target, None)?;
    let scanned = scan_bytes(&file.bytes, &context.chunker, &key);
    if file.unless == Some(scanned.hash) {
        return Ok(None);
    }
    let mut rest = &file.bytes[..];
    let mut chunks = Vec::with_capacity(scanned.chunks.len());
    for chunk in &scanned.chunks {
        let (plain, after) = rest.split_at(chunk.len as usize);
        chunks.push(key.seal_chunk(&chunk.id, plain).into());
        rest = after;
    }
    let head = NewRevision {
        target: file.target.clone(),
        revision: file.revision,
        modified_ms: file.modified_ms,
        executable: file.executable,
    };
    let reuses_key = head.target.base_key(&wrapped).is_some();
    let create = create(&head, &scanned);
    let (manifest, complete) = context.complete(&head, scanned, wrapped)?;
    Ok(Some(Ready {
        head,
        manifest,
        file: BatchFile { create, complete },
        chunks,
        again: reuses_key.then_some(file),
    }))
}

async fn finish(context: &Arc<TransferContext>, sent: Sent, result: NodeResult) -> UploadResult {
    let Sent {
        head,
        manifest,
        again,
    } = sent;
    let NodeResult {
        status,
        node,
        error,
    } = result;
    match (status, node) {
        (200..=299, Some(node)) => committed(&head, node, manifest),
        (200..=299, None) => Err(TransferError::protocol(
            "a committed file came without its node",
        )),
        (409, _) => match context
            .already_committed(head.target.node(), head.revision)
            .await?
        {
            Some(node) => committed(&head, node, manifest),
            None => Err(refusal(409, error)),
        },
        (_, _) => match (refusal(status, error), again) {
            (TransferError::Api(ApiError::KeyExposed { .. }), Some(file)) => {
                send::upload(context, file.into_upload().under_new_key(), &()).await
            }
            (error, _) => Err(error),
        },
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
            unless: self.unless,
            resume: None,
        }
    }
}
