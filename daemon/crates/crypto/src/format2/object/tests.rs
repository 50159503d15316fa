//! Objects: what opens, and that everything else is refused.

use super::*;
use crate::format2::keys::SpaceSecret;
use cairn_model::{NodeId, SpaceId};
use proptest::prelude::*;

fn key(space: u8, epoch: u64, node: u8) -> NodeKey {
    let space = SpaceId::from_random_bytes([space; 16]);
    let secret = SpaceSecret::from_bytes(space, epoch, &[7; 32]).unwrap();
    secret.keys().node(NodeId::from_random_bytes([node; 16]))
}

fn open(key: &NodeKey, object: &SealedObject, plain: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let hash = *blake3::hash(plain).as_bytes();
    key.open_chunk(&object.id, &object.bytes, plain.len() as u64, &hash)
}

#[test]
fn a_chunk_opens_with_the_key_that_sealed_it_only() {
    let plain = b"so long and thanks ".repeat(100);
    for compression in [Compression::On, Compression::Off] {
        let object = key(1, 1, 1).seal_chunk(&plain, compression).unwrap();
        assert_eq!(open(&key(1, 1, 1), &object, &plain).unwrap()[..], plain);
        for other in [key(2, 1, 1), key(1, 2, 1), key(1, 1, 2)] {
            assert_eq!(
                open(&other, &object, &plain),
                Err(CryptoError::NotAuthentic)
            );
        }
    }
}

#[test]
fn an_empty_chunk_is_an_object_of_its_own() {
    let object = key(1, 1, 1).seal_chunk(b"", Compression::On).unwrap();
    assert_eq!(object.bytes.len(), 1 + 1 + aead::TAG);
    assert_eq!(open(&key(1, 1, 1), &object, b"").unwrap()[..], b""[..]);
}

#[test]
fn the_longest_chunk_is_an_object_that_everybody_takes() {
    let plain: Vec<u8> = (0..1_u32 << 20)
        .flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes())
        .collect();
    let object = key(1, 1, 1).seal_chunk(&plain, Compression::Off).unwrap();
    assert!(object.bytes.len() > plain.len() && object.bytes.len() <= MAX_OBJECT);
}

#[test]
fn each_flipped_byte_is_refused() {
    let plain = b"thirty-three bytes, with padding.";
    let object = key(1, 1, 1).seal_chunk(plain, Compression::Off).unwrap();
    for at in 0..object.bytes.len() {
        let mut bad = object.clone();
        bad.bytes[at] ^= 4;
        let error = open(&key(1, 1, 1), &bad, plain).unwrap_err();
        let expected = if at == 0 {
            CryptoError::UnsupportedFormat(6)
        } else {
            CryptoError::NotAuthentic
        };
        assert_eq!(error, expected, "byte {at}");
        bad.bytes.truncate(at);
        assert_eq!(
            open(&key(1, 1, 1), &bad, plain),
            Err(CryptoError::NotAuthentic)
        );
    }
    let mut bad = object.clone();
    bad.id.0[5] ^= 1;
    assert_eq!(
        open(&key(1, 1, 1), &bad, plain),
        Err(CryptoError::NotAuthentic)
    );
}

#[test]
fn the_signed_length_and_hash_count() {
    let plain = b"abc\0\0";
    let object = key(1, 1, 1).seal_chunk(plain, Compression::Off).unwrap();
    let hash = *blake3::hash(plain).as_bytes();
    for length in [0, 3, 4, 6, 1 << 22, u64::MAX] {
        let opened = key(1, 1, 1).open_chunk(&object.id, &object.bytes, length, &hash);
        assert_eq!(opened, Err(CryptoError::NotAuthentic), "{length}");
    }
    let other = *blake3::hash(b"abc\0\x01").as_bytes();
    let opened = key(1, 1, 1).open_chunk(&object.id, &object.bytes, 5, &other);
    assert_eq!(opened, Err(CryptoError::NotAuthentic));
}

/// A writer with the key can seal anything; readers hold it against the format.
#[test]
fn a_dishonest_writer_is_refused() {
    let key = key(1, 1, 1);
    let plain = b"abc";
    let honest = key.seal(ObjectKind::Chunk, compress::RAW, plain);
    assert!(open(&key, &honest, plain).is_ok());
    let codec = key.seal(ObjectKind::Chunk, 2, plain);
    assert_eq!(
        open(&key, &codec, plain),
        Err(CryptoError::UnsupportedFormat(2))
    );
    let zeros = key.seal(
        ObjectKind::Chunk,
        compress::RAW,
        b"abc\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
    assert_eq!(open(&key, &zeros, plain), Err(CryptoError::NotAuthentic));
    let behind = key.seal(ObjectKind::Chunk, compress::RAW, b"abcd");
    assert_eq!(open(&key, &behind, plain), Err(CryptoError::NotAuthentic));
    let kind = key.seal(ObjectKind::Manifest, compress::RAW, plain);
    assert_eq!(open(&key, &kind, plain), Err(CryptoError::NotAuthentic));
    let text = b"two frames ".repeat(20);
    let frame = compress::frame(&text).unwrap();
    let two = key.seal(
        ObjectKind::Chunk,
        compress::ZSTD,
        &[&frame[..], &frame[..]].concat(),
    );
    assert_eq!(open(&key, &two, &text), Err(CryptoError::NotAuthentic));
}

#[test]
fn ids_differ_between_nodes_kinds_and_plaintexts() {
    let mut ids = Vec::new();
    for key in [key(1, 1, 1), key(1, 1, 2), key(1, 2, 1), key(2, 1, 1)] {
        for kind in [
            ObjectKind::Chunk,
            ObjectKind::Manifest,
            ObjectKind::Part,
            ObjectKind::Attributes,
        ] {
            for plain in [b"a", b"b"] {
                ids.push(key.seal(kind, compress::RAW, plain).id);
            }
        }
    }
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

proptest! {
    #[test]
    fn every_chunk_comes_back(plain in prop::collection::vec(any::<u8>(), 0..3000), off: bool) {
        let compression = if off { Compression::Off } else { Compression::On };
        let object = key(1, 1, 1).seal_chunk(&plain, compression).unwrap();
        prop_assert_eq!(&open(&key(1, 1, 1), &object, &plain).unwrap()[..], &plain[..]);
    }

    #[test]
    fn no_bytes_open_by_accident(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let object = SealedObject { id: ObjectId([1; 32]), bytes };
        prop_assert!(open(&key(1, 1, 1), &object, b"").is_err());
    }
}
