//! Download of one file: its manifest (the record of the revision) and chunk list, then its chunks in order
//! with a few fetched ahead, each verified before it is written, and the whole against the manifest at the end.

use crate::chunk_list::{self, ChunkList, chunk_id};
use crate::content_budget::ContentBudget;
use crate::context::TransferContext;
use crate::download::Download;
use crate::error::{Check, TransferError, refused_error};
use crate::local::Target;
use crate::nearby::{Nearby, Similar};
use crate::progress::Progress;
use crate::recent_contents::StoredContent;
use cairn_crypto::format2::ChunkRow;
use cairn_crypto::{ContentHasher, CryptoError, content_hash};
use cairn_model::{ChunkId, Manifest};
use cairn_wire::transfer::{BATCH_BYTES, MAX_SEALED_CHUNK, SealedChunk};
use futures_util::future;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Chunks fetched ahead; each is held sealed or open, at most 4 MiB and its padding.
const AHEAD: usize = 4;

/// Downloads a file of any size; chunks that `nearby` has are taken from there.
pub(crate) async fn download(
    context: &Arc<TransferContext>,
    download: Download,
    target: Arc<dyn Target>,
    nearby: Option<Nearby>,
    progress: &dyn Progress,
) -> Result<Manifest, TransferError> {
    let opened = open(context, download).await?;
    fill(context, opened, download, target, nearby, progress).await
}

/// Downloads like [`download`], but refuses a file that is no small one, or for which the budget is too small.
pub(crate) async fn download_into(
    context: &Arc<TransferContext>,
    download: Download,
    target: Arc<dyn Target>,
    progress: &dyn Progress,
    budget: &ContentBudget,
) -> Result<Manifest, TransferError> {
    let opened = open(context, download).await?;
    if opened.0.size > BATCH_BYTES as u64 {
        return Err(TransferError::protocol(format!(
            "a file of {} bytes is not a small file",
            opened.0.size
        )));
    }
    budget.reserve(opened.0.size)?;
    fill(context, opened, download, target, None, progress).await
}

/// Fetches and decrypts the manifest of a revision; the sealed sizes of its objects come with it.
pub(crate) async fn open(
    context: &Arc<TransferContext>,
    download: Download,
) -> Result<(Manifest, Vec<SealedChunk>), TransferError> {
    let content = context
        .api
        .manifest(download.node, download.revision)
        .await?;
    let opener = context.clone();
    context
        .blocking
        .run(move || {
            let manifest = opener.open_revision(&download, &content)?;
            Ok((manifest, content.chunks))
        })
        .await
}

async fn fill(
    context: &Arc<TransferContext>,
    opened: (Manifest, Vec<SealedChunk>),
    download: Download,
    target: Arc<dyn Target>,
    nearby: Option<Nearby>,
    progress: &dyn Progress,
) -> Result<Manifest, TransferError> {
    let (manifest, stored) = opened;
    let list = Arc::new(chunk_list::of_revision(context, download.node, &manifest).await?);
    let similar = match nearby {
        Some(nearby) => Similar::of(context, nearby, &download, &list).await,
        None => None,
    };
    let fetching = Fetching {
        context,
        download,
        list: list.clone(),
        sizes: stored.iter().map(|one| (one.id, one.size)).collect(),
        target,
        similar,
        progress,
    };
    fetching.fill(&manifest).await?;
    context.recent.put(download, StoredContent { list, stored });
    Ok(manifest)
}

/// The position in the target that a chunk goes to.
#[derive(Clone, Copy)]
struct ChunkSlot {
    row: ChunkRow,
    offset: u64,
    /// The same chunk stands at this offset too, and is there by the time it is this one's turn.
    earlier: Option<u64>,
}

/// The origin of a verified chunk on its way into the target.
enum ChunkOrigin {
    /// From the service, or from a file on this disk.
    Fetched(Vec<u8>),
    /// In the target already.
    Kept(Vec<u8>),
    CopyFrom(u64),
}

struct Fetching<'a> {
    context: &'a Arc<TransferContext>,
    download: Download,
    list: Arc<ChunkList>,
    /// Encrypted lengths in bytes, as the service gives them: a bandwidth limit counts these.
    sizes: HashMap<ChunkId, u64>,
    target: Arc<dyn Target>,
    similar: Option<Similar>,
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
            stream::iter(slots(self.list.rows()))
                .map(|slot| async move {
                    Ok::<_, TransferError>((slot, self.chunk(slot, present).await?))
                })
                .buffered(AHEAD);
        let mut hasher = ContentHasher::new();
        let mut next = chunks.try_next().await?;
        while let Some((slot, chunk)) = next {
            // Others go on arriving meanwhile.
            let put = self.put(slot, chunk, hasher);
            let (put, following) = future::join(put, chunks.try_next()).await;
            hasher = put?;
            self.progress
                .on_progress(slot.offset + slot.row.length, manifest.size);
            next = following?;
        }
        if hasher.finish() != manifest.hash {
            return Err(refused_error(Check::Content)(CryptoError::NotAuthentic));
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
        if slot.offset + slot.row.length <= present {
            let target = self.target.clone();
            let kept = self
                .context
                .blocking
                .run(move || read_chunk(&*target, slot, slot.offset))
                .await;
            if let Some(plain) = kept.map_err(TransferError::Target)? {
                return Ok(ChunkOrigin::Kept(plain));
            }
        }
        if let Some(similar) = &self.similar {
            let found = similar.read(self.context, &slot.row, slot.offset).await;
            if let Some(plain) = found {
                return Ok(ChunkOrigin::Fetched(plain));
            }
        }
        self.fetch(slot.row).await.map(ChunkOrigin::Fetched)
    }

    /// Writes a chunk into the target, and adds it to the hash of the whole meanwhile.
    async fn put(
        &self,
        slot: ChunkSlot,
        chunk: ChunkOrigin,
        mut hasher: ContentHasher,
    ) -> Result<ContentHasher, TransferError> {
        let blocking = self.context.blocking;
        let (plain, is_kept) = match chunk {
            ChunkOrigin::Kept(plain) => (plain, true),
            ChunkOrigin::Fetched(plain) => (plain, false),
            ChunkOrigin::CopyFrom(offset) => {
                let target = self.target.clone();
                let copied = blocking.run(move || read_earlier(&*target, slot, offset));
                (copied.await.map_err(TransferError::Target)?, false)
            }
        };
        let (plain, target) = (Arc::new(plain), self.target.clone());
        let hashed = plain.clone();
        let write = blocking.run(move || match is_kept {
            true => Ok(()),
            false => target.write_at(slot.offset, &plain),
        });
        let hash = blocking.run(move || {
            hasher.update(&hashed);
            hasher
        });
        let (written, hasher) = future::join(write, hash).await;
        written.map_err(TransferError::Target)?;
        Ok(hasher)
    }

    async fn fetch(&self, row: ChunkRow) -> Result<Vec<u8>, TransferError> {
        let id = chunk_id(&row.id);
        let expected = self.sizes.get(&id).copied().unwrap_or(row.length);
        let expected = usize::try_from(expected).unwrap_or(usize::MAX);
        self.context
            .limits
            .take_down(expected.min(MAX_SEALED_CHUNK))
            .await;
        let sealed = self.context.api.chunk(self.download.node, id, None).await?;
        let list = self.list.clone();
        self.context
            .blocking
            .run(move || list.open_chunk(&row, &sealed))
            .await
            .map_err(refused_error(Check::Chunk))
    }
}

fn slots(rows: &[ChunkRow]) -> Vec<ChunkSlot> {
    let mut first = HashMap::with_capacity(rows.len());
    let mut offset = 0;
    let mut slots = Vec::with_capacity(rows.len());
    for row in rows {
        let earlier = first.get(&(row.hash, row.length)).copied();
        first.entry((row.hash, row.length)).or_insert(offset);
        slots.push(ChunkSlot {
            row: *row,
            offset,
            earlier,
        });
        offset += row.length;
    }
    slots
}

/// Reads a chunk's length of bytes and gives them if they are that chunk.
fn read_chunk(target: &dyn Target, slot: ChunkSlot, from: u64) -> io::Result<Option<Vec<u8>>> {
    let mut plain = vec![0; slot.row.length as usize];
    target.read_at(from, &mut plain)?;
    Ok((content_hash(&plain).0 == slot.row.hash).then_some(plain))
}

/// Reads a chunk that stands in the target already.
fn read_earlier(target: &dyn Target, slot: ChunkSlot, from: u64) -> io::Result<Vec<u8>> {
    let changed = || io::Error::other("the temporary file was changed by someone else");
    read_chunk(target, slot, from)?.ok_or_else(changed)
}
