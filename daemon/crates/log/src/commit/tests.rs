//! Commits: round trips, limits, and every byte under the signature.

use super::*;
use crate::test_key::{TestKey, sign_commit};
use proptest::prelude::*;

fn space(n: u8) -> SpaceId {
    SpaceId::from_random_bytes([n; 16])
}

fn key(n: u8) -> TestKey {
    TestKey::from_seed(&[n; 32])
}

fn header() -> CommitHeader {
    CommitHeader {
        history: [1; 16],
        device: 77,
        own: 500,
        seen: 64,
        root: [2; 32],
        clock_ms: 1_700_000_000_000,
        count: 0,
    }
}

fn commit() -> Commit {
    let statements = vec![b"one".to_vec(), b"another".to_vec(), Vec::new()];
    sign_commit(space(1), header(), statements, &key(1)).unwrap()
}

#[test]
fn a_commit_and_its_leaf_come_back() {
    let commit = commit();
    assert_eq!(Commit::decode(&commit.encode()), Ok(commit.clone()));
    let leaf = commit.leaf();
    assert_eq!(CommitLeaf::decode(&leaf.encode()), Ok(leaf.clone()));
    assert!(commit.verify(space(1), &key(1).public()).is_ok());
    assert!(leaf.verify(space(1), &key(1).public()).is_ok());
    assert!(leaf.verify(space(2), &key(1).public()).is_err());
    assert!(leaf.verify(space(1), &key(2).public()).is_err());
}

#[test]
fn each_byte_of_a_commit_is_signed() {
    let bytes = commit().encode();
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        let verified = Commit::decode(&bad).and_then(|c| c.verify(space(1), &key(1).public()));
        assert!(verified.is_err(), "byte {at}");
        assert!(Commit::decode(&bytes[..at]).is_err());
    }
    assert!(Commit::decode(&[&bytes[..], &[0]].concat()).is_err());
}

#[test]
fn a_commit_has_its_bounds() {
    let sign = |statements| sign_commit(space(1), header(), statements, &key(1));
    assert!(sign(Vec::new()).is_err());
    assert!(sign(vec![vec![1]; MAX_STATEMENTS]).is_ok());
    assert!(sign(vec![vec![1]; MAX_STATEMENTS + 1]).is_err());
    assert!(sign(vec![vec![0; MAX_COMMIT]]).is_err());
    let nobody = CommitHeader {
        device: 0,
        ..header()
    };
    assert!(sign_commit(space(1), nobody, vec![vec![1]], &key(1)).is_err());
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = [&MAGIC[..], &bytes].concat();
        if let Ok(commit) = Commit::decode(&bytes) {
            prop_assert_eq!(commit.encode(), &bytes[..]);
        }
        if let Ok(leaf) = CommitLeaf::decode(&bytes) {
            prop_assert_eq!(leaf.encode(), bytes);
        }
    }
}
