//! Grants (a team's secret, sealed to one member): who opens one, and that each part of it counts.

use super::*;
use crate::format2::sharing::tests::sharing_keys;

fn account(n: u8) -> AccountId {
    AccountId::from_random_bytes([n; 16])
}

fn space(n: u8) -> SpaceId {
    SpaceId::from_random_bytes([n; 16])
}

fn grant() -> (SpaceSecret, Vec<u8>) {
    let secret = SpaceSecret::from_bytes(space(1), 3, &[7; 32]).unwrap();
    let grant = make_grant(
        &secret,
        account(1),
        sharing_keys(0).public(),
        &mut SystemRandom,
    );
    (secret, grant.unwrap())
}

#[test]
fn a_grant_opens_for_its_member_space_and_epoch_only() {
    let (secret, grant) = grant();
    let keys = sharing_keys(0);
    let opened = open_grant(&keys, space(1), 3, account(1), &grant).unwrap();
    assert_eq!(*opened.to_bytes(), *secret.to_bytes());
    assert_eq!(opened.check_value(), secret.check_value());
    let wrong = [
        open_grant(&keys, space(2), 3, account(1), &grant),
        open_grant(&keys, space(1), 2, account(1), &grant),
        open_grant(&keys, space(1), 3, account(2), &grant),
        open_grant(&sharing_keys(1), space(1), 3, account(1), &grant),
    ];
    for (i, opened) in wrong.into_iter().enumerate() {
        assert_eq!(opened.map(|_| ()), Err(CryptoError::NotAuthentic), "{i}");
    }
}

#[test]
fn each_part_of_a_grant_counts_and_fails_alike() {
    let (_, grant) = grant();
    let keys = sharing_keys(0);
    let open = |grant: &[u8]| open_grant(&keys, space(1), 3, account(1), grant).map(|_| ());
    for at in [0, 200, 383, 384, 900, 1471, 1472, 1503, 1504, GRANT - 1] {
        let mut bad = grant.clone();
        bad[at] ^= 1;
        assert_eq!(open(&bad), Err(CryptoError::NotAuthentic), "byte {at}");
    }
    for length in [0, 384, 1472, GRANT - 1] {
        assert_eq!(open(&grant[..length]), Err(CryptoError::NotAuthentic));
    }
    assert_eq!(
        open(&[&grant[..], &[0]].concat()),
        Err(CryptoError::NotAuthentic)
    );
}

/// Neither secret alone makes the key: it changes with each of them, and with all that was agreed on.
#[test]
fn both_halves_make_the_key() {
    let public = sharing_keys(0).public().clone();
    let other = sharing_keys(1).public().clone();
    let text = vec![1; RSA_MODULUS + KEM];
    let mut changed = text.clone();
    changed[RSA_MODULUS] = 2;
    let make = |to, text: &[u8], rsa, kem, epoch| {
        let label = label(space(1), epoch, account(1));
        *key(label, to, text, (&[rsa; 32], &[kem; 32]))
            .unwrap()
            .bytes()
    };
    let mut keys = vec![
        make(&public, &text, 1, 2, 3),
        make(&public, &text, 9, 2, 3),
        make(&public, &text, 1, 9, 3),
        make(&public, &changed, 1, 2, 3),
        make(&other, &text, 1, 2, 3),
        make(&public, &text, 1, 2, 4),
        make(&public, &text, 2, 1, 3),
    ];
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count);
}
