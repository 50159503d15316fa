//! Cutting a stream of blocks into chunks, and handing the chunks on: to the caller at once, or to another thread.

use super::Chunks;
use crate::cuts::{Cut, Cuts};
use crate::error::TransferError;
use cairn_crypto::MAX_CHUNK;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The size of the cutter's buffer: a longest chunk, a block, and room so that it seldom moves
/// bytes.
const WINDOW: usize = 2 * MAX_CHUNK;
/// Chunks that wait for the thread that takes them; each has at most 4 MiB.
const WAITING: usize = 1;

/// Takes the chunks that a cutter has cut.
pub(super) trait TakeChunk {
    fn take(&mut self, plain: &[u8], cut: Cut) -> Result<(), TransferError>;
}

/// Takes chunks on the thread that cuts.
pub(super) struct Here<'a, C>(pub(super) &'a mut C);

impl<C: Chunks> TakeChunk for Here<'_, C> {
    fn take(&mut self, plain: &[u8], cut: Cut) -> Result<(), TransferError> {
        self.0.chunk(plain, cut.hash_of(plain))
    }
}

/// The end of a queue into which the cutter puts copies of its chunks.
pub(super) struct Queued {
    full: SyncSender<(Vec<u8>, Cut)>,
    empty: Receiver<Vec<u8>>,
}

impl TakeChunk for Queued {
    fn take(&mut self, plain: &[u8], cut: Cut) -> Result<(), TransferError> {
        let mut copy = self.empty.try_recv().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(plain);
        // Nobody takes chunks any more: the other thread has failed, and its error is the one that counts.
        let is_gone = |_| TransferError::SourceChanged;
        self.full.send((copy, cut)).map_err(is_gone)
    }
}

/// The end of the queue from which chunks are taken.
pub(super) struct ChunkQueue {
    full: Receiver<(Vec<u8>, Cut)>,
    give_back: SyncSender<Vec<u8>>,
}

impl ChunkQueue {
    pub(super) fn new() -> (Self, Queued) {
        let (sender, full) = sync_channel(WAITING);
        let (give_back, empty) = sync_channel(WAITING + 1);
        let queued = Queued {
            full: sender,
            empty,
        };
        (Self { full, give_back }, queued)
    }

    /// Hashes and takes the chunks until no more come.
    pub(super) fn take_all<C: Chunks>(self, mut chunks: C) -> Result<C, TransferError> {
        for (plain, cut) in self.full {
            chunks.chunk(&plain, cut.hash_of(&plain))?;
            // A full channel means that there are enough buffers: this one may go.
            let _ = self.give_back.try_send(plain);
        }
        Ok(chunks)
    }
}

/// Cuts a stream of blocks into chunks.
pub(super) struct Cutter<T> {
    cuts: Cuts,
    window: Vec<u8>,
    /// The start of the bytes that are in no chunk yet.
    start: usize,
    taker: T,
}

impl<T: TakeChunk> Cutter<T> {
    /// Makes the cutter of a file that is expected to have `size` bytes.
    pub(super) fn new(size: u64, cuts: Cuts, taker: T) -> Self {
        let expected = usize::try_from(size).unwrap_or(WINDOW).min(WINDOW);
        Self {
            cuts,
            window: Vec::with_capacity(expected),
            start: 0,
            taker,
        }
    }

    pub(super) fn push(&mut self, block: &[u8]) -> Result<(), TransferError> {
        if self.window.len() + block.len() > self.window.capacity() {
            self.window.drain(..self.start);
            self.start = 0;
        }
        self.window.extend_from_slice(block);
        self.cut(false)
    }

    /// Cuts what is left at the end of the file. One without bytes is one chunk without bytes.
    pub(super) fn finish(mut self) -> Result<(), TransferError> {
        if self.window.is_empty() {
            return self.taker.take(&[], Cut::default());
        }
        self.cut(true)
    }

    fn cut(&mut self, at_end: bool) -> Result<(), TransferError> {
        while let Some(cut) = self.cuts.next(&self.window[self.start..], at_end) {
            let end = self.start + cut.length;
            self.taker.take(&self.window[self.start..end], cut)?;
            self.start = end;
        }
        Ok(())
    }
}
