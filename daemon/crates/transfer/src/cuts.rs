//! The places at which a file is cut: by its content, and first of all where the version before was cut.
//!
//! A cut depends on the bytes of its chunk alone. A chunk of the version before that begins where the last one
//! ended is therefore cut where it was cut then, and hashing it finds that out much faster than looking for
//! the place.

use cairn_crypto::format2::{ChunkRow, Chunker};
use cairn_crypto::{MAX_CHUNK, MIN_CHUNK, NodeKey, content_hash};
use cairn_model::ContentHash;
use std::cell::OnceCell;
use std::collections::HashMap;

/// Chunks in a row that may be others than expected before the next is no longer guessed.
const MISSES: u32 = 8;

/// The length of a chunk's plaintext in bytes, and its BLAKE3 hash.
pub(crate) type Plain = (u64, [u8; 32]);

/// A version of a file that was cut, and is not sent yet.
#[derive(Debug)]
pub(crate) struct CutVersion {
    /// The state that the file was in.
    pub(crate) state: [u8; 32],
    pub(crate) chunks: Vec<Plain>,
    /// The hash of the whole.
    pub(crate) hash: ContentHash,
}

/// The end of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cut {
    /// Bytes of the chunk.
    pub(crate) length: usize,
    /// The hash of the chunk, where it was needed to find the cut.
    hash: Option<[u8; 32]>,
}

impl Cut {
    /// Returns the hash of the chunk that was cut, `plain`.
    pub(crate) fn hash_of(&self, plain: &[u8]) -> [u8; 32] {
        self.hash.unwrap_or_else(|| content_hash(plain).0)
    }
}

/// Cuts one file into chunks.
pub(crate) struct Cuts {
    key: NodeKey,
    /// Made for the first file that is longer than the shortest chunk.
    chunker: OnceCell<Chunker>,
    expected: Vec<Plain>,
    /// The places of the expected chunks among these.
    places: HashMap<Plain, usize>,
    next: usize,
    misses: u32,
}

impl Cuts {
    /// Cuts as the files of a node are cut.
    pub(crate) fn new(key: &NodeKey) -> Self {
        Self::like(key, &[])
    }

    /// Cuts as `rows`, a list of chunks that was cut with this key, whose chunks are expected.
    pub(crate) fn like(key: &NodeKey, rows: &[ChunkRow]) -> Self {
        let expected: Vec<Plain> = rows.iter().map(|row| (row.length, row.hash)).collect();
        let places = expected.iter().enumerate().map(|(i, row)| (*row, i));
        Self {
            key: key.clone(),
            chunker: OnceCell::new(),
            places: places.collect(),
            expected,
            next: 0,
            misses: 0,
        }
    }

    /// Returns whether chunks of a version before are expected.
    pub(crate) fn expects_chunks(&self) -> bool {
        !self.expected.is_empty()
    }

    /// Returns the first chunk of `data`, which begins where the chunk before ended. `None` if that needs more
    /// data than there is yet, or there is none.
    pub(crate) fn next(&mut self, data: &[u8], at_end: bool) -> Option<Cut> {
        if data.is_empty() || (!at_end && data.len() < MAX_CHUNK) {
            return None;
        }
        if let Some(found) = self.expected_in(data, at_end) {
            self.next += 1;
            self.misses = 0;
            return Some(found);
        }
        let length = if data.len() <= MIN_CHUNK {
            data.len()
        } else {
            let chunker = self.chunker.get_or_init(|| Chunker::new(&self.key));
            chunker.cut(data, at_end)?
        };
        if !self.expects_chunks() {
            return Some(Cut { length, hash: None });
        }
        let hash = content_hash(&data[..length]).0;
        if let Some(place) = self.places.get(&(length as u64, hash)) {
            self.next = place + 1;
            self.misses = 0;
        } else {
            // Most likely it replaces the one that was expected.
            self.next += 1;
            self.misses += 1;
        }
        let hash = Some(hash);
        Some(Cut { length, hash })
    }

    /// Returns the expected chunk, if `data` begins with it.
    fn expected_in(&self, data: &[u8], at_end: bool) -> Option<Cut> {
        if self.misses >= MISSES {
            return None;
        }
        let expected = self.expected.get(self.next)?;
        let length = usize::try_from(expected.0).ok()?;
        // The last one ended with its file, and not at a cut.
        let is_last = self.next + 1 == self.expected.len();
        if length == 0 || length > data.len() || (is_last && !(at_end && length == data.len())) {
            return None;
        }
        let hash = Some(expected.1);
        (content_hash(&data[..length]).0 == expected.1).then_some(Cut { length, hash })
    }
}

#[cfg(test)]
mod tests;
