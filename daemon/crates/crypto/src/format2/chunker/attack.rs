//! An attack on chunkers whose hash is linear, described in "Breaking and Fixing Content-Defined Chunking"
//! (IACR ePrint 2025/558): from observed cuts, others are predicted without the key.
//!
//! An attacker who may plant a file of two letters a and b and sees its chunks' lengths knows windows w
//! at which it was cut. Written as numbers, such windows have the hash D·w - A in FastCDC, with two
//! unknowns that the key decides. So w1 + w2 - w3 has the hash h1 + h2 - h3: where the mask's bits of
//! all three are zero, those of the sum nearly are. The same over GF(2) is w1 ^ w2 ^ w3 for a Toeplitz
//! hash.

use super::tests::{keystream, lengths};
use super::*;
use fastcdc::v2020::{MASKS, cut_gear};

/// Files of two letters are this long; each has some tens of cuts.
const PLANTED: usize = 48 << 20;
/// Windows that are predicted in each attack.
const GUESSES: usize = 400;

/// One letter for each bit.
fn letter(bit: bool) -> u8 {
    if bit { b'b' } else { b'a' }
}

fn window(number: u64) -> [u8; 64] {
    std::array::from_fn(|i| letter(number >> (63 - i) & 1 == 1))
}

fn number(window: &[u8]) -> u64 {
    window
        .iter()
        .fold(0, |n, &byte| n << 1 | u64::from(byte == letter(true)))
}

/// The windows at which a planted file is cut by its content; a chunker looks at `behind` bytes after a
/// cut, too.
fn observed_windows(cut: impl Fn(&[u8]) -> Option<usize>, behind: usize) -> Vec<u64> {
    let mut data = Vec::with_capacity(PLANTED);
    for byte in keystream([0x77; 32], PLANTED / 8) {
        data.extend((0..8).map(|i| letter(byte >> i & 1 == 1)));
    }
    let (mut windows, mut end) = (Vec::new(), 0);
    for length in lengths(&data, cut) {
        end += length;
        // Only cuts beyond the normal length, so that all were found with the same mask.
        if (NORMAL_CHUNK + WINDOW..MAX_CHUNK).contains(&length) && end + behind < data.len() {
            windows.push(number(&data[end + behind - WINDOW..end + behind]));
        }
    }
    windows
}

/// Counts how many of the windows that `combine` computes from three observed ones are cuts.
fn count_predicted_cuts(
    windows: &[u64],
    combine: impl Fn(u64, u64, u64) -> u64,
    is_cut: impl Fn(&[u8; 64]) -> bool,
) -> usize {
    assert!(windows.len() >= 16, "only {} cuts were seen", windows.len());
    let mut guesses = std::collections::BTreeSet::new();
    'all: for (i, &a) in windows.iter().enumerate() {
        for (j, &b) in windows[..i].iter().enumerate() {
            for &c in &windows[..j] {
                guesses.insert(combine(a, b, c));
                if guesses.len() == GUESSES {
                    break 'all;
                }
            }
        }
    }
    assert!(guesses.len() == GUESSES, "only {} guesses", guesses.len());
    guesses
        .iter()
        .filter(|&&guess| is_cut(&window(guess)))
        .count()
}

/// Returns a file with a window that ends `behind` bytes after a place at which cuts are likely, and that
/// place.
fn plant_window(window: &[u8; 64], behind: usize) -> (Vec<u8>, usize) {
    let end = NORMAL_CHUNK + 4096;
    let mut data = vec![letter(false); end + MIN_CHUNK];
    data[end + behind - WINDOW..end + behind].copy_from_slice(window);
    (data, end)
}

fn toeplitz() -> Chunker {
    Chunker::from_key(&[0x42; 32])
}

/// FastCDC with the same bounds and a secret table: the chunker that was used before this one.
fn fastcdc(key: &[u8; 32]) -> impl Fn(&[u8]) -> Option<usize> {
    let mut reader = blake3::Hasher::new_keyed(key).finalize_xof();
    let gear: [u64; 256] = std::array::from_fn(|_| {
        let mut bytes = [0; 8];
        reader.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    });
    let shifted = gear.map(|value| value << 1);
    let (before, after) = (MASKS[23], MASKS[17]);
    move |data| {
        let bounds = (MIN_CHUNK, NORMAL_CHUNK, MAX_CHUNK);
        let (_, length) = cut_gear(
            data,
            bounds.0,
            bounds.1,
            bounds.2,
            before,
            after,
            before << 1,
            after << 1,
            &gear,
            &shifted,
        );
        (!data.is_empty()).then_some(length)
    }
}

#[test]
fn cuts_of_fastcdc_predict_others() {
    let chunker = fastcdc(&[7; 32]);
    let windows = observed_windows(&chunker, 1);
    let sum = |a: u64, b: u64, c: u64| a.wrapping_add(b).wrapping_sub(c);
    let hits = count_predicted_cuts(&windows, sum, |window| {
        let (data, end) = plant_window(window, 1);
        chunker(&data) == Some(end)
    });
    // By chance, about one in 300 such attacks would have a single hit.
    assert!(hits >= 4, "{hits} of {GUESSES} guesses were cuts");
}

#[test]
fn cuts_of_format_2_predict_none() {
    let chunker = toeplitz();
    let windows = observed_windows(|rest| chunker.cut(rest, true), 0);
    let is_cut = |window: &[u8; 64]| {
        let (data, end) = plant_window(window, 0);
        chunker.cut(&data, true) == Some(end)
    };
    assert_eq!(
        count_predicted_cuts(&windows, |a, b, c| a ^ b ^ c, is_cut),
        0
    );
    let sum = |a: u64, b: u64, c: u64| a.wrapping_add(b).wrapping_sub(c);
    assert_eq!(count_predicted_cuts(&windows, sum, is_cut), 0);
}

#[test]
fn without_the_cipher_every_guess_would_be_a_cut() {
    let chunker = toeplitz();
    // The same chunker with the digest itself in place of its encryption.
    let bare = |data: &[u8]| {
        if data.len() <= NORMAL_CHUNK {
            return (!data.is_empty()).then_some(data.len());
        }
        let mut digest = chunker.digest(&data[NORMAL_CHUNK - WINDOW..NORMAL_CHUNK]);
        for at in NORMAL_CHUNK..data.len().min(MAX_CHUNK) {
            if digest & MASK_AFTER == 0 {
                return Some(at);
            }
            digest = chunker.roll(digest, data[at - WINDOW], data[at]);
        }
        Some(data.len().min(MAX_CHUNK))
    };
    let windows = observed_windows(bare, 0);
    let is_cut = |window: &[u8; 64]| chunker.digest(window) & MASK_AFTER == 0;
    let guesses = count_predicted_cuts(&windows, |a, b, c| a ^ b ^ c, |_| true);
    assert_eq!(
        count_predicted_cuts(&windows, |a, b, c| a ^ b ^ c, is_cut),
        guesses
    );
}
