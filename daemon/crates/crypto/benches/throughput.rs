//! Prints how fast this machine hashes, cuts, seals, opens and compresses, in MB/s on one core, and how long
//! a passphrase takes.

use cairn_crypto::format2::{Chunker, Compression};
use cairn_crypto::{ARGON2ID, ContentHasher, KdfFields, Random, RootCost, SpaceKeys, SystemRandom};
use cairn_model::{NodeId, SpaceId};
use std::hint::black_box;
use std::time::Instant;

const MIB: usize = 1024 * 1024;
/// The bytes that each measurement works through.
const WORK: usize = 1024 * MIB;

fn main() {
    let mut random = SystemRandom;
    let keys =
        SpaceKeys::from_raw(SpaceId::from_random_bytes([1; 16]), 1, &[7; 32]).expect("a key");
    let mut plain = vec![0; MIB];
    random.fill(&mut plain);
    let mut hasher = ContentHasher::new();
    measure("whole hash", MIB, || hasher.update(black_box(&plain)));

    let mut data = vec![0; 64 * MIB];
    random.fill(&mut data);
    contents(&keys, &plain, &data);

    let cost = RootCost::DEFAULT;
    let kdf = KdfFields {
        algorithm: ARGON2ID.to_owned(),
        iterations: cost.passes,
        memory: Some(cost.memory),
        lanes: Some(cost.lanes),
        salt: vec![3; 32],
    };
    let begin = Instant::now();
    black_box(kdf.derive("passphrase")).expect("parameters within bounds");
    report(&format!(
        "{:<12} {:>8.2} s for 256 MiB, three times",
        "passphrase",
        begin.elapsed().as_secs_f64()
    ));
}

fn contents(keys: &SpaceKeys, plain: &[u8], data: &[u8]) {
    let key = keys.node_key(NodeId::from_random_bytes([2; 16]));
    let chunker = Chunker::new(&key);
    measure("chunking", data.len(), || {
        let mut rest = black_box(data);
        while let Some(length) = chunker.cut(rest, true) {
            rest = &rest[length..];
        }
    });
    let hash = *blake3::hash(plain).as_bytes();
    let sealed = key
        .seal_chunk(plain, Compression::Off)
        .expect("a short chunk");
    measure("seal", MIB, || {
        drop(black_box(key.seal_chunk(black_box(plain), Compression::On)));
    });
    measure("open", MIB, || {
        let length = plain.len() as u64;
        drop(black_box(key.open_chunk(
            &sealed.id,
            &sealed.bytes,
            length,
            &hash,
        )));
    });
    let text: Vec<u8> = (0..MIB as u32)
        .map(|i| b"fn (x) {;\n"[i.wrapping_mul(2_654_435_761) as usize % 10])
        .collect();
    measure("compress", MIB, || {
        drop(black_box(key.seal_chunk(black_box(&text), Compression::On)));
    });
}

fn measure(what: &str, bytes: usize, mut work: impl FnMut()) {
    work();
    let rounds = WORK / bytes;
    let begin = Instant::now();
    for _ in 0..rounds {
        work();
    }
    let speed = (rounds * bytes) as f64 / begin.elapsed().as_secs_f64() / 1e6;
    report(&format!("{what:<12} {speed:>8.0} MB/s"));
}

#[expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]
fn report(line: &str) {
    println!("{line}");
}
