//! The first pass over a file: where it is cut, the id of each chunk, the hash of the whole.
//!
//! Memory is bounded whatever the file's size. On threads, one reads and hashes the whole while the
//! other cuts and names the chunks.

use crate::blocking::Blocking;
use crate::context::TransferContext;
use crate::error::TransferError;
use crate::local::{Source, SourceReader};
use cairn_crypto::{Chunker, ContentHasher, ContentKey, MAX_CHUNK};
use cairn_model::{ChunkRef, ContentHash};
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Bytes read at a time.
const BLOCK: usize = 1024 * 1024;
/// Blocks on the way from the reader to the cutter.
const BLOCKS: usize = 4;
/// The size of the cutter's buffer: a longest chunk, a block, and room so that it seldom moves
/// bytes.
const WINDOW: usize = 2 * MAX_CHUNK;
/// Files from this size on are worth a second thread.
const PARALLEL_FROM: u64 = 4 * 1024 * 1024;

/// The chunks and hash of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    pub(crate) chunks: Vec<ChunkRef>,
    pub(crate) hash: ContentHash,
    pub(crate) size: u64,
}

/// Scans a file that is expected to have `size` bytes.
pub(crate) async fn scan(
    context: &Arc<TransferContext>,
    source: Arc<dyn Source>,
    size: u64,
    key: ContentKey,
) -> Result<Scanned, TransferError> {
    let stop = StopOnDrop::default();
    let flag = stop.0.clone();
    let context = context.clone();
    let threads = context.blocking == Blocking::Threads && size >= PARALLEL_FROM;
    context
        .clone()
        .blocking
        .run(move || {
            let pass = Pass {
                size,
                chunker: &context.chunker,
                key: &key,
                stop: &flag,
            };
            let reader = source.open().map_err(TransferError::Source)?;
            if threads {
                pass.parallel(reader)
            } else {
                pass.sequential(reader)
            }
        })
        .await
}

/// Scans a file that is in memory.
pub(crate) fn scan_bytes(bytes: &[u8], chunker: &Chunker, key: &ContentKey) -> Scanned {
    let mut chunks = Vec::new();
    let mut rest = bytes;
    while let Some(length) = chunker.cut(rest, true) {
        let (chunk, after) = rest.split_at(length);
        chunks.push(chunk_ref(key, chunk));
        rest = after;
    }
    Scanned {
        chunks,
        hash: cairn_crypto::content_hash(bytes),
        size: bytes.len() as u64,
    }
}

/// Stops the threads of a scan for which nobody waits any more.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Pass<'a> {
    size: u64,
    chunker: &'a Chunker,
    key: &'a ContentKey,
    stop: &'a AtomicBool,
}

impl Pass<'_> {
    fn sequential(&self, mut reader: Box<dyn SourceReader>) -> Result<Scanned, TransferError> {
        let mut cutter = self.cutter();
        let mut hasher = ContentHasher::new();
        let mut block = Vec::new();
        let mut total = 0;
        while self.read_block(&mut *reader, &mut total, &mut block)? {
            hasher.update(&block);
            cutter.push(&block);
        }
        self.finish(cutter, &hasher, total)
    }

    fn parallel(&self, mut reader: Box<dyn SourceReader>) -> Result<Scanned, TransferError> {
        let (full, blocks) = sync_channel::<Vec<u8>>(BLOCKS);
        let (give_back, empty) = sync_channel::<Vec<u8>>(BLOCKS);
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || self.read_all(&mut *reader, &full, &empty));
            let mut cutter = self.cutter();
            for block in blocks {
                cutter.push(&block);
                // A full channel means that there are enough blocks: this one may go.
                let _ = give_back.try_send(block);
            }
            let (hasher, total) = reading
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            self.finish(cutter, &hasher, total)
        })
    }

    fn read_all(
        &self,
        reader: &mut dyn SourceReader,
        full: &SyncSender<Vec<u8>>,
        empty: &Receiver<Vec<u8>>,
    ) -> Result<(ContentHasher, u64), TransferError> {
        let mut hasher = ContentHasher::new();
        let mut total = 0;
        loop {
            let mut block = empty.try_recv().unwrap_or_default();
            if !self.read_block(reader, &mut total, &mut block)? {
                return Ok((hasher, total));
            }
            hasher.update(&block);
            if full.send(block).is_err() {
                // The cutter is gone, which only a panic of its own explains; join tells.
                return Ok((hasher, total));
            }
        }
    }

    /// Reads the next block; false at the end.
    fn read_block(
        &self,
        reader: &mut dyn SourceReader,
        total: &mut u64,
        block: &mut Vec<u8>,
    ) -> Result<bool, TransferError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(TransferError::SourceChanged);
        }
        block.clear();
        let room = usize::try_from(self.size - *total)
            .map_or(BLOCK, |left| left.saturating_add(1).min(BLOCK));
        block.reserve_exact(room);
        reader
            .take(room as u64)
            .read_to_end(block)
            .map_err(TransferError::Source)?;
        *total += block.len() as u64;
        if *total > self.size {
            return Err(TransferError::SourceChanged);
        }
        Ok(!block.is_empty())
    }

    fn cutter(&self) -> Cutter<'_> {
        let expected = usize::try_from(self.size).unwrap_or(WINDOW).min(WINDOW);
        Cutter {
            chunker: self.chunker,
            key: self.key,
            window: Vec::with_capacity(expected),
            start: 0,
            chunks: Vec::new(),
        }
    }

    fn finish(
        &self,
        cutter: Cutter<'_>,
        hasher: &ContentHasher,
        total: u64,
    ) -> Result<Scanned, TransferError> {
        if total != self.size {
            return Err(TransferError::SourceChanged);
        }
        Ok(Scanned {
            chunks: cutter.finish(),
            hash: hasher.finish(),
            size: total,
        })
    }
}

/// Cuts a stream of blocks into chunks.
struct Cutter<'a> {
    chunker: &'a Chunker,
    key: &'a ContentKey,
    window: Vec<u8>,
    /// The start of the bytes that are in no chunk yet.
    start: usize,
    chunks: Vec<ChunkRef>,
}

impl Cutter<'_> {
    fn push(&mut self, block: &[u8]) {
        if self.window.len() + block.len() > self.window.capacity() {
            self.window.drain(..self.start);
            self.start = 0;
        }
        self.window.extend_from_slice(block);
        self.cut(false);
    }

    fn finish(mut self) -> Vec<ChunkRef> {
        self.cut(true);
        self.chunks
    }

    fn cut(&mut self, at_end: bool) {
        while let Some(length) = self.chunker.cut(&self.window[self.start..], at_end) {
            let chunk = &self.window[self.start..self.start + length];
            self.chunks.push(chunk_ref(self.key, chunk));
            self.start += length;
        }
    }
}

fn chunk_ref(key: &ContentKey, chunk: &[u8]) -> ChunkRef {
    let len = u32::try_from(chunk.len()).expect("no chunk is longer than MAX_CHUNK");
    ChunkRef {
        id: key.chunk_id(chunk),
        len,
    }
}

#[cfg(test)]
mod tests;
