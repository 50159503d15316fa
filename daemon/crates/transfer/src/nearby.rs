//! A file on this disk that shares chunks with what is to be downloaded: the version that it replaces, or one
//! with the same content.
//!
//! Only an optimisation: whatever goes wrong with it, the chunk is fetched.

use crate::chunk_list::ChunkList;
use crate::context::TransferContext;
use crate::cuts::Cuts;
use crate::download::Download;
use crate::error::TransferError;
use crate::local::Source;
use crate::scan::{Chunks, scan};
use cairn_crypto::content_hash;
use cairn_crypto::format2::ChunkRow;
use std::collections::HashMap;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::OnceCell;

/// Chunks in a row that may be others in a version of the same length before they are looked for elsewhere in it.
const CHANGED_IN_PLACE: u32 = 2;

/// A file on this disk from which a download takes what it can.
#[derive(Clone)]
pub enum Nearby {
    /// An earlier version: it is cut to find chunks that have moved.
    Earlier(Arc<dyn Source>),
    /// One that is known to have had the same content: its chunks lie where the wanted ones lie.
    Equal(Arc<dyn Source>),
}

/// A similar file, whose chunks lie where the wanted ones lie, or have moved.
pub(crate) struct Similar {
    source: Arc<dyn Source>,
    moved: Option<Moved>,
}

/// The chunks of an earlier version that have moved, which are looked for once.
struct Moved {
    wanted: Arc<ChunkList>,
    /// Length of the earlier version in bytes.
    size: u64,
    /// The places of the chunks in the version that was here last: most likely it is this one.
    last: Option<Places>,
    places: OnceCell<Places>,
    /// Chunks in a row that were not where the wanted ones lie.
    misses: AtomicU32,
}

/// Offsets by hash and length of the plaintext.
#[derive(Default)]
struct Places {
    offsets: HashMap<([u8; 32], u64), u64>,
    end: u64,
}

impl Places {
    fn of(rows: &[ChunkRow]) -> Self {
        let mut places = Self::default();
        for row in rows {
            places.add(row.length, row.hash);
        }
        places
    }

    fn add(&mut self, length: u64, hash: [u8; 32]) {
        self.offsets.entry((hash, length)).or_insert(self.end);
        self.end += length;
    }

    fn find(&self, row: &ChunkRow) -> Option<u64> {
        self.offsets.get(&(row.hash, row.length)).copied()
    }
}

impl Chunks for Places {
    fn chunk(&mut self, plain: &[u8], hash: [u8; 32]) -> Result<(), TransferError> {
        self.add(plain.len() as u64, hash);
        Ok(())
    }
}

impl Similar {
    /// Opens a similar file; `None` if it can't be read.
    pub(crate) async fn of(
        context: &Arc<TransferContext>,
        nearby: Nearby,
        download: &Download,
        wanted: &Arc<ChunkList>,
    ) -> Option<Self> {
        let source = match nearby {
            Nearby::Earlier(source) => source,
            Nearby::Equal(source) => {
                let moved = None;
                return Some(Self { source, moved });
            }
        };
        let opened = source.clone();
        let size = context
            .blocking
            .run(move || opened.open()?.seek(SeekFrom::End(0)))
            .await
            .ok()?;
        let moved = Some(Moved {
            wanted: wanted.clone(),
            size,
            last: last_places(context, download, size),
            places: OnceCell::new(),
            misses: AtomicU32::new(0),
        });
        Some(Self { source, moved })
    }

    /// Returns the bytes of a chunk that the wanted file has at an offset, if this file has them.
    pub(crate) async fn read(
        &self,
        context: &Arc<TransferContext>,
        row: &ChunkRow,
        offset: u64,
    ) -> Option<Vec<u8>> {
        if let Some(last) = self.moved.as_ref().and_then(|moved| moved.last.as_ref()) {
            let plain = self.read_at(context, row, last.find(row)?).await;
            if plain.is_some() {
                return plain;
            }
        }
        let found = self.moved.as_ref().and_then(|moved| moved.places.get());
        if found.is_none() {
            let plain = self.read_at(context, row, offset).await;
            if plain.is_some() {
                if let Some(moved) = &self.moved {
                    moved.misses.store(0, Ordering::Relaxed);
                }
                return plain;
            }
        }
        let moved = self.moved.as_ref()?;
        let places = match found {
            Some(places) => places,
            None if moved.is_changed_in_place() => return None,
            None => moved.find(context, &self.source).await,
        };
        self.read_at(context, row, places.find(row)?).await
    }

    /// Returns the bytes at an offset if they are a chunk.
    async fn read_at(
        &self,
        context: &Arc<TransferContext>,
        row: &ChunkRow,
        offset: u64,
    ) -> Option<Vec<u8>> {
        let (source, row) = (self.source.clone(), *row);
        let read = move || {
            let plain = read_span(&*source, offset, row.length).ok()?;
            (content_hash(&plain).0 == row.hash).then_some(plain)
        };
        context.blocking.run(read).await
    }
}

/// Returns the places of the chunks in the version that was sent from here or fetched last, if it has this length.
fn last_places(context: &TransferContext, download: &Download, size: u64) -> Option<Places> {
    let last = context.recent.other_of(download)?;
    (last.list.list.size() == size).then(|| Places::of(last.list.rows()))
}

impl Moved {
    /// Returns whether a chunk that isn't where the wanted one lies is most likely a change in place, as they are made
    /// in databases and images of disks. It is fetched: looking for it takes a pass over the whole file.
    fn is_changed_in_place(&self) -> bool {
        let misses = self.misses.fetch_add(1, Ordering::Relaxed);
        misses < CHANGED_IN_PLACE && self.size == self.wanted.list.size()
    }

    /// Cuts the file as the wanted one was cut; finds nothing if it can't be read.
    async fn find(&self, context: &Arc<TransferContext>, source: &Arc<dyn Source>) -> &Places {
        let cut = || async {
            let wanted = &self.wanted;
            let cuts = Cuts::like(wanted.key(wanted.list.cut), wanted.rows());
            let scanned = scan(context, source.clone(), self.size, cuts, Places::default());
            scanned.await.map(|(places, _)| places).unwrap_or_default()
        };
        self.places.get_or_init(cut).await
    }
}

fn read_span(source: &dyn Source, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut reader = source.open()?;
    reader.seek(SeekFrom::Start(offset))?;
    let mut plain = vec![0; length as usize];
    reader.read_exact(&mut plain)?;
    Ok(plain)
}
