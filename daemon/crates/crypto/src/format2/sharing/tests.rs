//! Sharing keys: round trips, and keys that aren't.

use super::*;
use crate::SystemRandom;

/// Finding primes takes seconds; these are found.
const PRIMES: [&str; 2] = [
    include_str!("../../../tests/support/primes_one.hex"),
    include_str!("../../../tests/support/primes_other.hex"),
];

/// The sharing keys of person 0 or 1.
pub(crate) fn sharing_keys(n: u8) -> SharingKeys {
    SharingKeys::from_bytes(&private_bytes(n)).unwrap()
}

fn private_bytes(n: u8) -> Vec<u8> {
    let mut bytes = hex::decode(PRIMES[usize::from(n)].trim()).unwrap();
    bytes.extend_from_slice(&[n + 1; SEED]);
    bytes
}

#[test]
fn keys_come_back() {
    let keys = sharing_keys(0);
    assert_eq!(keys.to_bytes().unwrap()[..], private_bytes(0)[..]);
    assert_ne!(keys.public(), sharing_keys(1).public());
    assert!(keys.public().rsa_key().is_ok() && keys.public().kem_key().is_ok());
}

#[test]
fn drawn_keys_come_back() {
    let keys = SharingKeys::generate(&mut SystemRandom).unwrap();
    let again = SharingKeys::from_bytes(&*keys.to_bytes().unwrap()).unwrap();
    assert_eq!(again.public(), keys.public());
}

#[test]
fn what_is_no_key_is_refused() {
    let good = private_bytes(0);
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    let twice = [&good[..PRIME], &good[..PRIME], &good[2 * PRIME..]].concat();
    let bad = [
        good[1..].to_vec(),
        [&good[..], &[0]].concat(),
        vec![0; PRIVATE],
        with(0, 0x7f),
        with(PRIME - 1, 0),
        with(2 * PRIME - 1, 2),
        twice,
    ];
    for (i, bytes) in bad.iter().enumerate() {
        assert!(SharingKeys::from_bytes(bytes).is_err(), "{i}");
    }
    let public = sharing_keys(0).public().clone();
    let mut even = public.clone();
    even.rsa[RSA_MODULUS - 1] &= 0xfe;
    assert!(even.rsa_key().is_err());
    let mut short = public.clone();
    short.rsa[0] = 0;
    assert!(short.rsa_key().is_err());
    // Numbers of an ML-KEM key are below 3329.
    let mut large = public;
    large.kem[..3].fill(0xff);
    assert!(large.kem_key().is_err());
}
