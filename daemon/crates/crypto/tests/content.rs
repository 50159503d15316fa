//! Chunks, content keys, manifests, node seals and links: round trips, and any bit flip refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/seeded.rs"]
mod seeded;

use cairn_crypto::{
    Chunker, Class, ContentKey, CryptoError, LinkSecret, MAX_CHUNK, MIN_CHUNK, MIN_ITERATIONS,
    NodeFacts, NodeSeal, Random as _, SealInfo, SpaceKeys, TARGET_CHUNK, manifest_hash,
    open_manifest, seal_manifest, sealed_len,
};
use cairn_model::{
    ChunkId, ChunkRef, ContentHash, DeviceId, Kind, Manifest, NodeId, RevisionId, SpaceId,
};
use proptest::prelude::*;
use seeded::Seeded;

fn bytes(seed: &str, length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    Seeded::new(seed).fill(&mut out);
    out
}

fn space(n: u8) -> SpaceId {
    SpaceId::from_random_bytes([n; 16])
}

fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

fn revision(n: u8) -> RevisionId {
    RevisionId::from_random_bytes([n; 16])
}

fn keys() -> SpaceKeys {
    SpaceKeys::from_raw(space(1), 1, &[7; 32]).unwrap()
}

fn manifest(chunks: usize) -> Manifest {
    let chunks: Vec<ChunkRef> = (0..chunks)
        .map(|i| ChunkRef {
            id: ChunkId([i as u8; 32]),
            len: 1 + i as u32,
        })
        .collect();
    Manifest {
        format: Manifest::FORMAT,
        space: space(1),
        node: node(1),
        revision: revision(2),
        base: Some(revision(1)),
        number: 2,
        size: chunks.iter().map(|c| u64::from(c.len)).sum(),
        modified_ms: -1,
        executable: true,
        chunks,
        hash: ContentHash([3; 32]),
        author: DeviceId::from_random_bytes([5; 16]),
    }
}

#[test]
fn equal_plaintext_makes_equal_bytes_and_other_nodes_make_others() {
    let rng = &mut Seeded::new("keys");
    let (a, b) = (ContentKey::generate(rng), ContentKey::generate(rng));
    let id = a.chunk_id(b"hello");
    assert_eq!(a.seal_chunk(&id, b"hello"), a.seal_chunk(&id, b"hello"));
    assert_ne!(id, b.chunk_id(b"hello"));
    assert_eq!(
        b.open_chunk(&id, 5, &a.seal_chunk(&id, b"hello"))
            .unwrap_err(),
        CryptoError::Opaque
    );
}

#[test]
fn a_buffer_is_used_again_and_holds_exactly_one_chunk() {
    let key = ContentKey::generate(&mut Seeded::new("buffer"));
    let mut buffer = vec![9; 100_000];
    let plain = bytes("plain", 5000);
    let id = key.chunk_id(&plain);
    key.seal_chunk_into(&id, &plain, &mut buffer);
    assert_eq!(buffer, key.seal_chunk(&id, &plain));
    assert_eq!(buffer.len() as u64, sealed_len(5000));
    assert_eq!(
        key.open_chunk_in_place(&id, 5000, &mut buffer).unwrap(),
        plain
    );
}

#[test]
fn a_refused_chunk_leaves_nothing_of_it_in_the_buffer() {
    let key = ContentKey::generate(&mut Seeded::new("in place"));
    let plain = bytes("plain", 3000);
    let other = key.chunk_id(b"other");
    // Sealed under the key that belongs to another id: GCM is content, the id is not.
    let id = key.chunk_id(&plain);
    let mut sealed = key.seal_chunk(&id, &plain);
    assert!(key.open_chunk_in_place(&other, 3000, &mut sealed).is_err());
    assert!(
        !sealed
            .windows(16)
            .any(|window| plain.windows(16).any(|p| p == window))
    );
}

#[test]
fn chunk_lengths_out_of_bounds_are_refused() {
    let key = ContentKey::generate(&mut Seeded::new("lengths"));
    let plain = bytes("p", 100);
    let id = key.chunk_id(&plain);
    let sealed = key.seal_chunk(&id, &plain);
    for wrong in [0, 1, 99, 101, 128, MAX_CHUNK as u32 + 1, u32::MAX] {
        assert!(key.open_chunk(&id, wrong, &sealed).is_err(), "{wrong}");
    }
    for cut in 0..sealed.len() {
        assert!(key.open_chunk(&id, 100, &sealed[..cut]).is_err(), "{cut}");
    }
    let mut newer = sealed.clone();
    newer[0] = 2;
    assert_eq!(
        key.open_chunk(&id, 100, &newer).unwrap_err(),
        CryptoError::UnsupportedFormat(2)
    );
}

#[test]
fn a_content_key_opens_for_its_node_space_and_epoch_only() {
    let rng = &mut Seeded::new("wrap");
    let key = ContentKey::generate(rng);
    let wrapped = key.wrap(&keys(), node(1), rng);
    let opened = ContentKey::unwrap(&keys(), node(1), &wrapped).unwrap();
    assert_eq!(opened.chunk_id(b"x"), key.chunk_id(b"x"));
    assert_eq!(
        ContentKey::unwrap(&keys(), node(2), &wrapped).unwrap_err(),
        CryptoError::Opaque
    );
    let elsewhere = SpaceKeys::from_raw(space(2), 1, &[7; 32]).unwrap();
    assert_eq!(
        ContentKey::unwrap(&elsewhere, node(1), &wrapped).unwrap_err(),
        CryptoError::Opaque
    );
    let later = SpaceKeys::from_raw(space(1), 2, &[7; 32]).unwrap();
    assert_eq!(
        ContentKey::unwrap(&later, node(1), &wrapped)
            .unwrap_err()
            .class(),
        Class::KeyMissing
    );
    for cut in 0..wrapped.len() {
        assert!(ContentKey::unwrap(&keys(), node(1), &wrapped[..cut]).is_err());
    }
    assert_eq!(
        SpaceKeys::from_raw(space(1), 1, &[0; 32]).unwrap_err(),
        CryptoError::Opaque
    );
}

#[test]
fn a_manifest_opens_for_the_requested_ids_only() {
    let rng = &mut Seeded::new("manifest");
    for count in [0, 1, 2, 300] {
        let sealed = seal_manifest(&keys(), &manifest(count), rng).unwrap();
        assert_eq!(
            open_manifest(&keys(), node(1), revision(2), &sealed).unwrap(),
            manifest(count)
        );
        assert!(open_manifest(&keys(), node(2), revision(2), &sealed).is_err());
        assert!(open_manifest(&keys(), node(1), revision(1), &sealed).is_err());
        let elsewhere = SpaceKeys::from_raw(space(2), 1, &[7; 32]).unwrap();
        assert!(open_manifest(&elsewhere, node(1), revision(2), &sealed).is_err());
        assert_ne!(
            manifest_hash(&sealed),
            manifest_hash(&seal_manifest(&keys(), &manifest(count), rng).unwrap())
        );
    }
}

#[test]
fn a_manifest_that_contradicts_itself_is_not_sealed() {
    let rng = &mut Seeded::new("contradiction");
    let changes: [fn(&mut Manifest); 8] = [
        |m| m.size += 1,
        |m| m.chunks[0].len = 0,
        |m| m.chunks[0].len = u32::MAX,
        |m| m.number = 1,
        |m| m.number = 0,
        |m| m.base = None,
        |m| m.space = space(2),
        |m| m.format = 2,
    ];
    for change in changes {
        let mut broken = manifest(3);
        change(&mut broken);
        assert!(seal_manifest(&keys(), &broken, rng).is_err(), "{broken:?}");
    }
    let mut swapped = manifest(3);
    swapped.chunks.swap(0, 1);
    let sealed = seal_manifest(&keys(), &swapped, rng).unwrap();
    assert_ne!(
        open_manifest(&keys(), node(1), revision(2), &sealed).unwrap(),
        manifest(3)
    );
}

#[test]
fn a_node_seal_holds_every_fact() {
    let facts = NodeFacts {
        node: node(1),
        parent: Some(node(2)),
        name: "a.txt",
        kind: Kind::File,
        executable: false,
        deleted: false,
    };
    let info = SealInfo {
        seq: 3,
        manifest_hash: Some([4; 32]),
    };
    let seal = NodeSeal::make(&keys(), &facts, info);
    assert_eq!(NodeSeal::check(&keys(), &facts, &seal).unwrap(), info);
    for wrong in [
        NodeFacts {
            node: node(3),
            ..facts
        },
        NodeFacts {
            parent: None,
            ..facts
        },
        NodeFacts {
            parent: Some(node(3)),
            ..facts
        },
        NodeFacts {
            name: "b.txt",
            ..facts
        },
        NodeFacts {
            kind: Kind::Folder,
            ..facts
        },
        NodeFacts {
            executable: true,
            ..facts
        },
        NodeFacts {
            deleted: true,
            ..facts
        },
    ] {
        assert_eq!(
            NodeSeal::check(&keys(), &wrong, &seal).unwrap_err(),
            CryptoError::Opaque,
            "{wrong:?}"
        );
    }
    for at in 0..seal.len() {
        let mut altered = seal.clone();
        altered[at] ^= 0x10;
        assert!(
            NodeSeal::check(&keys(), &facts, &altered).is_err(),
            "byte {at}"
        );
        assert!(
            NodeSeal::check(&keys(), &facts, &seal[..at]).is_err(),
            "cut at {at}"
        );
    }
    let folder = NodeFacts {
        kind: Kind::Folder,
        parent: None,
        ..facts
    };
    let none = SealInfo {
        seq: u64::MAX,
        manifest_hash: None,
    };
    assert_eq!(
        NodeSeal::check(&keys(), &folder, &NodeSeal::make(&keys(), &folder, none)).unwrap(),
        none
    );
}

#[test]
fn a_link_opens_with_its_secret_and_its_password() {
    let rng = &mut Seeded::new("link");
    let content = ContentKey::generate(rng);
    let secret = LinkSecret::generate(rng);
    let same = LinkSecret::parse(&secret.reveal()).unwrap();
    let wrapped = secret.key().wrap(&content, node(1), rng);
    assert_eq!(
        same.key().unwrap(node(1), &wrapped).unwrap().chunk_id(b"x"),
        content.chunk_id(b"x")
    );
    assert!(same.key().unwrap(node(2), &wrapped).is_err());
    assert!(
        LinkSecret::generate(rng)
            .key()
            .unwrap(node(1), &wrapped)
            .is_err()
    );
    for broken in [
        "",
        "00",
        &"0".repeat(64),
        &"g".repeat(64),
        &secret.reveal()[1..],
    ] {
        assert!(LinkSecret::parse(broken).is_err(), "{broken}");
    }

    let kdf = LinkSecret::password_params(MIN_ITERATIONS, rng).unwrap();
    let (key, gate) = secret.key_with_password("letmein", &kdf).unwrap();
    let locked = key.wrap(&content, node(1), rng);
    let (again, same_gate) = same.key_with_password("letmein", &kdf).unwrap();
    assert_eq!(gate, same_gate);
    assert!(again.unwrap(node(1), &locked).is_ok());
    assert!(
        secret.key().unwrap(node(1), &locked).is_err(),
        "the password can't be left out"
    );
    let (wrong, other_gate) = same.key_with_password("letmeout", &kdf).unwrap();
    assert_ne!(gate, other_gate);
    assert!(wrong.unwrap(node(1), &locked).is_err());
}

#[test]
fn cuts_stay_near_the_target_and_differ_between_spaces() {
    let data = bytes("cuts", 64 * 1024 * 1024);
    let cuts = |keys: &SpaceKeys| {
        let chunker = Chunker::new(keys);
        let (mut at, mut cuts) = (0, Vec::new());
        while let Some(length) = chunker.cut(&data[at..], true) {
            at += length;
            cuts.push(length);
        }
        assert_eq!(at, data.len());
        cuts
    };
    let mine = cuts(&keys());
    let (last, whole) = mine.split_last().unwrap();
    assert!(
        *last > 0
            && whole
                .iter()
                .all(|length| (MIN_CHUNK..=MAX_CHUNK).contains(length))
    );
    let mean = data.len() / mine.len();
    assert!(
        (TARGET_CHUNK * 3 / 4..TARGET_CHUNK * 5 / 4).contains(&mean),
        "{mean}"
    );
    let near = whole
        .iter()
        .filter(|l| (TARGET_CHUNK / 2..TARGET_CHUNK * 2).contains(l))
        .count();
    assert!(near * 10 >= whole.len() * 8, "{whole:?}");
    let other = cuts(&SpaceKeys::from_raw(space(1), 1, &[8; 32]).unwrap());
    assert!(mine[0] != other[0] && mine[1] != other[1]);
}

#[test]
fn small_files_are_one_chunk_and_cuts_wait_for_enough_data() {
    let chunker = Chunker::new(&keys());
    assert_eq!(chunker.cut(&[], true), None);
    for length in [1, 1000, MIN_CHUNK] {
        assert_eq!(chunker.cut(&bytes("small", length), true), Some(length));
        assert_eq!(chunker.cut(&bytes("small", length), false), None);
    }
    let long = bytes("long", MAX_CHUNK + 5);
    assert_eq!(chunker.cut(&long[..MAX_CHUNK - 1], false), None);
    assert_eq!(
        chunker.cut(&long[..MAX_CHUNK], false),
        chunker.cut(&long, true)
    );
    assert_eq!(chunker.cut(&vec![0; MAX_CHUNK + 5], true), Some(MAX_CHUNK));
}

#[test]
fn an_edit_in_the_middle_moves_few_cuts() {
    let chunker = Chunker::new(&keys());
    let key = ContentKey::generate(&mut Seeded::new("edit"));
    let ids = |data: &[u8]| {
        let (mut at, mut ids) = (0, Vec::new());
        while let Some(length) = chunker.cut(&data[at..], true) {
            ids.push(key.chunk_id(&data[at..at + length]));
            at += length;
        }
        ids
    };
    let data = bytes("edited", 48 * 1024 * 1024);
    let before = ids(&data);
    let mut replaced = data.clone();
    replaced[24_000_000..24_000_016].copy_from_slice(b"sixteen new ones");
    let mut inserted = data.clone();
    inserted.splice(24_000_000..24_000_000, *b"sixteen new ones");
    for edited in [replaced, inserted] {
        let new = ids(&edited)
            .iter()
            .filter(|id| !before.contains(id))
            .count();
        assert!((1..=2).contains(&new), "{new} new chunks");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn chunks_come_back_and_no_bit_may_flip(
        plain in prop::collection::vec(any::<u8>(), 1..5000), seed in ".*", flip in any::<prop::sample::Index>(),
    ) {
        let key = ContentKey::generate(&mut Seeded::new(&seed));
        let id = key.chunk_id(&plain);
        let len = plain.len() as u32;
        let mut sealed = key.seal_chunk(&id, &plain);
        prop_assert_eq!(sealed.len() as u64, sealed_len(plain.len() as u64));
        prop_assert_eq!(&key.open_chunk(&id, len, &sealed).unwrap(), &plain);
        let bit = flip.index(sealed.len() * 8);
        sealed[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(key.open_chunk(&id, len, &sealed).is_err());
    }

    #[test]
    fn manifests_come_back_and_no_bit_may_flip(
        count in 0_usize..40, seed in ".*", flip in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(),
    ) {
        let manifest = manifest(count);
        let mut sealed = seal_manifest(&keys(), &manifest, &mut Seeded::new(&seed)).unwrap();
        prop_assert_eq!(&open_manifest(&keys(), node(1), revision(2), &sealed).unwrap(), &manifest);
        let short = &sealed[..cut.index(sealed.len())];
        prop_assert!(open_manifest(&keys(), node(1), revision(2), short).is_err());
        let bit = flip.index(sealed.len() * 8);
        sealed[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(open_manifest(&keys(), node(1), revision(2), &sealed).is_err());
    }

    #[test]
    fn wrapped_keys_come_back_and_no_bit_may_flip(seed in ".*", flip in any::<prop::sample::Index>()) {
        let rng = &mut Seeded::new(&seed);
        let mut wrapped = ContentKey::generate(rng).wrap(&keys(), node(1), rng);
        prop_assert!(ContentKey::unwrap(&keys(), node(1), &wrapped).is_ok());
        let bit = flip.index(wrapped.len() * 8);
        wrapped[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(ContentKey::unwrap(&keys(), node(1), &wrapped).is_err());
    }
}
