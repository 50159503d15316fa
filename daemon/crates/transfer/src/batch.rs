//! Batch downloads: many small files, or many manifests, in few requests, with a result for each.

use crate::chunk_list::{self, ChunkList, chunk_id};
use crate::content_budget::ContentBudget;
use crate::context::TransferContext;
use crate::download::Download;
use crate::each::each;
use crate::error::{Check, TransferError, refused_error};
use crate::fetch;
use crate::local::MemoryTarget;
use crate::progress::Progress;
use crate::small::refusal;
use bytes::Bytes;
use cairn_crypto::{CryptoError, content_hash};
use cairn_model::{ChunkId, Manifest};
use cairn_wire::transfer::{
    BATCH_BYTES, BATCH_FILES, DownloadBatch, DownloadFile, DownloadedFile, RevisionContent,
};
use futures_util::stream::{self, StreamExt as _};
use std::collections::HashMap;
use std::sync::Arc;

/// Requests at once: one response is decrypted while the next arrives.
const IN_FLIGHT: usize = 2;

type FileResult = Result<(Manifest, Vec<u8>), TransferError>;

pub(crate) async fn download_batch<K>(
    context: &Arc<TransferContext>,
    files: Vec<(K, Download)>,
    expected: u64,
    progress: &dyn Progress,
) -> Vec<(K, FileResult)> {
    // The sizes of nodes are the service's word, and compressed files are tiny on their way.
    let expected = expected.saturating_add(BATCH_BYTES as u64);
    let budget = Arc::new(ContentBudget::new(expected));
    let mut done = Vec::with_capacity(files.len());
    let mut waiting = files;
    let mut moved = 0;
    while !waiting.is_empty() {
        let mut groups = stream::iter(groups(std::mem::take(&mut waiting)))
            .map(|group| fetch_group(context, group, &budget))
            .buffered(IN_FLIGHT);
        while let Some(results) = groups.next().await {
            let none_came = results.iter().all(|(_, file)| matches!(file, Ok(None)));
            for ((key, download), file) in results {
                let file = match file {
                    Ok(Some(file)) => Ok(file),
                    Err(error) => Err(error),
                    // Where not one fits, asking for the same again would never end.
                    Ok(None) if none_came => fetch_single(context, download, &budget).await,
                    Ok(None) => {
                        waiting.push((key, download));
                        continue;
                    }
                };
                moved += file.as_ref().map_or(0, |(manifest, _)| manifest.size);
                progress.on_progress(moved, moved);
                done.push((key, file));
            }
        }
    }
    done
}

/// Splits files into groups that fit into a request each.
fn groups<T>(files: Vec<T>) -> Vec<Vec<T>> {
    let mut files = files.into_iter().peekable();
    let mut groups = Vec::new();
    while files.peek().is_some() {
        groups.push(files.by_ref().take(BATCH_FILES).collect());
    }
    groups
}

/// Opens the manifests of revisions, without their content.
pub(crate) async fn open_revisions<K>(
    context: &Arc<TransferContext>,
    files: Vec<(K, Download)>,
) -> Vec<(K, Result<Manifest, TransferError>)> {
    let mut opened = Vec::with_capacity(files.len());
    for group in groups(files) {
        opened.extend(each(group, async |group| open_group(context, group).await).await);
    }
    opened
}

async fn open_group(
    context: &Arc<TransferContext>,
    group: Vec<Download>,
) -> Vec<Result<Manifest, TransferError>> {
    let (files, _) = request(context, group, false).await;
    let opener = context.clone();
    let open = move || -> Vec<_> {
        let open_one = |(download, file): (Download, Result<DownloadedFile, _>)| {
            opener.open_revision(&download, &content_of(file?)?)
        };
        files.into_iter().map(open_one).collect()
    };
    context.blocking.run(open).await
}

/// Requests a group: what the server says of each file, and their content.
async fn request(
    context: &TransferContext,
    group: Vec<Download>,
    content: bool,
) -> (
    Vec<(Download, Result<DownloadedFile, TransferError>)>,
    Bytes,
) {
    let mut payload = Bytes::new();
    let wanted = group.into_iter().map(|download| {
        let file = DownloadFile {
            node_id: download.node,
            revision_id: download.revision,
        };
        (download, file)
    });
    let files = each(wanted.collect(), async |files: Vec<DownloadFile>| {
        let count = files.len();
        let batch = DownloadBatch { files, content };
        match context.api.download_batch(&batch).await {
            Ok((response, bytes)) => {
                payload = bytes;
                response.files.into_iter().map(Ok).collect()
            }
            Err(error) => (0..count).map(|_| Err(error.clone().into())).collect(),
        }
    });
    (files.await, payload)
}

/// A file of a group; `None` if it did not fit beside the others.
type Fetched = Result<Option<(Manifest, Vec<u8>)>, TransferError>;

/// Fetches a group in one request.
async fn fetch_group<K>(
    context: &Arc<TransferContext>,
    group: Vec<(K, Download)>,
    budget: &Arc<ContentBudget>,
) -> Vec<((K, Download), Fetched)> {
    let group = group
        .into_iter()
        .map(|(key, download)| ((key, download), download));
    let fetch = async |group: Vec<Download>| {
        let (files, payload) = request(context, group, true).await;
        // The bytes have arrived already: the limit delays the next request.
        context.limits.take_down(payload.len()).await;
        let (opener, budget) = (context.clone(), budget.clone());
        let open = move || -> Vec<_> {
            let mut payload = Payload(payload);
            let mut open_one = |(download, file): (Download, Result<DownloadedFile, _>)| {
                let file = file?;
                if file.status == 413 {
                    return Ok(None);
                }
                let content = content_of(file)?;
                open_file(&opener, &download, &content, &mut payload, &budget).map(Some)
            };
            files.into_iter().map(&mut open_one).collect()
        };
        context.blocking.run(open).await
    };
    each(group.collect(), fetch).await
}

fn content_of(file: DownloadedFile) -> Result<RevisionContent, TransferError> {
    match (file.status, file.content) {
        (200, Some(content)) => Ok(content),
        (200, None) => Err(TransferError::protocol("a file came without its content")),
        (status, _) => Err(refusal(status, file.error)),
    }
}

/// The encrypted chunks of a batch that no file has taken yet.
struct Payload(Bytes);

impl Payload {
    /// Takes the chunks of one file; the sizes come from the server, so they are checked.
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
    budget: &ContentBudget,
) -> FileResult {
    // First of all: whatever is wrong with this file, the next one's chunks begin after its own.
    let chunks = payload.take(content)?;
    let manifest = context.open_revision(download, content)?;
    let size = usize::try_from(manifest.size)
        .ok()
        .filter(|size| *size <= BATCH_BYTES);
    let size = size.ok_or_else(|| {
        TransferError::protocol(format!(
            "a file of {} bytes came in a batch of small ones",
            manifest.size
        ))
    })?;
    budget.reserve(manifest.size)?;
    let object = |id| chunks.get(&id).map(|bytes: &Bytes| &bytes[..]);
    let list = chunk_list::of_small(context, &manifest, object)?;
    let bytes = assemble(&list, object, size)?;
    if content_hash(&bytes) != manifest.hash {
        return Err(refused_error(Check::Content)(CryptoError::NotAuthentic));
    }
    Ok((manifest, bytes))
}

fn assemble<'a>(
    list: &ChunkList,
    object: impl Fn(ChunkId) -> Option<&'a [u8]>,
    size: usize,
) -> Result<Vec<u8>, TransferError> {
    let mut bytes = Vec::with_capacity(size);
    for row in list.rows() {
        let sealed = object(chunk_id(&row.id));
        let sealed =
            sealed.ok_or_else(|| refused_error(Check::Chunk)(CryptoError::NotAuthentic))?;
        let plain = list
            .open_chunk(row, sealed)
            .map_err(refused_error(Check::Chunk))?;
        bytes.extend_from_slice(&plain);
    }
    Ok(bytes)
}

/// Fetches a file that fits into no batch.
async fn fetch_single(
    context: &Arc<TransferContext>,
    download: Download,
    budget: &ContentBudget,
) -> FileResult {
    let target = Arc::new(MemoryTarget::default());
    let manifest = fetch::download_into(context, download, target.clone(), &(), budget).await?;
    Ok((manifest, target.take()))
}
