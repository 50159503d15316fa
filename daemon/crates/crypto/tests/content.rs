//! Manifests (records of revisions), node seals and links: round trips, and any bit flip refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/seeded.rs"]
mod seeded;

use cairn_crypto::{
    CryptoError, LinkSecret, MIN_ITERATIONS, NodeFacts, NodeSeal, SealInfo, SpaceKeys,
    manifest_hash, open_manifest, seal_manifest,
};
use cairn_model::{
    ChunkId, ContentHash, ContentObject, DeviceId, Kind, Manifest, NodeId, RevisionId, SpaceId,
};
use proptest::prelude::*;
use seeded::Seeded;

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

fn manifest(size: u64) -> Manifest {
    Manifest {
        format: Manifest::FORMAT,
        space: space(1),
        node: node(1),
        revision: revision(2),
        base: Some(revision(1)),
        number: 2,
        size,
        modified_ms: -1,
        executable: true,
        content: ContentObject {
            id: ChunkId([4; 32]),
            node: node(1),
            epoch: 1,
            is_list: size > 1000,
        },
        hash: ContentHash([3; 32]),
        author: DeviceId::from_random_bytes([5; 16]),
    }
}

#[test]
fn a_manifest_opens_for_the_requested_ids_only() {
    let rng = &mut Seeded::new("manifest");
    for count in [0, 1, 2, 3000] {
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
    let changes: [fn(&mut Manifest); 7] = [
        |m| m.size = 4 * 1024 * 1024 + 1,
        |m| (m.content.is_list, m.size) = (true, 1),
        |m| m.number = 1,
        |m| m.number = 0,
        |m| m.base = None,
        |m| m.space = space(2),
        |m| m.format = 1,
    ];
    for change in changes {
        let mut broken = manifest(3);
        change(&mut broken);
        assert!(seal_manifest(&keys(), &broken, rng).is_err(), "{broken:?}");
    }
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
            CryptoError::NotAuthentic,
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
fn a_confirmed_deletion_still_names_the_content() {
    for hash in [Some([4; 32]), None] {
        let info = SealInfo {
            seq: 3,
            manifest_hash: hash,
        };
        assert!(!info.is_confirmed() && info.is_of(hash));
        let confirmed = info.mark_confirmed();
        assert!(confirmed.is_confirmed() && confirmed.is_of(hash));
        assert!(!confirmed.is_of(Some([5; 32])) && !info.is_of(Some([5; 32])));
        assert_eq!(confirmed.seq, 3);
    }
}

#[test]
fn a_link_has_a_key_for_its_secret_and_another_for_its_password() {
    let rng = &mut Seeded::new("link");
    let secret = LinkSecret::generate(rng);
    let same = LinkSecret::parse(&secret.reveal()).unwrap();
    assert_eq!(same.key().to_bytes(), secret.key().to_bytes());
    assert_ne!(
        LinkSecret::generate(rng).key().to_bytes(),
        secret.key().to_bytes()
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
    let (again, same_gate) = same.key_with_password("letmein", &kdf).unwrap();
    assert_eq!((key.to_bytes(), &gate), (again.to_bytes(), &same_gate));
    assert_ne!(
        secret.key().to_bytes(),
        key.to_bytes(),
        "the password can't be left out"
    );
    let (wrong, other_gate) = same.key_with_password("letmeout", &kdf).unwrap();
    assert_ne!(gate, other_gate);
    assert_ne!(wrong.to_bytes(), key.to_bytes());
}

/// Returns a configuration with this number of cases, unless `PROPTEST_CASES` sets another.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() {
        default
    } else {
        ProptestConfig { cases, ..default }
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn manifests_come_back_and_no_bit_may_flip(
        count in 0_u64..5000, seed in ".*", flip in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(),
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
}
