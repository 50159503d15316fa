//! Cuts found in blocks and at once are the same; a file of another length has changed.

use super::*;
use crate::local::BytesSource;
use cairn_crypto::{Random, SpaceKeys};
use cairn_model::SpaceId;

struct Numbers(u64);

impl Random for Numbers {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            *byte = self.0.to_be_bytes()[0];
        }
    }
}

fn bytes(length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    Numbers(length as u64 + 1).fill(&mut out);
    out
}

fn chunker() -> Chunker {
    Chunker::new(&SpaceKeys::from_raw(SpaceId::from_random_bytes([1; 16]), 1, &[7; 32]).unwrap())
}

fn both_ways(content: &[u8], size: u64) -> [Result<Scanned, TransferError>; 2] {
    let (chunker, key) = (chunker(), ContentKey::generate(&mut Numbers(5)));
    let stop = AtomicBool::new(false);
    let pass = Pass {
        size,
        chunker: &chunker,
        key: &key,
        stop: &stop,
    };
    let open = || BytesSource(content.to_vec().into()).open().unwrap();
    [pass.sequential(open()), pass.parallel(open())]
}

#[test]
fn reading_in_blocks_finds_the_same_cuts_as_reading_at_once() {
    let key = ContentKey::generate(&mut Numbers(5));
    for length in [
        0,
        1,
        256 * 1024,
        256 * 1024 + 1,
        BLOCK,
        5 * BLOCK + 3,
        23 * BLOCK + 17,
    ] {
        let content = bytes(length);
        let at_once = scan_bytes(&content, &chunker(), &key);
        assert_eq!(
            at_once.chunks.iter().map(|c| c.len as usize).sum::<usize>(),
            length
        );
        for scanned in both_ways(&content, length as u64) {
            assert_eq!(scanned.unwrap(), at_once, "{length} bytes");
        }
    }
}

#[test]
fn a_file_of_another_length_than_it_was_reported_has_changed() {
    let content = bytes(3 * BLOCK);
    for size in [0, 1, 3 * BLOCK as u64 - 1, 3 * BLOCK as u64 + 1, u64::MAX] {
        for scanned in both_ways(&content, size) {
            assert!(
                matches!(scanned, Err(TransferError::SourceChanged)),
                "{size}"
            );
        }
    }
}

#[test]
fn a_scan_that_nobody_waits_for_stops() {
    let (chunker, key) = (chunker(), ContentKey::generate(&mut Numbers(5)));
    let stop = StopOnDrop::default();
    let flag = stop.0.clone();
    drop(stop);
    let pass = Pass {
        size: 10,
        chunker: &chunker,
        key: &key,
        stop: &flag,
    };
    let reader = BytesSource(bytes(10).into()).open().unwrap();
    assert!(pass.sequential(reader).is_err());
}
