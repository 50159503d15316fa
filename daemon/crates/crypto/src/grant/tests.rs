//! Grants (a team's key, sealed to one member) that a granter could sign and that are refused all the same, and
//! what a key ring (the team's keys of all epochs) opens.

use super::*;
use crate::format2::{Compression, NodeKey};
use crate::{NodeFacts, NodeSeal, RootCost, SealInfo, SystemRandom, create_account};
use cairn_model::{Kind, NodeId};

const SPACE: [u8; 16] = [5; 16];

fn account(n: u8) -> AccountKeys {
    let (account, space) = (
        AccountId::from_random_bytes([n; 16]),
        SpaceId::from_random_bytes([n; 16]),
    );
    create_account("p", account, space, RootCost::LEAST, &mut SystemRandom)
        .unwrap()
        .1
}

fn context(granter: &AccountKeys, epoch: u32) -> GrantContext {
    GrantContext {
        space: SpaceId::from_random_bytes(SPACE),
        epoch,
        granter: granter.account,
        signing: granter.signing.public(),
    }
}

/// A grant of any bytes, as a malicious granter can make it.
fn forge_grant(by: &AccountKeys, to: &AccountKeys, key: &[u8], older: &[u8]) -> Vec<u8> {
    let rng = &mut SystemRandom;
    let (context, public) = (context(by, 9), to.public());
    let label = associated_data("cairn/grant-key/1", &context, to.account, &public);
    let under = Key::from_bytes(key).unwrap_or_else(|_| Key::from_bytes(&[1; 32]).unwrap());
    let mut out = vec![FORMAT];
    out.extend_from_slice(&context.signing);
    out.extend(public.seal(&label, key, rng).unwrap());
    let sealed = aead::seal(&older_key(&under), &older_data(&context), older, rng);
    out.extend(sealed);
    let signed =
        associated_data("cairn/grant-signature/1", &context, to.account, &public).bytes(&out);
    out.extend_from_slice(&by.signing.sign(&signed));
    out
}

#[test]
fn a_grant_opens_for_its_member_and_a_signed_one_of_a_bad_key_is_refused() {
    let (owner, member) = (account(1), account(2));
    let key = [7; 32];
    let older = |epochs: &[u32]| -> Vec<u8> {
        let parts = epochs
            .iter()
            .map(|epoch| [&epoch.to_be_bytes()[..], &key].concat());
        parts.collect::<Vec<_>>().concat()
    };
    let open = |key: &[u8], older: &[u8]| {
        let grant = forge_grant(&owner, &member, key, older);
        open_grant(&member, &context(&owner, 9), &grant).map(|ring| ring.older.len())
    };
    assert_eq!(open(&key, &older(&[])).unwrap(), 0);
    assert_eq!(open(&key, &older(&[1, 2, 8])).unwrap(), 3);
    for bad in [&[0; 32][..], &[7; 31], &[7; 33], &[]] {
        assert_eq!(open(bad, &[]).unwrap_err(), CryptoError::NotAuthentic);
    }
    for bad in [&[0][..], &[9], &[10], &[2, 1], &[1, 1]] {
        assert_eq!(
            open(&key, &older(bad)).unwrap_err(),
            CryptoError::NotAuthentic
        );
    }
    let cut = &older(&[1, 2])[..40];
    assert_eq!(open(&key, cut).unwrap_err(), CryptoError::NotAuthentic);
    let zero = [&1_u32.to_be_bytes()[..], &[0; 32]].concat();
    assert_eq!(open(&key, &zero).unwrap_err(), CryptoError::NotAuthentic);
}

#[test]
fn a_ring_seals_under_its_newest_key_and_opens_what_was_sealed_before() {
    let rng = &mut SystemRandom;
    let node = NodeId::from_random_bytes([3; 16]);
    let facts = NodeFacts {
        node,
        parent: None,
        name: "plan",
        kind: Kind::Folder,
        executable: false,
        deleted: false,
    };
    let info = SealInfo {
        seq: 1,
        manifest_hash: None,
    };
    let first = KeyRing::generate(SpaceId::from_random_bytes(SPACE), 1, rng);
    let later = first.renew(3, rng).unwrap();
    assert!(later.renew(3, rng).is_err());
    let (before, now) = (first.keys(), later.keys());
    let id = |key: NodeKey| key.seal_chunk(b"x", Compression::On).unwrap().id;

    let (old, old_seal) = (before.node_key(node), NodeSeal::make(&before, &facts, info));
    assert_eq!(id(now.node_key_at(old.at()).unwrap()), id(old.clone()));
    assert_eq!(NodeSeal::check(&now, &facts, &old_seal).unwrap(), info);

    let (new, new_seal) = (now.node_key(node), NodeSeal::make(&now, &facts, info));
    assert_eq!(new.at().epoch, 3);
    assert_ne!(id(new.clone()), id(old));
    let missing = before.node_key_at(new.at()).unwrap_err();
    assert_eq!(missing.class().as_str(), "key_missing");
    assert!(NodeSeal::check(&before, &facts, &new_seal).is_err());

    assert_eq!(later.check_value(1), first.check_value(1));
    assert_ne!(later.check_value(3), later.check_value(1));
    assert_eq!(later.check_value(2), None);
}

#[test]
fn public_keys_that_can_be_none_are_refused_and_a_fingerprint_stands_for_both() {
    let (one, other) = (account(1).public(), account(2).public());
    let (der, signing) = (one.rsa_der(), one.signing_key());
    assert_eq!(PublicKeys::parse(der, &signing).unwrap(), one);
    let weak = [&[1][..], &[0; 31]].concat();
    let long = [der, &[0]].concat();
    for (der, signing) in [
        (&[][..], &signing[..]),
        (&der[..300], &signing),
        (&long, &signing),
        (der, &signing[..31]),
        (der, &weak),
        (der, &[]),
    ] {
        assert_eq!(
            PublicKeys::parse(der, signing).unwrap_err(),
            CryptoError::NotAuthentic
        );
    }
    let shown = one.fingerprint();
    assert_eq!(shown.split(' ').map(str::len).collect::<Vec<_>>(), [4; 8]);
    let mixed = [
        PublicKeys::parse(other.rsa_der(), &signing).unwrap(),
        PublicKeys::parse(der, &other.signing_key()).unwrap(),
    ];
    for mixed in mixed {
        assert_ne!(mixed.fingerprint(), shown);
    }
}
