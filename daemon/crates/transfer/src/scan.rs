//! A pass over a file: its chunks, in order, and the hash of the whole.
//!
//! Memory is bounded whatever the file's size. On threads, one reads and hashes the whole, and one cuts it. A third
//! hashes the chunks and takes them, unless the version before says where the cuts are: looking for them takes longest.

mod cutter;

use crate::blocking::Blocking;
use crate::context::TransferContext;
use crate::cuts::Cuts;
use crate::error::TransferError;
use crate::local::{Source, SourceReader};
use cairn_crypto::{ContentHasher, content_hash};
use cairn_model::ContentHash;
use cutter::{ChunkQueue, Cutter, Here, TakeChunk};
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};

/// Bytes read at a time.
const BLOCK: usize = 1024 * 1024;
/// Blocks in the channel from the reader to the cutter.
const BLOCKS: usize = 4;
/// Files from this size on, in bytes, are scanned with a second thread.
const PARALLEL_FROM: u64 = 4 * 1024 * 1024;

/// Takes the chunks of a file as they are found.
pub(crate) trait Chunks: Send + 'static {
    /// Takes the next chunk, and the hash of it. A file without bytes is one chunk without bytes.
    fn chunk(&mut self, plain: &[u8], hash: [u8; 32]) -> Result<(), TransferError>;
}

/// Scans a file that is expected to have `size` bytes.
pub(crate) async fn scan<C: Chunks>(
    context: &Arc<TransferContext>,
    source: Arc<dyn Source>,
    size: u64,
    cuts: Cuts,
    chunks: C,
) -> Result<(C, ContentHash), TransferError> {
    let stop = StopOnDrop::default();
    let flag = stop.0.clone();
    let threads = context.blocking == Blocking::Threads && size >= PARALLEL_FROM;
    context
        .blocking
        .run(move || {
            let pass = Pass { size, stop: &flag };
            let reader = source.open().map_err(TransferError::Source)?;
            if threads {
                pass.parallel(reader, cuts, chunks)
            } else {
                pass.sequential(reader, cuts, chunks)
            }
        })
        .await
}

/// Scans a file that is in memory.
pub(crate) fn scan_bytes(
    bytes: &[u8],
    mut cuts: Cuts,
    chunks: &mut impl Chunks,
) -> Result<ContentHash, TransferError> {
    let mut rest = bytes;
    while let Some(cut) = cuts.next(rest, true) {
        let (chunk, after) = rest.split_at(cut.length);
        let hash = cut.hash_of(chunk);
        chunks.chunk(chunk, hash)?;
        if chunk.len() == bytes.len() {
            // The only chunk is the whole.
            return Ok(ContentHash(hash));
        }
        rest = after;
    }
    let whole = content_hash(bytes);
    if bytes.is_empty() {
        chunks.chunk(bytes, whole.0)?;
    }
    Ok(whole)
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
    stop: &'a AtomicBool,
}

type Scanned<C> = Result<(C, ContentHash), TransferError>;

impl Pass<'_> {
    fn sequential<C: Chunks>(
        &self,
        mut reader: Box<dyn SourceReader>,
        cuts: Cuts,
        mut chunks: C,
    ) -> Scanned<C> {
        let mut hasher = ContentHasher::new();
        let mut block = Vec::new();
        let mut total = 0;
        let mut cutter = Cutter::new(self.size, cuts, Here(&mut chunks));
        while self.read_block(&mut *reader, &mut total, &mut block)? {
            hasher.update(&block);
            cutter.push(&block)?;
        }
        self.check_size(total)?;
        cutter.finish()?;
        Ok((chunks, hasher.finish()))
    }

    fn parallel<C: Chunks>(
        &self,
        reader: Box<dyn SourceReader>,
        cuts: Cuts,
        mut chunks: C,
    ) -> Scanned<C> {
        // The cuts of the version before are found by hashing: there is not enough left for another thread.
        if cuts.expects_chunks() {
            let hash = self.read_and_cut(reader, cuts, Here(&mut chunks))?;
            return Ok((chunks, hash));
        }
        thread::scope(|scope| {
            let (queue, queued) = ChunkQueue::new();
            let taking = scope.spawn(move || queue.take_all(chunks));
            let hash = self.read_and_cut(reader, cuts, queued);
            // Its own error is the reason of the other one.
            let chunks = join(taking)?;
            Ok((chunks, hash?))
        })
    }

    /// Reads on another thread, and cuts on this one.
    fn read_and_cut(
        &self,
        mut reader: Box<dyn SourceReader>,
        cuts: Cuts,
        taker: impl TakeChunk,
    ) -> Result<ContentHash, TransferError> {
        let (full, blocks) = sync_channel::<Vec<u8>>(BLOCKS);
        let (give_back, empty) = sync_channel::<Vec<u8>>(BLOCKS);
        let mut cutter = Cutter::new(self.size, cuts, taker);
        thread::scope(|scope| {
            let reading = scope.spawn(move || self.read_all(&mut *reader, &full, &empty));
            let mut cut = Ok(());
            for block in blocks {
                cut = cutter.push(&block);
                if cut.is_err() {
                    break;
                }
                // A full channel means that there are enough blocks: this one may go.
                let _ = give_back.try_send(block);
            }
            let (hasher, total) = join(reading)?;
            cut?;
            self.check_size(total)?;
            cutter.finish()?;
            Ok(hasher.finish())
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
                // The cutter is gone: it has failed, and says so itself.
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

    fn check_size(&self, total: u64) -> Result<(), TransferError> {
        if total == self.size {
            Ok(())
        } else {
            Err(TransferError::SourceChanged)
        }
    }
}

/// Waits for a thread; a panic in it goes on here.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    let panicked = |panic| std::panic::resume_unwind(panic);
    thread.join().unwrap_or_else(panicked)
}

#[cfg(test)]
mod tests;
