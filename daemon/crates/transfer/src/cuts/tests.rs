//! Expected chunks never change where a file is cut.

use super::*;
use cairn_crypto::SpaceKeys;
use cairn_crypto::format2::ObjectId;
use cairn_model::{NodeId, SpaceId};

const MIB: usize = 1024 * 1024;

fn key() -> NodeKey {
    let space = SpaceId::from_random_bytes([1; 16]);
    let keys = SpaceKeys::from_raw(space, 1, &[7; 32]).unwrap();
    keys.node_key(NodeId::from_random_bytes([2; 16]))
}

fn bytes(length: usize) -> Vec<u8> {
    let mut state = 99_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn cut(mut cuts: Cuts, mut data: &[u8]) -> (Vec<Plain>, Cuts) {
    let mut found = Vec::new();
    while let Some(cut) = cuts.next(data, true) {
        let (chunk, after) = data.split_at(cut.length);
        found.push((chunk.len() as u64, cut.hash_of(chunk)));
        data = after;
    }
    (found, cuts)
}

fn rows(chunks: &[Plain]) -> Vec<ChunkRow> {
    let row = |&(length, hash): &Plain| ChunkRow {
        key: 0,
        id: ObjectId([0; 32]),
        length,
        hash,
    };
    chunks.iter().map(row).collect()
}

/// Changes a content.
type Edit<'a> = &'a dyn Fn(&mut Vec<u8>);

#[test]
fn an_edited_file_is_cut_as_if_nothing_were_known_of_it() {
    let before = bytes(16 * MIB);
    let (chunks, _) = cut(Cuts::new(&key()), &before);
    assert!(chunks.len() > 8);
    let edits: [Edit<'_>; 9] = [
        &|_| {},
        &|data| data[7 * MIB] ^= 1,
        &|data| data.insert(0, 1),
        &|data| data.insert(9 * MIB, 1),
        &|data| drop(data.drain(3 * MIB..5 * MIB)),
        &|data| data.extend_from_slice(&[5; MIB]),
        &|data| data.truncate(12 * MIB + 5),
        // The end of a chunk of the version before is the end of the file.
        &|data| data.truncate((chunks[0].0 + chunks[1].0) as usize),
        &|data| data.rotate_left(chunks[0].0 as usize),
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        let mut after = before.clone();
        edit(&mut after);
        let (plain, _) = cut(Cuts::new(&key()), &after);
        let (known, _) = cut(Cuts::like(&key(), &rows(&chunks)), &after);
        assert_eq!(known, plain, "edit {number}");
    }
}

#[test]
fn a_file_that_goes_on_after_the_last_chunk_is_not_cut_there() {
    let before = bytes(6 * MIB);
    let (chunks, _) = cut(Cuts::new(&key()), &before);
    let last = chunks[chunks.len() - 1];
    let mut cuts = Cuts::like(&key(), &rows(&[last]));
    let start = before.len() - last.0 as usize;
    let mut data = before[start..].to_vec();
    data.resize(data.len() + 2 * MAX_CHUNK, 3);
    let found = cuts.next(&data, false).unwrap();
    assert_ne!(found.length as u64, last.0);
}

#[test]
fn chunks_that_stay_are_not_looked_for() {
    let before = bytes(8 * MIB);
    let (chunks, _) = cut(Cuts::new(&key()), &before);
    let (_, cuts) = cut(Cuts::like(&key(), &rows(&chunks)), &before);
    assert!(cuts.chunker.get().is_none());
    let (_, small) = cut(Cuts::new(&key()), &bytes(MIN_CHUNK));
    assert!(small.chunker.get().is_none());
}

#[test]
fn other_content_is_not_compared_for_ever() {
    let (chunks, _) = cut(Cuts::new(&key()), &bytes(16 * MIB));
    let other: Vec<u8> = bytes(16 * MIB).iter().map(|byte| byte ^ 0x5a).collect();
    let (_, cuts) = cut(Cuts::like(&key(), &rows(&chunks)), &other);
    assert!(cuts.misses >= MISSES);
}
