//! The second pass of an upload: reads the chunks that the server lacks again, seals and sends them, with
//! the lists of them.
//!
//! The id of each chunk is computed again: what changed in between is never sent under the id of other
//! bytes.

use crate::chunk_list::chunk_id;
use crate::context::TransferContext;
use crate::error::TransferError;
use crate::local::{Source, SourceReader};
use crate::naming::Named;
use crate::progress::Progress;
use bytes::Bytes;
use cairn_api::ApiError;
use cairn_crypto::format2::{ChunkRow, Compression};
use cairn_crypto::{CryptoError, NodeKey, content_hash};
use cairn_model::ChunkId;
use cairn_wire::transfer as wire;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::{ErrorKind, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Chunks that are sent at once; each holds its encrypted bytes, and for a short time the plain ones.
const IN_FLIGHT: usize = 4;

/// A chunk that is to be sent.
#[derive(Clone, Copy)]
pub(crate) struct ChunkSpan {
    row: ChunkRow,
    offset: u64,
}

/// An object that the service lacks.
pub(crate) enum Missing {
    Chunk(ChunkSpan),
    /// Sealed before; its length in the file is 0 for a list of chunks.
    Sealed(ChunkId, Bytes, u64),
}

impl Missing {
    fn length(&self) -> u64 {
        match self {
            Self::Chunk(span) => span.row.length,
            Self::Sealed(_, _, length) => *length,
        }
    }
}

/// An upload that was begun.
pub(crate) struct Sending<'a> {
    pub(crate) context: &'a Arc<TransferContext>,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) key: NodeKey,
    pub(crate) named: Named,
    pub(crate) upload: &'a wire::Upload,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) size: u64,
    pub(crate) moved: AtomicU64,
}

impl Sending<'_> {
    pub(crate) async fn send(&self, missing: Vec<Missing>) -> Result<(), TransferError> {
        let left: u64 = missing.iter().map(Missing::length).sum();
        self.moved
            .store(self.size.saturating_sub(left), Ordering::Relaxed);
        self.progress
            .on_progress(self.moved.load(Ordering::Relaxed), self.size);
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
            .map(|one| self.send_one(&reader, one))
            .buffer_unordered(IN_FLIGHT)
            .try_collect()
            .await
    }

    /// Returns what is to be sent; `None` if a chunk is missing that was to be used as it is: under another
    /// key, or with another codec, it can't be made again.
    pub(crate) fn missing_chunks(&self) -> Result<Option<Vec<Missing>>, TransferError> {
        let list = &self.named.list;
        let mut spans = HashMap::with_capacity(list.rows.len());
        let mut offset = 0;
        for row in &list.rows {
            let span = ChunkSpan { row: *row, offset };
            spans.entry(chunk_id(&row.id)).or_insert(span);
            offset += row.length;
        }
        let mut lists = self.named.kept.clone();
        lists.retain(|id, _| !spans.contains_key(id));
        let mut missing = Vec::with_capacity(self.upload.missing.len());
        for id in &self.upload.missing {
            // Taking each out of the table once keeps a hostile list from being longer than the file.
            let Some(span) = spans.remove(id) else {
                let sealed = lists.remove(id).ok_or_else(unannounced_error)?;
                missing.push(Missing::Sealed(*id, sealed, 0));
                continue;
            };
            if !self.named.is_reproducible(&span.row.id) {
                return Ok(None);
            }
            missing.push(match self.named.kept.get(id) {
                Some(sealed) => Missing::Sealed(*id, sealed.clone(), span.row.length),
                None => Missing::Chunk(span),
            });
        }
        Ok(Some(missing))
    }

    async fn send_one(
        &self,
        reader: &Arc<Mutex<Box<dyn SourceReader>>>,
        missing: Missing,
    ) -> Result<(), TransferError> {
        let length = missing.length();
        let (reader, key) = (reader.clone(), self.key.clone());
        let compression = self.named.compression;
        let seal = move || {
            let (id, sealed) = match missing {
                Missing::Sealed(id, sealed, _) => (id, sealed),
                Missing::Chunk(span) => {
                    let sealed = seal_again(&reader, &key, compression, span)?;
                    (chunk_id(&span.row.id), sealed)
                }
            };
            let hash = content_hash(&sealed).0;
            Ok::<_, TransferError>((id, sealed, hash))
        };
        let (id, sealed, hash) = self.context.blocking.run(seal).await?;
        self.context.limits.take_up(sealed.len()).await;
        let upload = self.upload;
        match self
            .context
            .api
            .put_chunk(&upload.chunk_url, upload.upload_id, id, (sealed, hash))
            .await
        {
            Ok(()) => {
                let done = self.moved.fetch_add(length, Ordering::Relaxed) + length;
                self.progress.on_progress(done, self.size);
                Ok(())
            }
            Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => {
                Err(TransferError::UploadLost)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Reads a chunk's bytes.
///
/// # Errors
/// [`TransferError::SourceChanged`] if there are not so many any more.
pub(crate) fn read_span(
    reader: &Mutex<Box<dyn SourceReader>>,
    offset: u64,
    length: u64,
) -> Result<Vec<u8>, TransferError> {
    let mut plain = vec![0; length as usize];
    let mut reader = reader.lock();
    let read = reader
        .seek(SeekFrom::Start(offset))
        .and_then(|_| reader.read_exact(&mut plain));
    match read {
        Ok(()) => Ok(plain),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(TransferError::SourceChanged),
        Err(error) => Err(TransferError::Source(error)),
    }
}

fn seal_again(
    reader: &Mutex<Box<dyn SourceReader>>,
    key: &NodeKey,
    compression: Compression,
    span: ChunkSpan,
) -> Result<Bytes, TransferError> {
    let plain = read_span(reader, span.offset, span.row.length)?;
    let sealed = key.seal_chunk(&plain, compression);
    let sealed = sealed.map_err(TransferError::Sealing)?;
    // The id is a hash of what was sealed, so the same id means the same bytes.
    if sealed.id != span.row.id {
        if content_hash(&plain).0 != span.row.hash {
            return Err(TransferError::SourceChanged);
        }
        return Err(TransferError::Sealing(CryptoError::InvalidInput(
            "the same bytes were compressed in two ways",
        )));
    }
    Ok(sealed.bytes.into())
}

pub(crate) fn unannounced_error() -> TransferError {
    TransferError::protocol("chunks are missing that were never announced")
}
