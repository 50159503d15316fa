//! The payload of a chunk: raw, or one zstd frame (RFC 8878), whichever is clearly shorter.
//!
//! Each chunk is compressed alone, so that its length says nothing about other files. A frame is opened
//! into a buffer of the length that was signed, so that it can't grow beyond it.

use crate::error::{CryptoError, Result};
use crate::format2::chunker::MAX_CHUNK;
use crate::pad::padme;
use std::cell::RefCell;
use zeroize::Zeroizing;
use zstd::bulk::Compressor;
use zstd::zstd_safe::{self, CParameter, DCtx};

/// Payload as it is.
pub(crate) const RAW: u8 = 0;
/// Payload as one zstd frame.
pub(crate) const ZSTD: u8 = 1;

const LEVEL: i32 = 3;
/// 4 MiB: no frame needs a longer window than the longest chunk.
const WINDOW_LOG: u32 = 22;
const SAMPLES: usize = 4;
const SAMPLE: usize = 4096;
/// The bit of a frame's header that announces a checksum.
const CHECKSUM: u8 = 4;
/// The first bytes of a frame; skippable frames have others.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

thread_local! {
    // Made once: making them takes longer than a short chunk does. Frames don't depend on earlier ones.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// A file's choice between small objects and objects whose lengths say nothing about their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Compression {
    /// Compresses what shrinks.
    #[default]
    On,
    /// Leaves all chunks uncompressed: where others can put text beside secrets, compressed lengths reveal them.
    Off,
}

/// Returns the codec and the frame for a chunk; `None` leaves it raw.
pub(crate) fn compress(plain: &[u8], choice: Compression) -> Option<Zeroizing<Vec<u8>>> {
    if choice == Compression::Off || plain.is_empty() || !sample_shrinks(plain) {
        return None;
    }
    let frame = frame(plain)?;
    let (before, after) = (padded_length(plain.len()), padded_length(frame.len()));
    // Less than three in a hundred isn't worth the time that opening takes.
    (after * 100 <= before * 97).then_some(frame)
}

fn padded_length(payload: usize) -> u64 {
    padme(1 + payload as u64)
}

/// Tries four samples: what is compressed already is found out in a hundredth of the time.
fn sample_shrinks(plain: &[u8]) -> bool {
    if plain.len() <= SAMPLES * SAMPLE {
        return true;
    }
    let step = (plain.len() - SAMPLE) / (SAMPLES - 1);
    let samples = (0..SAMPLES).flat_map(|i| &plain[i * step..i * step + SAMPLE]);
    let samples: Zeroizing<Vec<u8>> = Zeroizing::new(samples.copied().collect());
    let length = frame(&samples).map_or(usize::MAX, |frame| frame.len());
    length.saturating_mul(100) <= samples.len() * 95
}

/// Makes one frame: its size in its header, no checksum (the seal has one), no dictionary, one thread.
pub(crate) fn frame(plain: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(Compressor::new(LEVEL).ok()?),
        };
        for parameter in [
            CParameter::ContentSizeFlag(true),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
            CParameter::WindowLog(WINDOW_LOG.min(window_for(plain.len()))),
        ] {
            compressor.set_parameter(parameter).ok()?;
        }
        compressor.compress(plain).ok().map(Zeroizing::new)
    })
}

/// Level 3's own window is 2 MiB; smaller inputs need less.
fn window_for(length: usize) -> u32 {
    length.next_power_of_two().ilog2().clamp(10, 21)
}

/// Opens a frame that zeros may follow, into exactly `length` bytes. Returns the plaintext and the
/// length of the frame.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for anything but one such frame.
pub(crate) fn decompress(payload: &[u8], length: usize) -> Result<(Zeroizing<Vec<u8>>, usize)> {
    if length > MAX_CHUNK || !payload.starts_with(&MAGIC) {
        return Err(CryptoError::NotAuthentic);
    }
    let size = zstd_safe::get_frame_content_size(payload).map_err(|_| CryptoError::NotAuthentic)?;
    if size != Some(length as u64) || zstd_safe::get_dict_id_from_frame(payload).is_some() {
        return Err(CryptoError::NotAuthentic);
    }
    // Nobody writes a checksum: the seal and the hash of the plaintext say more.
    if payload.get(4).is_none_or(|flags| flags & CHECKSUM != 0) {
        return Err(CryptoError::NotAuthentic);
    }
    // Reads the headers of the blocks alone.
    let end =
        zstd_safe::find_frame_compressed_size(payload).map_err(|_| CryptoError::NotAuthentic)?;
    let frame = payload.get(..end).ok_or(CryptoError::NotAuthentic)?;
    let mut plain = Zeroizing::new(vec![0; length]);
    let written = DECOMPRESSOR.with_borrow_mut(|kept| {
        kept.get_or_insert_with(DCtx::create)
            .decompress(&mut plain[..], frame)
    });
    let written = written.map_err(|_| CryptoError::NotAuthentic)?;
    if written != length {
        return Err(CryptoError::NotAuthentic);
    }
    Ok((plain, end))
}

#[cfg(test)]
mod frames;
#[cfg(test)]
mod tests;
