//! Listings (the chunk keys that a share link opens): who opens one, what it opens, and bytes that no writer makes.

use super::*;
use crate::SystemRandom;
use crate::format2::{Compression, SealedObject, SpaceSecret};
use proptest::prelude::*;

fn space() -> SpaceId {
    SpaceId::from_random_bytes([1; 16])
}

fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

fn node_key(n: u8) -> NodeKey {
    let secret = SpaceSecret::from_bytes(space(), 1, &[7; 32]).unwrap();
    secret.keys().node(node(n))
}

fn key(n: u8) -> LinkKey {
    LinkKey::from_bytes(&[n; 32]).unwrap()
}

fn place() -> ListingPlace {
    ListingPlace {
        share: Uuid::from_bytes([6; 16]),
        node: node(2),
        number: 3,
    }
}

fn sealed_chunk(plain: &[u8]) -> SealedObject {
    node_key(2).seal_chunk(plain, Compression::On).unwrap()
}

fn listing() -> Listing {
    let parts: [&[u8]; 2] = [&[b'a'; 5000], b"the end"];
    let chunks = parts.map(|plain| {
        let (id, hash) = (sealed_chunk(plain).id, *blake3::hash(plain).as_bytes());
        node_key(2).list_chunk(id, plain.len() as u64, hash)
    });
    Listing {
        space: space(),
        path: "reports/2024.txt".to_owned(),
        size: 5007,
        hash: *blake3::hash(&parts.concat()).as_bytes(),
        chunks: chunks.to_vec(),
    }
}

#[test]
fn a_link_opens_its_chunks_and_no_other() {
    let sealed = listing().seal(&key(5), place(), &mut SystemRandom).unwrap();
    let opened = Listing::open(&key(5), place(), &sealed).unwrap();
    assert_eq!(*opened.encode(), *listing().encode());
    let [first, last] = [&[b'a'; 5000][..], b"the end"].map(sealed_chunk);
    let chunks = &opened.chunks;
    assert_eq!(
        *chunks[0].open(space(), &first.bytes).unwrap(),
        [b'a'; 5000]
    );
    assert_eq!(*chunks[1].open(space(), &last.bytes).unwrap(), *b"the end");
    assert!(chunks[0].open(space(), &last.bytes).is_err());
    // Another revision of the file, with its own id in the row: the key isn't that chunk's.
    let other = sealed_chunk(b"another revision");
    let mut row = chunks[1].clone();
    (row.id, row.length) = (other.id, 16);
    row.hash = *blake3::hash(b"another revision").as_bytes();
    assert!(row.open(space(), &other.bytes).is_err());
    let elsewhere = SpaceId::from_random_bytes([2; 16]);
    assert!(chunks[1].open(elsewhere, &last.bytes).is_err());
    let mut wrong = chunks[1].clone();
    wrong.hash[0] ^= 1;
    assert!(wrong.open(space(), &last.bytes).is_err());
}

#[test]
fn a_listing_opens_with_its_key_at_its_place_only() {
    let sealed = listing().seal(&key(5), place(), &mut SystemRandom).unwrap();
    let open = |key: &LinkKey, place, bytes: &[u8]| Listing::open(key, place, bytes).is_ok();
    assert!(open(&key(5), place(), &sealed));
    assert!(!open(&key(6), place(), &sealed));
    let places = [
        ListingPlace {
            share: Uuid::from_bytes([7; 16]),
            ..place()
        },
        ListingPlace {
            node: node(3),
            ..place()
        },
        ListingPlace {
            number: 4,
            ..place()
        },
    ];
    for place in places {
        assert!(!open(&key(5), place, &sealed), "{place:?}");
    }
    for at in [0, 31, 32, 63, 64, 100, sealed.len() - 1] {
        let mut bad = sealed.clone();
        bad[at] ^= 1;
        assert!(!open(&key(5), place(), &bad), "byte {at}");
        assert!(!open(&key(5), place(), &sealed[..at]), "{at} bytes");
        assert_ne!(Listing::sealed_hash(&bad), Listing::sealed_hash(&sealed));
    }
}

/// The value in front is checked against the key before anything is decrypted: the seal alone isn't enough.
#[test]
fn a_seal_without_its_commitment_is_refused() {
    let plain = listing().encode();
    let sealed = seal::seal(&key(5).0, place().purpose(), &plain, &mut SystemRandom);
    let commitment = *key(5).commitment(place().share).bytes();
    assert!(Listing::open(&key(5), place(), &[&commitment[..], &sealed].concat()).is_ok());
    assert!(Listing::open(&key(5), place(), &[&[0; 32][..], &sealed].concat()).is_err());
}

type Change = fn(&mut Listing);

#[test]
fn contradictions_and_paths_that_lead_elsewhere_are_refused() {
    let changes: [(&str, Change); 10] = [
        ("no chunk", |l| l.chunks.clear()),
        ("a size that isn't the sum", |l| l.size += 1),
        ("an empty chunk", |l| {
            l.chunks[0].length = 0;
            l.size = 7;
        }),
        ("a long chunk", |l| {
            l.chunks[0].length = MAX_CHUNK as u64 + 1;
            l.size = MAX_CHUNK as u64 + 8;
        }),
        ("lengths beyond all numbers", |l| {
            l.chunks[0].length = u64::MAX;
            l.size = 6;
        }),
        ("no path", |l| l.path.clear()),
        ("an absolute path", |l| l.path.insert(0, '/')),
        ("a path upwards", |l| l.path = "../a".to_owned()),
        ("a path with NUL", |l| l.path = "a\0b".to_owned()),
        ("a path that isn't NFC", |l| l.path = "e\u{301}".to_owned()),
    ];
    for (name, change) in changes {
        let mut bad = listing();
        change(&mut bad);
        assert!(
            bad.seal(&key(5), place(), &mut SystemRandom).is_err(),
            "{name}"
        );
        assert!(Listing::decode(&bad.encode()).is_err(), "{name}");
    }
    let mut empty = listing();
    empty.chunks.truncate(1);
    (empty.chunks[0].length, empty.size) = (0, 0);
    assert!(Listing::decode(&empty.encode()).is_ok());
}

proptest! {
    #[test]
    fn what_is_read_is_written_the_same(
        at in any::<prop::sample::Index>(), value: u8, cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = listing().encode().to_vec();
        prop_assert!(Listing::decode(&bytes[..cut.index(bytes.len())]).is_err());
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(listing) = Listing::decode(&bytes) {
            prop_assert_eq!(&*listing.encode(), &bytes);
        }
    }
}
