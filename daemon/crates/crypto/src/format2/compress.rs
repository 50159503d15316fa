//! The payload of a chunk: raw, or one zstd frame (RFC 8878), whichever is clearly shorter.
//!
//! Each chunk is compressed alone, so that its length says nothing about other files. A frame is opened
//! into a buffer of the length that was signed, so that it can't grow beyond it.

use crate::error::{CryptoError, Result};
use crate::format2::chunker::MAX_CHUNK;
use crate::pad::padme;
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

/// A folder's choice between small objects and objects whose lengths say nothing about their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Compression {
    /// Compresses what shrinks.
    #[default]
    On,
    /// Leaves all chunks as they are: where strangers can put text beside secrets, lengths tell.
    Off,
}

/// Returns the codec and the frame for a chunk; `None` leaves it raw.
pub(crate) fn compress(plain: &[u8], choice: Compression) -> Option<Zeroizing<Vec<u8>>> {
    if choice == Compression::Off || plain.is_empty() || !sample_shrinks(plain) {
        return None;
    }
    let frame = frame(plain)?;
    let (before, after) = (padded(plain.len()), padded(frame.len()));
    // Less than three in a hundred isn't worth the time that opening takes.
    (after * 100 <= before * 97).then_some(frame)
}

fn padded(payload: usize) -> u64 {
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
    let mut compressor = Compressor::new(LEVEL).ok()?;
    for parameter in [
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(false),
        CParameter::DictIdFlag(false),
        CParameter::WindowLog(WINDOW_LOG.min(window_for(plain.len()))),
    ] {
        compressor.set_parameter(parameter).ok()?;
    }
    compressor.compress(plain).ok().map(Zeroizing::new)
}

/// Level 3's own window is 2 MiB; smaller inputs need less.
fn window_for(length: usize) -> u32 {
    length.next_power_of_two().ilog2().clamp(10, 21)
}

/// Opens a frame that zeros may follow, into exactly `length` bytes. Returns the plaintext and the
/// length of the frame.
///
/// # Errors
/// [`CryptoError::Opaque`] for anything but one such frame.
pub(crate) fn decompress(payload: &[u8], length: usize) -> Result<(Zeroizing<Vec<u8>>, usize)> {
    if length > MAX_CHUNK || !payload.starts_with(&MAGIC) {
        return Err(CryptoError::Opaque);
    }
    let size = zstd_safe::get_frame_content_size(payload).map_err(|_| CryptoError::Opaque)?;
    if size != Some(length as u64) || zstd_safe::get_dict_id_from_frame(payload).is_some() {
        return Err(CryptoError::Opaque);
    }
    // Nobody writes a checksum: the seal and the hash of the plaintext say more.
    if payload.get(4).is_none_or(|flags| flags & CHECKSUM != 0) {
        return Err(CryptoError::Opaque);
    }
    // Reads the headers of the blocks alone.
    let end = zstd_safe::find_frame_compressed_size(payload).map_err(|_| CryptoError::Opaque)?;
    let frame = payload.get(..end).ok_or(CryptoError::Opaque)?;
    let mut plain = Zeroizing::new(vec![0; length]);
    let written = DCtx::create()
        .decompress(&mut plain[..], frame)
        .map_err(|_| CryptoError::Opaque)?;
    if written != length {
        return Err(CryptoError::Opaque);
    }
    Ok((plain, end))
}

#[cfg(test)]
mod frames;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random as _, SystemRandom};
    use proptest::prelude::*;

    fn text(length: usize) -> Vec<u8> {
        let words = ["keep ", "both ", "and ", "tell ", "them\n"];
        let mut state = 1_u32;
        let mut out = Vec::new();
        while out.len() < length {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            out.extend_from_slice(words[(state >> 24) as usize % 5].as_bytes());
        }
        out.truncate(length);
        out
    }

    #[test]
    fn text_shrinks_and_comes_back() {
        for length in [100, 5000, 300_000, MAX_CHUNK] {
            let plain = text(length);
            let frame = compress(&plain, Compression::On).unwrap();
            assert!(frame.len() < length);
            let mut payload = frame.to_vec();
            payload.resize(frame.len() + 50, 0);
            let (opened, end) = decompress(&payload, length).unwrap();
            assert_eq!((&opened[..], end), (&plain[..], frame.len()));
        }
    }

    #[test]
    fn what_does_not_shrink_stays_raw() {
        let mut noise = vec![0; 100_000];
        SystemRandom.fill(&mut noise);
        assert!(compress(&noise, Compression::On).is_none());
        assert!(compress(&noise[..100], Compression::On).is_none());
        assert!(compress(b"", Compression::On).is_none());
        assert!(compress(&text(5000), Compression::Off).is_none());
    }

    #[test]
    fn a_frame_opens_to_the_signed_length_only() {
        let plain = text(5000);
        let frame = frame(&plain).unwrap();
        for length in [0, 4999, 5001, MAX_CHUNK, MAX_CHUNK + 1] {
            assert!(decompress(&frame, length).is_err(), "{length}");
        }
        assert!(decompress(&frame[..frame.len() - 1], 5000).is_err());
        let skippable = [&0x184d_2a50_u32.to_le_bytes()[..], &[0; 4], &frame].concat();
        assert!(decompress(&skippable, 5000).is_err());
        assert!(decompress(&[], 0).is_err());
    }

    #[test]
    fn a_frame_that_hides_its_size_is_refused() {
        let mut compressor = Compressor::new(LEVEL).unwrap();
        compressor
            .set_parameter(CParameter::ContentSizeFlag(false))
            .unwrap();
        let frame = compressor.compress(&text(5000)).unwrap();
        assert!(decompress(&frame, 5000).is_err());
    }

    /// A header that says `size`, and blocks behind it (RFC 8878, section 3.1.1).
    fn crafted(window: u8, size: u32, blocks: &[u8]) -> Vec<u8> {
        // Four bytes of size, a window byte, no checksum, no dictionary.
        let head = [&MAGIC[..], &[0x80, window], &size.to_le_bytes()].concat();
        [&head[..], blocks].concat()
    }

    /// A block that repeats one byte: 21 bits of length for four bytes of input.
    fn repeated(length: u32, is_last: bool) -> Vec<u8> {
        let head = length << 3 | 1 << 1 | u32::from(is_last);
        [&head.to_le_bytes()[..3], b"x"].concat()
    }

    /// Ten thousand frames that a hostile writer may make: each ends in an error, or in bytes of the signed
    /// length in a buffer of that length.
    #[test]
    fn ten_thousand_hostile_frames_are_bounded() {
        let good = frame(&text(5000)).unwrap();
        let (mut state, mut opened) = (7_u64, 0);
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize
        };
        for round in 0..10_000 {
            let length = if round % 3 == 0 {
                5000
            } else {
                random() % 6000
            };
            let size = length as u32;
            let blocks = [repeated(128 * 1024, false), repeated(size, true)];
            let bytes = match round % 5 {
                0 => {
                    let mut bytes = good.to_vec();
                    let at = random() % bytes.len();
                    bytes[at] = random() as u8;
                    bytes
                }
                1 => good[..random() % good.len()].to_vec(),
                // More than the header says: hundreds of blocks of 128 KiB each.
                2 => crafted(random() as u8, size, &blocks[0].repeat(random() % 600)),
                3 => crafted(random() as u8, size, &blocks[1]),
                // Many blocks of nothing.
                _ => crafted(0, size, &repeated(0, false).repeat(random() % 2000)),
            };
            if let Ok((plain, end)) = decompress(&bytes, length) {
                assert_eq!((plain.len(), plain.capacity()), (length, length));
                assert!(end <= bytes.len());
                opened += 1;
            }
        }
        assert!(opened > 0, "all frames failed at their header");
    }

    #[test]
    fn a_frame_of_repeated_bytes_opens_only_to_what_it_says() {
        let bytes = crafted(0x40, 5000, &repeated(5000, true));
        assert_eq!(*decompress(&bytes, 5000).unwrap().0, [b'x'; 5000]);
        let bomb = crafted(0x40, 5000, &repeated(128 * 1024, true));
        assert!(decompress(&bomb, 5000).is_err());
    }

    proptest! {
        /// A frame with changed bytes gives an error or bytes of the signed length, never more.
        #[test]
        fn hostile_frames_stay_within_the_buffer(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            length in 0..6000_usize,
        ) {
            let mut frame = frame(&text(5000)).unwrap().to_vec();
            for (at, value) in changes {
                let at = at.index(frame.len());
                frame[at] = value;
            }
            if let Ok((plain, end)) = decompress(&frame, length) {
                prop_assert_eq!(plain.len(), length);
                prop_assert!(end <= frame.len());
            }
        }
    }
}
