//! The key hierarchy of an account: what opens it, and everything that must not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/seeded.rs"]
mod seeded;

use cairn_crypto::{
    AccountKey, AccountKeys, AuthValue, Class, CryptoError, KeyBundle, RecoveryKey, RootCost,
    change_passphrase, create_account, make_recovery_key, unlock, unlock_with_account_key,
    unlock_with_recovery,
};
use cairn_model::{AccountId, SpaceId};
use seeded::Seeded;

const PASSPHRASE: &str = "correct horse battery staple";

struct Fixture {
    account: AccountId,
    space: SpaceId,
    bundle: KeyBundle,
    unlocked: AccountKeys,
    auth: AuthValue,
}

fn account(seed: &str) -> Fixture {
    let account = AccountId::from_random_bytes([1; 16]);
    let space = SpaceId::from_random_bytes([2; 16]);
    let rng = &mut Seeded::new(seed);
    let (bundle, unlocked, auth) =
        create_account(PASSPHRASE, account, space, RootCost::LEAST, rng).unwrap();
    Fixture {
        account,
        space,
        bundle,
        unlocked,
        auth,
    }
}

impl Fixture {
    fn open(&self, bundle: &KeyBundle) -> Result<AccountKeys, CryptoError> {
        unlock_with_account_key(bundle, &self.unlocked.account_key, self.account, self.space)
    }

    /// Opens in both ways and expects the same refusal of both.
    fn refusal_class(&self, what: &str, change: impl FnOnce(&mut KeyBundle)) -> Class {
        let mut bundle = self.bundle.clone();
        change(&mut bundle);
        assert_ne!(bundle, self.bundle, "{what} changes nothing");
        match self.open(&bundle) {
            Ok(_) => panic!("{what} was accepted"),
            Err(error) => error.class(),
        }
    }
}

#[test]
fn an_account_opens_with_its_passphrase_and_with_the_key_from_the_keyring() {
    let made = account("opens");
    let (opened, auth) = unlock(&made.bundle, PASSPHRASE, made.account, made.space).unwrap();
    assert_eq!(auth, made.auth);
    assert_eq!(auth.to_hex().len(), 64);
    assert_eq!(
        opened.account_key.to_bytes(),
        made.unlocked.account_key.to_bytes()
    );
    assert_eq!(opened.bundle_version, 1);

    let kept = AccountKey::from_bytes(&*opened.account_key.to_bytes()).unwrap();
    let again = unlock_with_account_key(&made.bundle, &kept, made.account, made.space).unwrap();
    assert_eq!(again.signing.public(), made.unlocked.signing.public());
    assert_eq!(again.rsa.public_der(), made.bundle.rsa_public);

    for wrong in [
        "Correct horse battery staple",
        "correct horse battery staple ",
        "x",
    ] {
        let refused = unlock(&made.bundle, wrong, made.account, made.space).unwrap_err();
        assert_eq!(refused, CryptoError::NotAuthentic);
    }
    let other = AccountId::from_random_bytes([9; 16]);
    assert_eq!(
        unlock(&made.bundle, PASSPHRASE, other, made.space).unwrap_err(),
        CryptoError::NotAuthentic
    );
}

#[test]
fn every_altered_byte_of_a_bundle_is_refused() {
    let made = account("altered");
    type Field = fn(&mut KeyBundle) -> &mut Vec<u8>;
    let fields: [(&str, Field); 6] = [
        ("account_key", |b| &mut b.account_key),
        ("rsa_private", |b| &mut b.rsa_private),
        ("signing_private", |b| &mut b.signing_private),
        ("kdf.salt", |b| &mut b.kdf.salt),
        ("space key", |b| &mut b.spaces[0].key),
        ("rsa_public", |b| &mut b.rsa_public),
    ];
    for (name, field) in fields {
        let length = field(&mut made.bundle.clone()).len();
        for at in (0..length).step_by(1 + length / 24) {
            let class = made.refusal_class(name, |b| field(b)[at] ^= 1 << (at % 8));
            assert!(
                matches!(
                    class,
                    Class::AuthFailed | Class::UnsupportedFormat | Class::KeyChanged
                ),
                "{name} at {at}: {class:?}"
            );
        }
        made.refusal_class(name, |b| field(b).truncate(length - 1));
        made.refusal_class(name, |b| field(b).clear());
        made.refusal_class(name, |b| field(b).push(0));
    }
    made.refusal_class("version", |b| b.version += 1);
    made.refusal_class("iterations", |b| b.kdf.iterations += 1);
    made.refusal_class("epoch", |b| b.spaces[0].epoch = 2);
    made.refusal_class("a second key of the space", |b| {
        let mut second = b.spaces[0].clone();
        second.epoch = 2;
        b.spaces.push(second);
    });
    made.refusal_class("recovery", |b| b.recovery = Some(b.account_key.clone()));
    made.refusal_class("swapped wraps", |b| {
        b.signing_private = b.account_key.clone()
    });
    assert_eq!(
        made.refusal_class("format", |b| b.format = 2),
        Class::UnsupportedFormat
    );
    assert_eq!(
        made.refusal_class("signing_public", |b| b.signing_public[0] ^= 1),
        Class::KeyChanged
    );
}

#[test]
fn keys_of_another_account_are_not_taken_for_ones_own() {
    let (mine, other) = (account("mine"), account("other"));
    // Both accounts say that they are the same one: only the keys differ.
    assert_eq!(
        mine.open(&other.bundle).unwrap_err(),
        CryptoError::NotAuthentic
    );
    mine.refusal_class("space key", |b| b.spaces = other.bundle.spaces.clone());
    mine.refusal_class("private keys", |b| {
        b.rsa_private = other.bundle.rsa_private.clone();
        b.rsa_public = other.bundle.rsa_public.clone();
    });
    let class = mine.refusal_class("public key", |b| {
        b.rsa_public = other.bundle.rsa_public.clone()
    });
    assert_eq!(class, Class::KeyChanged);
}

#[test]
fn a_missing_space_key_is_missing_and_no_new_one_is_made() {
    let made = account("missing");
    let elsewhere = SpaceId::from_random_bytes([7; 16]);
    let key = &made.unlocked.account_key;
    let missing = unlock_with_account_key(&made.bundle, key, made.account, elsewhere).unwrap_err();
    assert_eq!(missing.class(), Class::KeyMissing);
    assert_eq!(
        made.refusal_class("no spaces", |b| b.spaces.clear()),
        Class::AuthFailed
    );
}

#[test]
fn unsafe_derivation_is_refused_before_anything_is_derived() {
    let made = account("kdf");
    for change in [
        (|b| b.kdf.algorithm = "argon2i".to_owned()) as fn(&mut KeyBundle),
        |b| b.kdf.iterations = 0,
        |b| b.kdf.iterations = 2,
        |b| b.kdf.iterations = 11,
        |b| b.kdf.iterations = 1 << 31,
        |b| b.kdf.memory = Some(RootCost::LEAST.memory - 1),
        |b| b.kdf.memory = Some(1 << 31),
        |b| b.kdf.memory = None,
        |b| b.kdf.lanes = Some(0),
        |b| b.kdf.lanes = Some(9),
        |b| b.kdf.algorithm.clear(),
        |b| b.kdf.salt.clear(),
        |b| b.kdf.salt = vec![0; 32],
        |b| b.kdf.salt.truncate(31),
        |b| b.kdf.salt.push(1),
    ] {
        let mut bundle = made.bundle.clone();
        change(&mut bundle);
        let refused = unlock(&bundle, PASSPHRASE, made.account, made.space).unwrap_err();
        assert_eq!(refused.class(), Class::WeakKdf);
    }
}

#[test]
fn a_changed_passphrase_opens_and_the_old_one_and_the_old_bundle_do_not() {
    let made = account("change");
    let rng = &mut Seeded::new("change it");
    // The same letters, once composed and once not, are the same passphrase.
    let (changed, auth) = change_passphrase(
        &made.bundle,
        &made.unlocked,
        "caf\u{e9} \u{fb01}n",
        RootCost::LEAST,
        rng,
    )
    .unwrap();
    assert_eq!(changed.version, 2);
    assert_ne!(changed.kdf.salt, made.bundle.kdf.salt);
    assert_ne!(auth, made.auth);
    let (opened, same) = unlock(&changed, "cafe\u{301} fin", made.account, made.space).unwrap();
    assert_eq!(same, auth);
    assert_eq!(
        opened.account_key.to_bytes(),
        made.unlocked.account_key.to_bytes()
    );
    assert_eq!(
        unlock(&changed, PASSPHRASE, made.account, made.space).unwrap_err(),
        CryptoError::NotAuthentic
    );

    assert_eq!(
        made.bundle.check_not_older(2).unwrap_err().class(),
        Class::Rollback
    );
    changed.check_not_older(2).unwrap();
    let renumbered = KeyBundle {
        version: 3,
        ..made.bundle.clone()
    };
    assert_eq!(
        unlock(&renumbered, PASSPHRASE, made.account, made.space).unwrap_err(),
        CryptoError::NotAuthentic
    );
    let mixed = KeyBundle {
        account_key: made.bundle.account_key.clone(),
        kdf: made.bundle.kdf.clone(),
        ..changed.clone()
    };
    assert_eq!(
        unlock(&mixed, PASSPHRASE, made.account, made.space).unwrap_err(),
        CryptoError::NotAuthentic
    );
    let foreign =
        change_passphrase(&mixed, &made.unlocked, "new", RootCost::LEAST, rng).unwrap_err();
    assert_eq!(
        foreign,
        CryptoError::NotAuthentic,
        "a bundle that was altered is not signed over"
    );
    let weak = RootCost {
        memory: RootCost::LEAST.memory - 1,
        ..RootCost::LEAST
    };
    for (passphrase, cost) in [("", RootCost::LEAST), ("new", weak)] {
        assert!(change_passphrase(&changed, &opened, passphrase, cost, rng).is_err());
    }
}

#[test]
fn a_recovery_key_opens_the_account_and_survives_a_change_of_passphrase() {
    let made = account("recovery");
    let rng = &mut Seeded::new("recover");
    let (key, bundle) = make_recovery_key(&made.bundle, &made.unlocked, rng).unwrap();
    let typed = RecoveryKey::parse(&key.reveal()).unwrap();
    assert_eq!(typed.auth(), key.auth());
    assert_ne!(key.auth(), made.auth);
    let opened = unlock_with_recovery(&bundle, &typed, made.account, made.space).unwrap();
    assert_eq!(opened.bundle_version, 2);
    let (changed, _) =
        change_passphrase(&bundle, &opened, "another one", RootCost::LEAST, rng).unwrap();
    unlock_with_recovery(&changed, &typed, made.account, made.space).unwrap();

    let (second, replaced) = make_recovery_key(&changed, &opened, rng).unwrap();
    unlock_with_recovery(&replaced, &second, made.account, made.space).unwrap();
    let old = unlock_with_recovery(&replaced, &typed, made.account, made.space).unwrap_err();
    assert_eq!(old, CryptoError::NotAuthentic);
    let none = unlock_with_recovery(&made.bundle, &typed, made.account, made.space).unwrap_err();
    assert_eq!(none.class(), Class::InvalidInput);
    let dropped = KeyBundle {
        recovery: None,
        ..bundle.clone()
    };
    assert_eq!(
        made.open(&dropped).unwrap_err(),
        CryptoError::NotAuthentic,
        "a server can't take the recovery key away"
    );
}

#[test]
fn nothing_secret_is_printed() {
    let made = account("printed");
    let rng = &mut Seeded::new("printed");
    let (recovery, _) = make_recovery_key(&made.bundle, &made.unlocked, rng).unwrap();
    let printed = format!(
        "{:?} {:?} {:?} {recovery:?}",
        made.unlocked,
        made.auth,
        made.unlocked.trust_key()
    );
    for secret in [
        hex::encode(*made.unlocked.account_key.to_bytes()),
        made.auth.to_hex(),
    ] {
        assert!(!printed.contains(&secret[..12]), "{printed}");
    }
    assert!(!printed.contains(&recovery.reveal()[..11]));
    let numbers = format!("{:?}", &made.unlocked.account_key.to_bytes()[..4]);
    assert!(!printed.contains(numbers.trim_matches(['[', ']'])));
}

#[test]
fn a_trusted_note_opens_under_its_own_label_only() {
    let made = account("trust");
    let rng = &mut Seeded::new("trust");
    let key = made.unlocked.trust_key();
    let note = key.seal("floors", b"version 7", rng);
    assert_eq!(&**key.open("floors", &note).unwrap(), b"version 7");
    assert_eq!(
        key.open("pins", &note).unwrap_err(),
        CryptoError::NotAuthentic
    );
    for at in 0..note.len() {
        let mut altered = note.clone();
        altered[at] ^= 1;
        assert!(key.open("floors", &altered).is_err(), "byte {at}");
    }
}
