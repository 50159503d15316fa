//! Many small files down, or many manifests: few requests, an answer for each file.

use crate::download::Download;
use crate::error::{Check, TransferError};
use crate::fetch;
use crate::local::MemoryTarget;
use crate::progress::Progress;
use crate::small::refusal;
use crate::transfer::{Shared, refused};
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

type File = Result<(Manifest, Vec<u8>), TransferError>;

/// What the server said of one file of a group.
enum Answer<T> {
    Settled(Result<T, TransferError>),
    /// It did not fit beside the others.
    AskAgain,
}

pub(crate) async fn download_batch(
    shared: &Arc<Shared>,
    downloads: &[Download],
    progress: &dyn Progress,
) -> Vec<File> {
    let mut files: Vec<Option<File>> = downloads.iter().map(|_| None).collect();
    let mut waiting: Vec<usize> = (0..downloads.len()).collect();
    let mut moved = 0;
    while !waiting.is_empty() {
        let asked = std::mem::take(&mut waiting);
        // Owned groups: a borrowed one would tie the future to a lifetime that a task can't have.
        let groups: Vec<Vec<usize>> = asked.chunks(BATCH_FILES).map(<[usize]>::to_vec).collect();
        let mut groups = stream::iter(groups)
            .map(|group| async move {
                let wanted = group.iter().map(|at| downloads[*at]).collect();
                (group, fetch_group(shared, wanted).await)
            })
            .buffered(IN_FLIGHT);
        while let Some((group, answers)) = groups.next().await {
            let none_came = answers
                .iter()
                .all(|answer| matches!(answer, Answer::AskAgain));
            for (at, answer) in group.iter().zip(answers) {
                let file = match answer {
                    Answer::Settled(file) => file,
                    // Where not one fits, asking for the same again would never end.
                    Answer::AskAgain if none_came => alone(shared, downloads[*at]).await,
                    Answer::AskAgain => {
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
        .map(|file| file.unwrap_or_else(|| Err(unanswered())))
        .collect()
}

pub(crate) async fn manifests(
    shared: &Arc<Shared>,
    downloads: &[Download],
) -> Vec<Result<Manifest, TransferError>> {
    let mut manifests = Vec::with_capacity(downloads.len());
    for group in downloads.chunks(BATCH_FILES) {
        let answer = match ask(shared, group, false).await {
            Ok((answer, _)) => answer,
            Err(error) => {
                manifests.extend(group.iter().map(|_| Err(error.clone().into())));
                continue;
            }
        };
        let (opener, group) = (shared.clone(), group.to_vec());
        let open = move || -> Vec<_> {
            let opened = group.iter().zip(answer.files).map(|(download, file)| {
                let content = content_of(file)?;
                opener
                    .open_revision(download, &content)
                    .map(|(_, manifest)| manifest)
            });
            opened.collect()
        };
        manifests.extend(shared.blocking.run(open).await);
    }
    manifests
}

async fn ask(
    shared: &Shared,
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
    shared
        .api
        .download_batch(&DownloadBatch { files, content })
        .await
}

async fn fetch_group(
    shared: &Arc<Shared>,
    group: Vec<Download>,
) -> Vec<Answer<(Manifest, Vec<u8>)>> {
    let (answer, payload) = match ask(shared, &group, true).await {
        Ok(answered) => answered,
        Err(error) => {
            return group
                .iter()
                .map(|_| Answer::Settled(Err(error.clone().into())))
                .collect();
        }
    };
    // What came can't be called back: the next request waits for its price.
    shared.limits.take_down(payload.len()).await;
    let opener = shared.clone();
    let open = move || {
        let mut payload = Payload(payload);
        let answers = group.iter().zip(answer.files).map(|(download, file)| {
            if file.status == 413 {
                return Answer::AskAgain;
            }
            Answer::Settled(
                content_of(file)
                    .and_then(|content| open_file(&opener, download, &content, &mut payload)),
            )
        });
        answers.collect()
    };
    shared.blocking.run(open).await
}

fn content_of(file: DownloadedFile) -> Result<RevisionContent, TransferError> {
    match (file.status, file.content) {
        (200, Some(content)) => Ok(content),
        (200, None) => Err(TransferError::Protocol(
            "a file came without its content".to_owned(),
        )),
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
                return Err(TransferError::Protocol(
                    "the batch is shorter than its head says".to_owned(),
                ));
            };
            chunks.insert(chunk.id, self.0.split_to(size));
        }
        Ok(chunks)
    }
}

fn open_file(
    shared: &Shared,
    download: &Download,
    content: &RevisionContent,
    payload: &mut Payload,
) -> File {
    // First of all: whatever is wrong with this file, the next one's chunks begin after its own.
    let chunks = payload.take(content)?;
    let (key, manifest) = shared.open_revision(download, content)?;
    let size = usize::try_from(manifest.size)
        .ok()
        .filter(|size| *size <= BATCH_BYTES);
    let size = size.ok_or_else(|| {
        TransferError::Protocol(format!(
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
async fn alone(shared: &Arc<Shared>, download: Download) -> File {
    let target = Arc::new(MemoryTarget::default());
    let manifest =
        fetch::download_up_to(shared, download, target.clone(), &(), BATCH_BYTES as u64).await?;
    Ok((manifest, target.take()))
}

fn unanswered() -> TransferError {
    TransferError::Protocol("the batch was answered in part".to_owned())
}
