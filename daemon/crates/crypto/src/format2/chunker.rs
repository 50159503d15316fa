//! Cuts files into chunks: a Toeplitz hash of the last 64 bytes, encrypted with AES before it is looked
//! at (a universal hash and then a pseudorandom function: Truong, Merz, Scarlata, Günther and Paterson,
//! "Breaking and Fixing Content-Defined Chunking", 2025, and Borg 2's `toeplitz-aes`).
//!
//! The places where a file is cut say nothing about its content or the key, up to the bound of that
//! paper: two windows with one hash. So repeats of the same bytes within a file can show, and a run of one
//! byte does: it is cut at once or at the longest length. Each node has a key of its own, so equal files are
//! cut differently.

use crate::format2::keys::NodeKey;
use aes::cipher::{BlockCipherEncrypt as _, KeyInit as _, KeyIvInit as _, StreamCipher as _};
use aes::{Aes128, Aes256, Block};
use cairn_log::AssociatedData;
use std::fmt;
use zeroize::Zeroizing;

/// The first length at which a chunk may end before its file does, in bytes.
pub const MIN_CHUNK: usize = 1 << 18;
/// Cuts become 64 times as likely from this length on, in bytes.
const NORMAL_CHUNK: usize = 1 << 20;
/// The longest chunk, in bytes.
pub const MAX_CHUNK: usize = 1 << 22;

/// Bytes that a decision depends on.
const WINDOW: usize = 64;
/// Bits that have to be zero, below and from [`NORMAL_CHUNK`] on.
const MASK_BEFORE: u64 = (1 << 23) - 1;
const MASK_AFTER: u64 = (1 << 17) - 1;
/// x^4 + x^3 + x + 1: what x^64 is modulo the polynomial of the hash.
const REDUCTION: u64 = 0x1b;
/// Digests that are encrypted in one call, where AES is computed in software.
const BATCH: usize = 240;

/// Finds the cuts of one node's files.
#[derive(Clone)]
pub struct Chunker {
    table: Zeroizing<[u64; 256]>,
    /// The table times x^64: takes a byte out of the window.
    leaving: Zeroizing<[u64; 256]>,
    aes: Aes128,
}

impl Chunker {
    /// Makes the chunker of a node.
    #[must_use]
    pub fn new(key: &NodeKey) -> Self {
        let cut = key.key.derive(&AssociatedData::new("cairn/2/cut"));
        Self::from_key(cut.bytes())
    }

    /// Makes a chunker of the keystream of AES-256-CTR: an AES-128 key and 256 numbers, little-endian.
    fn from_key(key: &[u8; 32]) -> Self {
        let mut stream = Zeroizing::new([0; 16 + 256 * 8]);
        ctr::Ctr128BE::<Aes256>::new(key.into(), &[0; 16].into()).apply_keystream(&mut *stream);
        let mut aes_key = Zeroizing::new([0; 16]);
        aes_key.copy_from_slice(&stream[..16]);
        let mut table = Zeroizing::new([0; 256]);
        for (value, bytes) in table.iter_mut().zip(stream[16..].as_chunks::<8>().0) {
            *value = u64::from_le_bytes(*bytes);
        }
        let leaving = Zeroizing::new(table.map(|value| (0..64).fold(value, |v, _| times_x(v))));
        Self {
            table,
            leaving,
            aes: Aes128::new((&*aes_key).into()),
        }
    }

    /// Returns the length of the first chunk of `data`, or `None` if that needs more data (or there is
    /// none).
    ///
    /// `data` begins at the end of the chunk before. If the file goes on after it (`at_end` is false), it
    /// must have at least 4 MiB: a cut never depends on how a file was read.
    #[must_use]
    pub fn cut(&self, data: &[u8], at_end: bool) -> Option<usize> {
        if data.is_empty() || (!at_end && data.len() < MAX_CHUNK) {
            return None;
        }
        if data.len() <= MIN_CHUNK {
            return Some(data.len());
        }
        let data = &data[..data.len().min(MAX_CHUNK)];
        let normal = data.len().min(NORMAL_CHUNK);
        let found = self
            .first_cut(data, MIN_CHUNK, normal, MASK_BEFORE)
            .or_else(|| self.first_cut(data, normal, data.len(), MASK_AFTER));
        Some(found.unwrap_or(data.len()))
    }

    /// Returns the first length from `from` on and below `to` at which a cut is made.
    fn first_cut(&self, data: &[u8], from: usize, to: usize, mask: u64) -> Option<usize> {
        if aes::hardware_accelerated() {
            search::first_cut(self, &data[..to], from, mask)
        } else {
            self.first_cut_in_batches(&data[..to], from, mask)
        }
    }

    /// Cuts where [`first_cut`](Self::first_cut) does, by AES in software, which encrypts several blocks in the time of one.
    fn first_cut_in_batches(&self, data: &[u8], from: usize, mask: u64) -> Option<usize> {
        let mut at = from;
        let mut digest = self.digest(&data[at - WINDOW..at]);
        let mut inputs = [Block::default(); BATCH];
        while at < data.len() {
            let (leaving, entering) = (&data[at - WINDOW..], &data[at..]);
            for ((slot, &out), &next) in inputs.iter_mut().zip(leaving).zip(entering) {
                *slot = block_of(digest);
                digest = self.roll(digest, out, next);
            }
            let count = BATCH.min(data.len() - at);
            if let Some(found) = self.first_hit(&inputs, count, mask) {
                return Some(at + found);
            }
            at += count;
        }
        None
    }

    /// Returns the first of `count` digests whose encryption ends in zeros.
    fn first_hit(&self, inputs: &[Block; BATCH], count: usize, mask: u64) -> Option<usize> {
        let mut outputs = [Block::default(); BATCH];
        self.aes
            .encrypt_blocks_b2b(inputs, &mut outputs)
            .expect("as many blocks come out as go in");
        let mut outputs = outputs[..count].iter();
        outputs.position(|block| first_word(block) & mask == 0)
    }

    fn digest(&self, window: &[u8]) -> u64 {
        window.iter().fold(0, |digest, &byte| {
            times_x(digest) ^ self.table[usize::from(byte)]
        })
    }

    #[inline]
    fn roll(&self, digest: u64, out: u8, next: u8) -> u64 {
        times_x(digest) ^ self.table[usize::from(next)] ^ self.leaving[usize::from(out)]
    }
}

/// A digest as the cipher takes it; zeros follow.
fn block_of(digest: u64) -> Block {
    let mut block = Block::default();
    block[..8].copy_from_slice(&digest.to_le_bytes());
    block
}

fn first_word(block: &Block) -> u64 {
    let (word, _) = block.split_at(8);
    u64::from_le_bytes(word.try_into().expect("a block has sixteen bytes"))
}

/// Multiplies a polynomial by x.
fn times_x(value: u64) -> u64 {
    (value << 1) ^ (REDUCTION & (value >> 63).wrapping_neg())
}

impl fmt::Debug for Chunker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunker(…)")
    }
}

mod search;

#[cfg(test)]
mod attack;
#[cfg(test)]
mod tests;
