//! One file down: manifest, then its chunks in order with a few fetched ahead, each verified before
//! it is written, and the whole against the manifest at the end.

use crate::context::{OpenedRevision, TransferContext};
use crate::download::Download;
use crate::error::{Check, TransferError, refused};
use crate::local::{Source, Target};
use crate::progress::Progress;
use crate::similar::Similar;
use cairn_crypto::{ContentHasher, ContentKey, CryptoError, sealed_len};
use cairn_model::{ChunkId, Manifest};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Chunks fetched ahead; each is held sealed or open, at most 4 MiB and its padding.
const AHEAD: usize = 4;

/// Downloads a file of any size; chunks that `similar` has are taken from there.
pub(crate) async fn download(
    context: &Arc<TransferContext>,
    download: Download,
    target: Arc<dyn Target>,
    similar: Option<Arc<dyn Source>>,
    progress: &dyn Progress,
) -> Result<Manifest, TransferError> {
    let OpenedRevision { key, manifest } = open(context, download).await?;
    let similar = match similar {
        Some(source) => Similar::of(context, source, key.clone()).await,
        None => None,
    };
    let fetching = Fetching {
        context,
        download,
        key: Arc::new(key),
        target,
        similar: similar.map(Arc::new),
        progress,
    };
    fetching.fill(&manifest).await?;
    Ok(manifest)
}

/// As [`download`], but refuses a file of more than `max` bytes.
pub(crate) async fn download_up_to(
    context: &Arc<TransferContext>,
    download: Download,
    target: Arc<dyn Target>,
    progress: &dyn Progress,
    max: u64,
) -> Result<Manifest, TransferError> {
    let OpenedRevision { key, manifest } = open(context, download).await?;
    if manifest.size > max {
        return Err(TransferError::protocol(format!(
            "a file of {} bytes is not a small file",
            manifest.size
        )));
    }
    let fetching = Fetching {
        context,
        download,
        key: Arc::new(key),
        target,
        similar: None,
        progress,
    };
    fetching.fill(&manifest).await?;
    Ok(manifest)
}

/// Fetches and opens the manifest and the content key of a revision.
pub(crate) async fn open(
    context: &Arc<TransferContext>,
    download: Download,
) -> Result<OpenedRevision, TransferError> {
    let content = context
        .api
        .manifest(download.node, download.revision)
        .await?;
    let opener = context.clone();
    context
        .blocking
        .run(move || opener.open_revision(&download, &content))
        .await
}

/// The position in the target that a chunk goes to.
#[derive(Clone, Copy)]
struct ChunkSlot {
    id: ChunkId,
    offset: u64,
    len: u32,
    /// The same chunk stands at this offset too, and is there by the time it is this one's turn.
    earlier: Option<u64>,
}

/// The origin of a verified chunk on its way into the target.
enum ChunkOrigin {
    /// From the service, or from a file on this disk.
    Fetched(Vec<u8>),
    /// It was in the target already.
    Kept(Vec<u8>),
    CopyFrom(u64),
}

struct Fetching<'a> {
    context: &'a Arc<TransferContext>,
    download: Download,
    key: Arc<ContentKey>,
    target: Arc<dyn Target>,
    similar: Option<Arc<Similar>>,
    progress: &'a dyn Progress,
}

impl Fetching<'_> {
    async fn fill(&self, manifest: &Manifest) -> Result<(), TransferError> {
        let target = self.target.clone();
        let present = self
            .context
            .blocking
            .run(move || target.size())
            .await
            .map_err(TransferError::Target)?;
        let mut chunks =
            stream::iter(slots(manifest))
                .map(|slot| async move {
                    Ok::<_, TransferError>((slot, self.chunk(slot, present).await?))
                })
                .buffered(AHEAD);
        let mut hasher = ContentHasher::new();
        while let Some((slot, chunk)) = chunks.try_next().await? {
            let (target, key) = (self.target.clone(), self.key.clone());
            hasher = self
                .context
                .blocking
                .run(move || write_piece(&*target, &key, slot, chunk, hasher))
                .await?;
            self.progress
                .moved(slot.offset + u64::from(slot.len), manifest.size);
        }
        if hasher.finish() != manifest.hash {
            return Err(refused(Check::Content)(CryptoError::Opaque));
        }
        let (target, size) = (self.target.clone(), manifest.size);
        let cut = self.context.blocking.run(move || {
            if target.size()? == size {
                Ok(())
            } else {
                target.set_size(size)
            }
        });
        cut.await.map_err(TransferError::Target)
    }

    async fn chunk(&self, slot: ChunkSlot, present: u64) -> Result<ChunkOrigin, TransferError> {
        if let Some(offset) = slot.earlier {
            return Ok(ChunkOrigin::CopyFrom(offset));
        }
        if slot.offset + u64::from(slot.len) <= present {
            let (target, key) = (self.target.clone(), self.key.clone());
            let kept = self
                .context
                .blocking
                .run(move || read_chunk(&*target, &key, slot, slot.offset))
                .await;
            if let Some(plain) = kept.map_err(TransferError::Target)? {
                return Ok(ChunkOrigin::Kept(plain));
            }
        }
        if let Some(similar) = self.similar.clone() {
            let key = self.key.clone();
            let found = self
                .context
                .blocking
                .run(move || similar.read(&key, slot.id, slot.len))
                .await;
            if let Some(plain) = found {
                return Ok(ChunkOrigin::Fetched(plain));
            }
        }
        let expected = usize::try_from(sealed_len(u64::from(slot.len))).unwrap_or(usize::MAX);
        self.context.limits.take_down(expected).await;
        let sealed = self
            .context
            .api
            .chunk(self.download.node, slot.id, None)
            .await?;
        let key = self.key.clone();
        let opened = self
            .context
            .blocking
            .run(move || key.open_chunk(&slot.id, slot.len, &sealed))
            .await;
        opened
            .map(ChunkOrigin::Fetched)
            .map_err(refused(Check::Chunk))
    }
}

fn slots(manifest: &Manifest) -> Vec<ChunkSlot> {
    let mut first = HashMap::with_capacity(manifest.chunks.len());
    let mut offset = 0;
    let mut slots = Vec::with_capacity(manifest.chunks.len());
    for chunk in &manifest.chunks {
        let earlier = first.get(&(chunk.id, chunk.len)).copied();
        first.entry((chunk.id, chunk.len)).or_insert(offset);
        slots.push(ChunkSlot {
            id: chunk.id,
            offset,
            len: chunk.len,
            earlier,
        });
        offset += u64::from(chunk.len);
    }
    slots
}

/// Reads a chunk's length of bytes and gives them if they are that chunk.
fn read_chunk(
    target: &dyn Target,
    key: &ContentKey,
    slot: ChunkSlot,
    from: u64,
) -> io::Result<Option<Vec<u8>>> {
    let mut plain = vec![0; slot.len as usize];
    target.read_at(from, &mut plain)?;
    Ok((key.chunk_id(&plain) == slot.id).then_some(plain))
}

fn write_piece(
    target: &dyn Target,
    key: &ContentKey,
    slot: ChunkSlot,
    chunk: ChunkOrigin,
    mut hasher: ContentHasher,
) -> Result<ContentHasher, TransferError> {
    let plain = match chunk {
        ChunkOrigin::Kept(plain) => {
            hasher.update(&plain);
            return Ok(hasher);
        }
        ChunkOrigin::Fetched(plain) => plain,
        ChunkOrigin::CopyFrom(offset) => read_chunk(target, key, slot, offset)
            .and_then(|plain| {
                plain.ok_or_else(|| {
                    io::Error::other("the temporary file was changed by someone else")
                })
            })
            .map_err(TransferError::Target)?,
    };
    target
        .write_at(slot.offset, &plain)
        .map_err(TransferError::Target)?;
    hasher.update(&plain);
    Ok(hasher)
}
