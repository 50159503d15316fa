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
/// Places of a file that are hashed side by side.
const LANES: usize = 4;
/// Lengths that one of them covers at a time.
const STRIDE: usize = 1920;
/// Lengths between two encryptions.
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
        let mut at = from;
        while to - at >= LANES * STRIDE {
            if let Some(found) = self.first_in_lanes(data, at, mask) {
                return Some(found);
            }
            at += LANES * STRIDE;
        }
        let mut digest = self.digest(&data[at - WINDOW..at]);
        let mut inputs = [Block::default(); LANES * BATCH];
        while at < to {
            let count = inputs.len().min(to - at);
            let (leaving, entering) = (&data[at - WINDOW..], &data[at..]);
            for ((slot, &out), &next) in inputs[..count].iter_mut().zip(leaving).zip(entering) {
                set_first_word(slot, digest);
                digest = self.roll(digest, out, next);
            }
            if let Some(found) = self.first_hit(&inputs, count, mask) {
                return Some(at + found);
            }
            at += count;
        }
        None
    }

    /// Looks at `LANES * STRIDE` lengths from `from` on. Rolling is a chain of operations that wait for
    /// one another; several chains side by side keep the processor busy.
    fn first_in_lanes(&self, data: &[u8], from: usize, mask: u64) -> Option<usize> {
        let starts: [usize; LANES] = std::array::from_fn(|lane| from + lane * STRIDE);
        let mut digests = starts.map(|at| self.digest(&data[at - WINDOW..at]));
        let mut found = [None; LANES];
        let mut inputs = [Block::default(); LANES * BATCH];
        let mut outputs = inputs;
        for step in (0..STRIDE).step_by(BATCH) {
            let leaving = starts.map(|at| batch(data, at + step - WINDOW));
            let entering = starts.map(|at| batch(data, at + step));
            for i in 0..BATCH {
                for lane in 0..LANES {
                    set_first_word(&mut inputs[lane * BATCH + i], digests[lane]);
                    digests[lane] = self.roll(digests[lane], leaving[lane][i], entering[lane][i]);
                }
            }
            self.encrypt(&inputs, &mut outputs);
            if !outputs
                .iter()
                .fold(false, |any, block| any | is_hit(block, mask))
            {
                continue;
            }
            for lane in 0..LANES {
                let own = &outputs[lane * BATCH..][..BATCH];
                let hit = own.iter().position(|block| is_hit(block, mask));
                found[lane] = found[lane].or(hit.map(|i| starts[lane] + step + i));
            }
            if found[0].is_some() {
                break;
            }
        }
        found.into_iter().flatten().next()
    }

    /// Returns the first of `count` digests whose encryption ends in zeros.
    fn first_hit(&self, inputs: &[Block; LANES * BATCH], count: usize, mask: u64) -> Option<usize> {
        let mut outputs = [Block::default(); LANES * BATCH];
        self.encrypt(inputs, &mut outputs);
        outputs[..count]
            .iter()
            .position(|block| is_hit(block, mask))
    }

    fn encrypt(&self, inputs: &[Block], outputs: &mut [Block]) {
        self.aes
            .encrypt_blocks_b2b(inputs, outputs)
            .expect("as many blocks come out as go in");
    }

    fn digest(&self, window: &[u8]) -> u64 {
        window.iter().fold(0, |digest, &byte| {
            times_x(digest) ^ self.table[usize::from(byte)]
        })
    }

    fn roll(&self, digest: u64, out: u8, next: u8) -> u64 {
        times_x(digest) ^ self.table[usize::from(next)] ^ self.leaving[usize::from(out)]
    }
}

/// The bytes of one lane in one step.
fn batch(data: &[u8], at: usize) -> &[u8; BATCH] {
    data[at..]
        .first_chunk()
        .expect("all lanes end before the data does")
}

fn set_first_word(block: &mut Block, value: u64) {
    block[..8].copy_from_slice(&value.to_le_bytes());
}

fn is_hit(block: &Block, mask: u64) -> bool {
    let (word, _) = block.split_at(8);
    let word = u64::from_le_bytes(word.try_into().expect("a block has sixteen bytes"));
    word & mask == 0
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

#[cfg(test)]
mod attack;
#[cfg(test)]
mod tests;
