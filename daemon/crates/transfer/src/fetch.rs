//! One file down: manifest, then its chunks in order with a few fetched ahead, each verified before
//! it is written, and the whole against the manifest at the end.

use crate::download::Download;
use crate::error::{Check, TransferError};
use crate::local::{Source, Target};
use crate::progress::Progress;
use crate::similar::Similar;
use crate::transfer::{Shared, refused};
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
    shared: &Arc<Shared>,
    download: Download,
    target: Arc<dyn Target>,
    similar: Option<Arc<dyn Source>>,
    progress: &dyn Progress,
) -> Result<Manifest, TransferError> {
    let (key, manifest) = open(shared, download).await?;
    let similar = match similar {
        Some(source) => Similar::of(shared, source, key.clone()).await,
        None => None,
    };
    let fetching = Fetching {
        shared,
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
    shared: &Arc<Shared>,
    download: Download,
    target: Arc<dyn Target>,
    progress: &dyn Progress,
    max: u64,
) -> Result<Manifest, TransferError> {
    let (key, manifest) = open(shared, download).await?;
    if manifest.size > max {
        return Err(TransferError::Protocol(format!(
            "a file of {} bytes is no small one",
            manifest.size
        )));
    }
    let fetching = Fetching {
        shared,
        download,
        key: Arc::new(key),
        target,
        similar: None,
        progress,
    };
    fetching.fill(&manifest).await?;
    Ok(manifest)
}

async fn open(
    shared: &Arc<Shared>,
    download: Download,
) -> Result<(ContentKey, Manifest), TransferError> {
    let content = shared
        .api
        .manifest(download.node, download.revision)
        .await?;
    let opener = shared.clone();
    shared
        .blocking
        .run(move || opener.open_revision(&download, &content))
        .await
}

/// Where a chunk goes.
#[derive(Clone, Copy)]
struct Place {
    id: ChunkId,
    offset: u64,
    len: u32,
    /// The same chunk stands at this offset too, and is there by the time it is this one's turn.
    earlier: Option<u64>,
}

/// A verified chunk on its way into the target.
enum Piece {
    /// From the service, or from a file on this disk.
    Fetched(Vec<u8>),
    /// It was in the target already.
    Kept(Vec<u8>),
    CopyFrom(u64),
}

struct Fetching<'a> {
    shared: &'a Arc<Shared>,
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
            .shared
            .blocking
            .run(move || target.size())
            .await
            .map_err(TransferError::Target)?;
        let mut pieces = stream::iter(places(manifest))
            .map(|place| async move {
                Ok::<_, TransferError>((place, self.piece(place, present).await?))
            })
            .buffered(AHEAD);
        let mut hasher = ContentHasher::new();
        while let Some((place, piece)) = pieces.try_next().await? {
            let (target, key) = (self.target.clone(), self.key.clone());
            hasher = self
                .shared
                .blocking
                .run(move || place_piece(&*target, &key, place, piece, hasher))
                .await?;
            self.progress
                .moved(place.offset + u64::from(place.len), manifest.size);
        }
        if hasher.finish() != manifest.hash {
            return Err(refused(Check::Content)(CryptoError::Opaque));
        }
        let (target, size) = (self.target.clone(), manifest.size);
        let cut = self.shared.blocking.run(move || {
            if target.size()? == size {
                Ok(())
            } else {
                target.set_size(size)
            }
        });
        cut.await.map_err(TransferError::Target)
    }

    async fn piece(&self, place: Place, present: u64) -> Result<Piece, TransferError> {
        if let Some(offset) = place.earlier {
            return Ok(Piece::CopyFrom(offset));
        }
        if place.offset + u64::from(place.len) <= present {
            let (target, key) = (self.target.clone(), self.key.clone());
            let kept = self
                .shared
                .blocking
                .run(move || read_chunk(&*target, &key, place, place.offset))
                .await;
            if let Some(plain) = kept.map_err(TransferError::Target)? {
                return Ok(Piece::Kept(plain));
            }
        }
        if let Some(similar) = self.similar.clone() {
            let key = self.key.clone();
            let found = self
                .shared
                .blocking
                .run(move || similar.read(&key, place.id, place.len))
                .await;
            if let Some(plain) = found {
                return Ok(Piece::Fetched(plain));
            }
        }
        let expected = usize::try_from(sealed_len(u64::from(place.len))).unwrap_or(usize::MAX);
        self.shared.limits.take_down(expected).await;
        let sealed = self
            .shared
            .api
            .chunk(self.download.node, place.id, None)
            .await?;
        let key = self.key.clone();
        let opened = self
            .shared
            .blocking
            .run(move || key.open_chunk(&place.id, place.len, &sealed))
            .await;
        opened.map(Piece::Fetched).map_err(refused(Check::Chunk))
    }
}

fn places(manifest: &Manifest) -> Vec<Place> {
    let mut first = HashMap::with_capacity(manifest.chunks.len());
    let mut offset = 0;
    let mut places = Vec::with_capacity(manifest.chunks.len());
    for chunk in &manifest.chunks {
        let earlier = first.get(&(chunk.id, chunk.len)).copied();
        first.entry((chunk.id, chunk.len)).or_insert(offset);
        places.push(Place {
            id: chunk.id,
            offset,
            len: chunk.len,
            earlier,
        });
        offset += u64::from(chunk.len);
    }
    places
}

/// Reads a chunk's length of bytes and gives them if they are that chunk.
fn read_chunk(
    target: &dyn Target,
    key: &ContentKey,
    place: Place,
    from: u64,
) -> io::Result<Option<Vec<u8>>> {
    let mut plain = vec![0; place.len as usize];
    target.read_at(from, &mut plain)?;
    Ok((key.chunk_id(&plain) == place.id).then_some(plain))
}

fn place_piece(
    target: &dyn Target,
    key: &ContentKey,
    place: Place,
    piece: Piece,
    mut hasher: ContentHasher,
) -> Result<ContentHasher, TransferError> {
    let plain = match piece {
        Piece::Kept(plain) => {
            hasher.update(&plain);
            return Ok(hasher);
        }
        Piece::Fetched(plain) => plain,
        Piece::CopyFrom(offset) => read_chunk(target, key, place, offset)
            .and_then(|plain| {
                plain.ok_or_else(|| {
                    io::Error::other("the temporary file was changed by someone else")
                })
            })
            .map_err(TransferError::Target)?,
    };
    target
        .write_at(place.offset, &plain)
        .map_err(TransferError::Target)?;
    hasher.update(&plain);
    Ok(hasher)
}
