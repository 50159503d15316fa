//! Many small files down, or many manifests: few requests, a reply for each file.

use crate::context::{OpenedRevision, TransferContext};
use crate::download::Download;
use crate::error::{Check, TransferError, refused};
use crate::fetch;
use crate::local::MemoryTarget;
use crate::progress::Progress;
use crate::small::refusal;
use bytes::Bytes;
use cairn_crypto::{ContentKey, CryptoError, content_hash};
use cairn_model::{ChunkId, Manifest};
use cairn_wire::transfer::{
    BATCH_BYTES, BATCH_FILES, DownloadBatch, DownloadFile, DownloadedBatch, DownloadedFile,
    RevisionContent,
};
use futures_util::stream::{self, StreamExt as _};
use std::collections::HashMap;
use std::sync::Arc;

/// Requests on the way at once: one is opened while the next arrives.
const IN_FLIGHT: usize = 2;

type FileResult = Result<(Manifest, Vec<u8>), TransferError>;

/// The server's reply for one file of a group.
enum Reply<T> {
    Final(Result<T, TransferError>),
    /// It did not fit beside the others.
    LeftOut,
}

pub(crate) async fn download_batch(
    context: &Arc<TransferContext>,
    downloads: &[Download],
    progress: &dyn Progress,
) -> Vec<FileResult> {
    let mut files: Vec<Option<FileResult>> = downloads.iter().map(|_| None).collect();
    let mut waiting: Vec<usize> = (0..downloads.len()).collect();
    let mut moved = 0;
    while !waiting.is_empty() {
        let indices = std::mem::take(&mut waiting);
        // Owned groups: a borrowed one would tie the future to a lifetime that a task can't have.
        let groups: Vec<Vec<usize>> = indices.chunks(BATCH_FILES).map(<[usize]>::to_vec).collect();
        let mut groups = stream::iter(groups)
            .map(|group| async move {
                let wanted = group.iter().map(|at| downloads[*at]).collect();
                (group, fetch_group(context, wanted).await)
            })
            .buffered(IN_FLIGHT);
        while let Some((group, replies)) = groups.next().await {
            let none_came = replies.iter().all(|reply| matches!(reply, Reply::LeftOut));
            for (at, reply) in group.iter().zip(replies) {
                let file = match reply {
                    Reply::Final(file) => file,
                    // Where not one fits, asking for the same again would never end.
                    Reply::LeftOut if none_came => fetch_single(context, downloads[*at]).await,
                    Reply::LeftOut => {
                        waiting.push(*at);
                        continue;
                    }
                };
                moved += file.as_ref().map_or(0, |(manifest, _)| manifest.size);
                progress.moved(moved, moved);
                files[*at] = Some(file);
            }
        }
    }
    files
        .into_iter()
        .map(|file| file.unwrap_or_else(|| Err(missing_reply())))
        .collect()
}

pub(crate) async fn manifests(
    context: &Arc<TransferContext>,
    downloads: &[Download],
) -> Vec<Result<Manifest, TransferError>> {
    let opened = open_revisions(context, downloads).await;
    opened
        .into_iter()
        .map(|result| result.map(|revision| revision.manifest))
        .collect()
}

/// Opens manifests and content keys without their content.
pub(crate) async fn open_revisions(
    context: &Arc<TransferContext>,
    downloads: &[Download],
) -> Vec<Result<OpenedRevision, TransferError>> {
    let mut results = Vec::with_capacity(downloads.len());
    for group in downloads.chunks(BATCH_FILES) {
        let response = match request(context, group, false).await {
            Ok((response, _)) => response,
            Err(error) => {
                results.extend(group.iter().map(|_| Err(error.clone().into())));
                continue;
            }
        };
        let (opener, group) = (context.clone(), group.to_vec());
        let open = move || -> Vec<_> {
            let mut files = response.files.into_iter();
            let opened = group.iter().map(|download| {
                let file = files.next().ok_or_else(missing_reply)?;
                opener.open_revision(download, &content_of(file)?)
            });
            opened.collect()
        };
        results.extend(context.blocking.run(open).await);
    }
    results
}

async fn request(
    context: &TransferContext,
    group: &[Download],
    content: bool,
) -> Result<(DownloadedBatch, Bytes), cairn_api::ApiError> {
    let files = group
        .iter()
        .map(|d| DownloadFile {
            node_id: d.node,
            revision_id: d.revision,
        })
        .collect();
    context
        .api
        .download_batch(&DownloadBatch { files, content })
        .await
}

async fn fetch_group(
    context: &Arc<TransferContext>,
    group: Vec<Download>,
) -> Vec<Reply<(Manifest, Vec<u8>)>> {
    let (reply, payload) = match request(context, &group, true).await {
        Ok(responses) => responses,
        Err(error) => {
            return group
                .iter()
                .map(|_| Reply::Final(Err(error.clone().into())))
                .collect();
        }
    };
    // What came can't be called back: the next request waits for its price.
    context.limits.take_down(payload.len()).await;
    let opener = context.clone();
    let open = move || {
        let mut payload = Payload(payload);
        let mut files = reply.files.into_iter();
        let replies = group.iter().map(|download| {
            let Some(file) = files.next() else {
                return Reply::Final(Err(missing_reply()));
            };
            if file.status == 413 {
                return Reply::LeftOut;
            }
            Reply::Final(
                content_of(file)
                    .and_then(|content| open_file(&opener, download, &content, &mut payload)),
            )
        });
        replies.collect()
    };
    context.blocking.run(open).await
}

fn content_of(file: DownloadedFile) -> Result<RevisionContent, TransferError> {
    match (file.status, file.content) {
        (200, Some(content)) => Ok(content),
        (200, None) => Err(TransferError::protocol("a file came without its content")),
        (status, _) => Err(refusal(status, file.error)),
    }
}

/// The sealed chunks of a batch that are still to be handed out.
struct Payload(Bytes);

impl Payload {
    /// Takes the chunks of one file; the sizes are the server's word, so they are checked.
    fn take(
        &mut self,
        content: &RevisionContent,
    ) -> Result<HashMap<ChunkId, Bytes>, TransferError> {
        let mut chunks = HashMap::with_capacity(content.chunks.len());
        for chunk in &content.chunks {
            let size = usize::try_from(chunk.size)
                .ok()
                .filter(|size| *size <= self.0.len());
            let Some(size) = size else {
                self.0.clear();
                return Err(TransferError::protocol(
                    "the batch is shorter than its head says",
                ));
            };
            chunks.insert(chunk.id, self.0.split_to(size));
        }
        Ok(chunks)
    }
}

fn open_file(
    context: &TransferContext,
    download: &Download,
    content: &RevisionContent,
    payload: &mut Payload,
) -> FileResult {
    // First of all: whatever is wrong with this file, the next one's chunks begin after its own.
    let chunks = payload.take(content)?;
    let OpenedRevision { key, manifest } = context.open_revision(download, content)?;
    let size = usize::try_from(manifest.size)
        .ok()
        .filter(|size| *size <= BATCH_BYTES);
    let size = size.ok_or_else(|| {
        TransferError::protocol(format!(
            "a file of {} bytes came in a batch of small ones",
            manifest.size
        ))
    })?;
    let bytes = assemble(&key, &manifest, &chunks, size)?;
    if content_hash(&bytes) != manifest.hash {
        return Err(refused(Check::Content)(CryptoError::Opaque));
    }
    Ok((manifest, bytes))
}

fn assemble(
    key: &ContentKey,
    manifest: &Manifest,
    chunks: &HashMap<ChunkId, Bytes>,
    size: usize,
) -> Result<Vec<u8>, TransferError> {
    let mut bytes = Vec::with_capacity(size);
    for chunk in &manifest.chunks {
        let sealed = chunks
            .get(&chunk.id)
            .ok_or_else(|| refused(Check::Chunk)(CryptoError::Opaque))?;
        let plain = key
            .open_chunk(&chunk.id, chunk.len, sealed)
            .map_err(refused(Check::Chunk))?;
        if manifest.chunks.len() == 1 {
            return Ok(plain);
        }
        bytes.extend_from_slice(&plain);
    }
    Ok(bytes)
}

/// Fetches a file that fits into no batch.
async fn fetch_single(context: &Arc<TransferContext>, download: Download) -> FileResult {
    let target = Arc::new(MemoryTarget::default());
    let manifest =
        fetch::download_up_to(context, download, target.clone(), &(), BATCH_BYTES as u64).await?;
    Ok((manifest, target.take()))
}

fn missing_reply() -> TransferError {
    TransferError::protocol("the response has too few results for the batch")
}
