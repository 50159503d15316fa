//! Cuts files into chunks: FastCDC (Xia et al., USENIX ATC 2016) with a table of its own for every
//! space, so that an edit moves few cuts, and the cuts of known content can't be looked up.
//!
//! The whole table is derived from the space's key: a public table XORed with a seed, as libraries
//! offer it, contains far less secret. Somebody who can plant files and watch lengths still learns
//! something (Truong et al., "Breaking and Fixing Content-Defined Chunking", 2025); padding hides the
//! exact lengths.

use crate::space::SpaceKeys;
use cairn_log::AssociatedData;
use fastcdc::v2020::{MASKS, cut_gear};
use std::fmt;
use zeroize::Zeroizing;

/// The shortest chunk but for a file's last one, in bytes; a file up to this long is one chunk.
pub const MIN_CHUNK: usize = 256 * 1024;
/// Cuts become 64 times as likely from here on, so most chunks are a little longer than this; bytes.
pub const TARGET_CHUNK: usize = 1024 * 1024;
/// The longest chunk, in bytes.
pub const MAX_CHUNK: usize = 4 * 1024 * 1024;

/// One bit for each doubling: a 1 MiB target has 20, normalised by three to either side.
const MASK_BEFORE: u64 = MASKS[23];
const MASK_AFTER: u64 = MASKS[17];

/// Finds the cuts of one space.
#[derive(Clone)]
pub struct Chunker {
    gear: Zeroizing<[u64; 256]>,
    gear_shifted: Zeroizing<[u64; 256]>,
}

impl Chunker {
    /// Makes the table of a space.
    #[must_use]
    pub fn new(keys: &SpaceKeys) -> Self {
        let seed = keys
            .chunker
            .derive(&AssociatedData::new("cairn/gear-table/1"));
        let mut bytes = Zeroizing::new([0; 256 * 8]);
        blake3::Hasher::new_keyed(seed.bytes())
            .finalize_xof()
            .fill(&mut *bytes);
        let mut gear = Zeroizing::new([0; 256]);
        for (value, bytes) in gear.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *value = u64::from_le_bytes(*bytes);
        }
        let gear_shifted = Zeroizing::new(gear.map(|value| value << 1));
        Self { gear, gear_shifted }
    }

    /// Returns the length of the first chunk of `data`, or `None` if that needs more data (or there is
    /// none).
    ///
    /// `data` begins at the end of the chunk before. If the file goes on after it (`at_end` is false), it
    /// must have at least [`MAX_CHUNK`] bytes: a cut never depends on how a file was read.
    #[must_use]
    pub fn cut(&self, data: &[u8], at_end: bool) -> Option<usize> {
        if data.is_empty() || (!at_end && data.len() < MAX_CHUNK) {
            return None;
        }
        let (_, length) = cut_gear(
            data,
            MIN_CHUNK,
            TARGET_CHUNK,
            MAX_CHUNK,
            MASK_BEFORE,
            MASK_AFTER,
            MASK_BEFORE << 1,
            MASK_AFTER << 1,
            &self.gear[..],
            &self.gear_shifted[..],
        );
        Some(length)
    }
}

impl fmt::Debug for Chunker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunker(…)")
    }
}
