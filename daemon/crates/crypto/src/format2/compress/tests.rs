//! Frames that shrink, frames whose header gives a wrong length, and contexts that are used again.

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
fn a_frame_does_not_depend_on_the_frames_before_it() {
    let mut noise = vec![0; 70_000];
    SystemRandom.fill(&mut noise);
    let plains = [
        text(MAX_CHUNK),
        text(100),
        noise,
        text(300_000),
        vec![0; 1 << 20],
        text(100_000),
        text(16_000),
    ];
    for round in 0..3 {
        for plain in &plains {
            // A new thread has a context of its own.
            let fresh = std::thread::scope(|scope| scope.spawn(|| frame(plain)).join());
            let (fresh, used) = (fresh.unwrap().unwrap(), frame(plain).unwrap());
            assert_eq!(fresh, used, "{} bytes, round {round}", plain.len());
            assert!(decompress(&fresh[..fresh.len() - 1], plain.len()).is_err());
            assert_eq!(*decompress(&fresh, plain.len()).unwrap().0, *plain);
        }
    }
}

/// Another version may make other bytes of the same chunk, and so another object.
#[test]
fn the_version_of_zstd_is_the_one_that_made_what_is_stored() {
    assert_eq!(zstd_safe::version_number(), 10_507);
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
fn craft_frame(window: u8, size: u32, blocks: &[u8]) -> Vec<u8> {
    // Four bytes of size, a window byte, no checksum, no dictionary.
    let head = [&MAGIC[..], &[0x80, window], &size.to_le_bytes()].concat();
    [&head[..], blocks].concat()
}

/// A block that repeats one byte: 21 bits of length for four bytes of input.
fn repeat_block(length: u32, is_last: bool) -> Vec<u8> {
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
        let blocks = [repeat_block(128 * 1024, false), repeat_block(size, true)];
        let bytes = match round % 5 {
            0 => {
                let mut bytes = good.to_vec();
                let at = random() % bytes.len();
                bytes[at] = random() as u8;
                bytes
            }
            1 => good[..random() % good.len()].to_vec(),
            // More than the header says: hundreds of blocks of 128 KiB each.
            2 => craft_frame(random() as u8, size, &blocks[0].repeat(random() % 600)),
            3 => craft_frame(random() as u8, size, &blocks[1]),
            // Many blocks of nothing.
            _ => craft_frame(0, size, &repeat_block(0, false).repeat(random() % 2000)),
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
    let bytes = craft_frame(0x40, 5000, &repeat_block(5000, true));
    assert_eq!(*decompress(&bytes, 5000).unwrap().0, [b'x'; 5000]);
    let bomb = craft_frame(0x40, 5000, &repeat_block(128 * 1024, true));
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
