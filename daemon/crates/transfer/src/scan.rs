//! A pass over a file: its chunks, in order, and the hash of the whole.
//!
//! Memory is bounded whatever the file's size. On threads, one reads and hashes the whole while the
//! other cuts it and hands the chunks on.

use crate::blocking::Blocking;
use crate::context::TransferContext;
use crate::cuts::Cuts;
use crate::error::TransferError;
use crate::local::{Source, SourceReader};
use cairn_crypto::{ContentHasher, MAX_CHUNK, content_hash};
use cairn_model::ContentHash;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Bytes read at a time.
const BLOCK: usize = 1024 * 1024;
/// Blocks in the channel from the reader to the cutter.
const BLOCKS: usize = 4;
/// The size of the cutter's buffer: a longest chunk, a block, and room so that it seldom moves
/// bytes.
const WINDOW: usize = 2 * MAX_CHUNK;
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
            let cutter = pass.cutter(cuts, chunks);
            let reader = source.open().map_err(TransferError::Source)?;
            if threads {
                pass.parallel(reader, cutter)
            } else {
                pass.sequential(reader, cutter)
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
    while let Some((length, hash)) = cuts.next(rest, true) {
        let (chunk, after) = rest.split_at(length as usize);
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
        mut cutter: Cutter<C>,
    ) -> Scanned<C> {
        let mut hasher = ContentHasher::new();
        let mut block = Vec::new();
        let mut total = 0;
        while self.read_block(&mut *reader, &mut total, &mut block)? {
            hasher.update(&block);
            cutter.push(&block)?;
        }
        self.finish(cutter, &hasher, total)
    }

    fn parallel<C: Chunks>(
        &self,
        mut reader: Box<dyn SourceReader>,
        mut cutter: Cutter<C>,
    ) -> Scanned<C> {
        let (full, blocks) = sync_channel::<Vec<u8>>(BLOCKS);
        let (give_back, empty) = sync_channel::<Vec<u8>>(BLOCKS);
        std::thread::scope(|scope| {
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
            let (hasher, total) = reading
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            cut?;
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

    fn cutter<C>(&self, cuts: Cuts, chunks: C) -> Cutter<C> {
        let expected = usize::try_from(self.size).unwrap_or(WINDOW).min(WINDOW);
        Cutter {
            cuts,
            window: Vec::with_capacity(expected),
            start: 0,
            chunks,
        }
    }

    fn finish<C: Chunks>(
        &self,
        mut cutter: Cutter<C>,
        hasher: &ContentHasher,
        total: u64,
    ) -> Scanned<C> {
        if total != self.size {
            return Err(TransferError::SourceChanged);
        }
        cutter.cut(true)?;
        let mut chunks = cutter.chunks;
        if total == 0 {
            chunks.chunk(&[], content_hash(&[]).0)?;
        }
        Ok((chunks, hasher.finish()))
    }
}

/// Cuts a stream of blocks into chunks.
struct Cutter<C> {
    cuts: Cuts,
    window: Vec<u8>,
    /// The start of the bytes that are in no chunk yet.
    start: usize,
    chunks: C,
}

impl<C: Chunks> Cutter<C> {
    fn push(&mut self, block: &[u8]) -> Result<(), TransferError> {
        if self.window.len() + block.len() > self.window.capacity() {
            self.window.drain(..self.start);
            self.start = 0;
        }
        self.window.extend_from_slice(block);
        self.cut(false)
    }

    fn cut(&mut self, at_end: bool) -> Result<(), TransferError> {
        while let Some((length, hash)) = self.cuts.next(&self.window[self.start..], at_end) {
            let end = self.start + length as usize;
            self.chunks.chunk(&self.window[self.start..end], hash)?;
            self.start = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
