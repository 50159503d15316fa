//! Valid and altered frames, with which the decoder of the share page is tested too: `frames.json` says
//! what each decodes to. `CAIRN_WRITE_VECTORS=1` writes it anew.

use super::*;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One frame with the hash of what it decodes to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Frame {
    /// Hexadecimal; zeros may follow the frame.
    bytes: String,
    length: usize,
    /// BLAKE3 of the plaintext; none for a frame that is refused.
    opens_to: Option<String>,
}

/// Pseudo-random numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }
}

/// Texts that make literals, repetitions and tables of several kinds.
fn plaintexts() -> Vec<Vec<u8>> {
    let mut numbers = Numbers(3);
    let words = [
        "keep ", "both ", "and ", "tell ", "them\n", "{}();", "\u{e9}",
    ];
    let mut text = |length: usize| {
        let mut out = Vec::new();
        while out.len() < length {
            out.extend_from_slice(words[numbers.next() % words.len()].as_bytes());
        }
        out.truncate(length);
        out
    };
    let mut all = vec![text(40), text(700), text(9000), vec![7; 5000]];
    // Few letters, none of which repeats another's run: literals alone.
    let skewed = (0..6000_u32).map(|n| b"aaaabbcd"[(n.wrapping_mul(2_654_435_761) >> 29) as usize]);
    all.push(skewed.collect());
    // Across two blocks of 128 KiB.
    let mut long = text(140_000);
    for at in (0..long.len()).step_by(37) {
        long[at] = (at / 37) as u8;
    }
    all.push(long);
    all
}

fn hash_of(bytes: &[u8], length: usize) -> Option<String> {
    let (plain, _) = decompress(bytes, length).ok()?;
    Some(blake3::hash(&plain).to_hex().to_string())
}

fn frames() -> Vec<Frame> {
    let mut numbers = Numbers(11);
    let mut all = Vec::new();
    let mut add = |bytes: &[u8], length: usize| {
        all.push(Frame {
            bytes: hex::encode(bytes),
            length,
            opens_to: hash_of(bytes, length),
        });
    };
    for (at, plain) in plaintexts().iter().enumerate() {
        let good = frame(plain).unwrap();
        let length = plain.len();
        add(&good, length);
        add(&[&good[..], &[0; 9]].concat(), length);
        add(&good, length + 1);
        // The long one takes much room in the file.
        let rounds = if at == 5 { 3 } else { 60 };
        for _ in 0..rounds {
            let mut bytes = good.to_vec();
            let place = numbers.next() % bytes.len();
            bytes[place] ^= 1 << (numbers.next() % 8);
            add(&bytes, length);
            if at != 5 {
                add(&good[..numbers.next() % good.len()], length);
            }
        }
    }
    all
}

#[test]
fn every_frame_opens_to_what_the_vectors_say() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/vectors/zstd/frames.json");
    if std::env::var_os("CAIRN_WRITE_VECTORS").is_some() {
        let text = serde_json::to_string_pretty(&frames()).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let known: Vec<Frame> = serde_json::from_str(&text).unwrap();
    let good = known.iter().filter(|frame| frame.opens_to.is_some());
    assert!(good.count() >= 12 && known.len() >= 500);
    for frame in &known {
        let bytes = hex::decode(&frame.bytes).unwrap();
        assert_eq!(hash_of(&bytes, frame.length), frame.opens_to, "{frame:?}");
    }
}
