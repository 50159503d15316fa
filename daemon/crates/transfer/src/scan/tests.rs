//! Cuts found in blocks and at once are the same; a file of another length has changed.

use super::*;
use crate::local::BytesSource;
use cairn_crypto::SpaceKeys;
use cairn_model::{NodeId, SpaceId};

fn bytes(length: usize) -> Vec<u8> {
    let mut state = length as u64 + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn cuts() -> Cuts {
    let space = SpaceId::from_random_bytes([1; 16]);
    let keys = SpaceKeys::from_raw(space, 1, &[7; 32]).unwrap();
    Cuts::new(&keys.node_key(NodeId::from_random_bytes([2; 16])))
}

/// Lengths and hashes of the chunks.
#[derive(Default, Debug, PartialEq)]
struct Seen(Vec<(usize, ContentHash)>);

impl Chunks for Seen {
    fn chunk(&mut self, plain: &[u8], hash: [u8; 32]) -> Result<(), TransferError> {
        assert_eq!(hash, content_hash(plain).0);
        self.0.push((plain.len(), ContentHash(hash)));
        Ok(())
    }
}

fn both_ways(content: &[u8], size: u64) -> [Scanned<Seen>; 2] {
    let stop = AtomicBool::new(false);
    let pass = Pass { size, stop: &stop };
    let open = || BytesSource(content.to_vec().into()).open().unwrap();
    let one = pass.sequential(open(), cuts(), Seen::default());
    [one, pass.parallel(open(), cuts(), Seen::default())]
}

#[test]
fn reading_in_blocks_finds_the_same_cuts_as_reading_at_once() {
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
        let mut seen = Seen::default();
        let hash = scan_bytes(&content, cuts(), &mut seen).unwrap();
        assert_eq!(seen.0.iter().map(|(len, _)| len).sum::<usize>(), length);
        assert!(!seen.0.is_empty());
        for scanned in both_ways(&content, length as u64) {
            let (chunks, whole) = scanned.unwrap();
            assert_eq!((&chunks, whole), (&seen, hash), "{length} bytes");
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

/// Fails at the third chunk.
struct Failing(usize);

impl Chunks for Failing {
    fn chunk(&mut self, _plain: &[u8], _hash: [u8; 32]) -> Result<(), TransferError> {
        self.0 += 1;
        if self.0 == 3 {
            return Err(TransferError::UploadLost);
        }
        Ok(())
    }
}

#[test]
fn a_chunk_that_fails_ends_the_scan_on_all_threads() {
    let content = bytes(30 * BLOCK);
    let stop = AtomicBool::new(false);
    let pass = Pass {
        size: content.len() as u64,
        stop: &stop,
    };
    let open = || BytesSource(content.clone().into()).open().unwrap();
    let failed = [
        pass.sequential(open(), cuts(), Failing(0)),
        pass.parallel(open(), cuts(), Failing(0)),
    ];
    for one in failed {
        assert!(matches!(one, Err(TransferError::UploadLost)));
    }
}

#[test]
fn a_scan_that_nobody_waits_for_stops() {
    let stop = StopOnDrop::default();
    let flag = stop.0.clone();
    drop(stop);
    let pass = Pass {
        size: 10,
        stop: &flag,
    };
    let reader = BytesSource(bytes(10).into()).open().unwrap();
    assert!(pass.sequential(reader, cuts(), Seen::default()).is_err());
}
