//! Old and new keys after a new passphrase and after a revocation: which of them opens what.
//!
//! A box is the new secrets sealed to one device, an epoch one generation of the personal space's secret, and the key
//! ring all of its generations.

use super::*;
use crate::SystemRandom;
use crate::format2::account::{BoxKey, RootCost, RootParams};
use crate::format2::sharing::tests::sharing_keys;
use crate::format2::{DeviceKey, IdentityKey, KeyRing, SpaceSecret};
use cairn_log::{Device, device_number};
use cairn_model::{AccountId, SpaceId};
use std::sync::LazyLock;

fn account(n: u8) -> AccountId {
    AccountId::from_random_bytes([n; 16])
}

fn space(n: u8) -> SpaceId {
    SpaceId::from_random_bytes([n; 16])
}

/// The roots of two passphrases, which take a while to derive.
static ROOTS: LazyLock<[Root; 2]> = LazyLock::new(|| {
    let params = RootParams {
        cost: RootCost::LEAST,
        salt: [2; 32],
    };
    ["old", "new"].map(|text| Root::derive(text, &params).unwrap())
});

fn secrets() -> AccountSecrets {
    let rng = &mut SystemRandom;
    let identity = IdentityKey::from_seed(&[1; 32]).unwrap();
    let ring = KeyRing::new(SpaceSecret::generate(space(1), 1, rng));
    AccountSecrets::new(account(1), identity, sharing_keys(0), ([9; 32], ring), rng)
}

fn device(n: u8) -> Device {
    let key = DeviceKey::from_seed(&[n; 32]).unwrap().public();
    let number = device_number(&key).unwrap();
    Device { number, key }
}

/// The list of two devices, 1 and 2.
fn list(secrets: &AccountSecrets) -> DeviceList {
    let mut devices = vec![device(1), device(2)];
    devices.sort_unstable();
    let mut list = DeviceList {
        identity: secrets.identity.public(),
        counter: 4,
        rsa: secrets.sharing.public().rsa.clone(),
        kem: secrets.sharing.public().kem.clone(),
        devices,
        signature: [0; 64],
    };
    secrets.identity.sign_devices(account(1), &mut list);
    list
}

fn open_box(key: &BoxKey, rotation: &KeyRotation) -> Result<DeviceBox> {
    key.open_epoch(
        account(1),
        space(1),
        &rotation.epoch,
        &rotation.boxes.encode(),
    )
}

#[test]
fn secrets_open_with_passphrase_or_recovery_key_for_their_account_only() {
    let rng = &mut SystemRandom;
    let secrets = secrets();
    let [root, other] = &*ROOTS;
    let (recovery, sealed) = secrets.seal(root, rng).unwrap();
    let by_passphrase = AccountSecrets::open(account(1), space(1), root, &sealed);
    let by_recovery = AccountSecrets::open_with_recovery(account(1), space(1), &recovery, &sealed);
    for opened in [by_passphrase.unwrap(), by_recovery.unwrap()] {
        assert_eq!(opened.identity.public(), secrets.identity.public());
        assert_eq!(opened.sharing.public(), secrets.sharing.public());
        assert_eq!(opened.genesis, [9; 32]);
        assert_eq!(*opened.ring.encode(), *secrets.ring.encode());
        assert_eq!(
            *opened.key().box_key(7).to_bytes(),
            *secrets.key().box_key(7).to_bytes()
        );
    }
    assert!(AccountSecrets::open(account(1), space(1), other, &sealed).is_err());
    assert!(AccountSecrets::open(account(2), space(1), root, &sealed).is_err());
    let (another, _) = secrets.seal(root, rng).unwrap();
    assert!(AccountSecrets::open_with_recovery(account(1), space(1), &another, &sealed).is_err());
    // Seals in each other's place.
    for (i, swap) in [
        |s: &mut SealedAccount| std::mem::swap(&mut s.identity, &mut s.sharing),
        |s: &mut SealedAccount| std::mem::swap(&mut s.ring, &mut s.identity),
        |s: &mut SealedAccount| s.account = s.recovery.clone(),
    ]
    .into_iter()
    .enumerate()
    {
        let mut swapped = sealed.clone();
        swap(&mut swapped);
        let opened = AccountSecrets::open(account(1), space(1), root, &swapped);
        assert!(opened.is_err(), "{i}");
    }
}

#[test]
fn the_account_as_it_is_sealed_anew_does_not_open_with_an_old_key() {
    let old = secrets();
    let [old_root, new_root] = &*ROOTS;
    let (old_recovery, _) = old.seal(old_root, &mut SystemRandom).unwrap();
    let rotation = change_passphrase(&old, new_root, &list(&old), &mut SystemRandom).unwrap();
    let sealed = &rotation.sealed;
    assert!(AccountSecrets::open(account(1), space(1), new_root, sealed).is_ok());
    assert!(AccountSecrets::open(account(1), space(1), old_root, sealed).is_err());
    assert!(
        AccountSecrets::open_with_recovery(account(1), space(1), &old_recovery, sealed).is_err()
    );
    assert!(
        AccountSecrets::open_with_recovery(account(1), space(1), &rotation.recovery, sealed)
            .is_ok()
    );
    // The same seals under the old account key don't open: it is another one.
    let by_old_key = AccountSecrets::open_with(account(1), space(1), old.key.clone(), sealed);
    assert!(by_old_key.is_err());
    assert_eq!(rotation.epoch.epoch, 2);
    assert_eq!(rotation.secrets.sharing.public(), old.sharing.public());
    assert!(rotation.devices.is_none());
    assert_eq!(rotation.boxes.boxes.len(), 2);
}

/// A limit that the documents state: boxes are sealed under keys that follow from the old account key.
#[test]
fn an_old_key_opens_the_new_boxes_with_the_account_as_it_was_sealed_before() {
    let old = secrets();
    let [old_root, new_root] = &*ROOTS;
    let rng = &mut SystemRandom;
    let (old_recovery, kept) = old.seal(old_root, rng).unwrap();
    let (account, space) = (account(1), space(1));
    let by_passphrase = AccountSecrets::open(account, space, old_root, &kept).unwrap();
    let by_recovery = AccountSecrets::open_with_recovery(account, space, &old_recovery, &kept);
    let (list, revoked) = (list(&old), device(1).number);
    let changed = change_passphrase(&old, new_root, &list, rng).unwrap();
    let without_one = revoke_devices(&old, new_root, &list, &[revoked], rng).unwrap();
    for attacker in [by_passphrase, by_recovery.unwrap()] {
        let key = attacker.key().box_key(device(2).number);
        for rotation in [&changed, &without_one] {
            let opened = open_box(&key, rotation).unwrap();
            assert_eq!(*opened.ring.encode(), *rotation.secrets.ring.encode());
            let sharing = rotation.secrets.sharing.public();
            assert_eq!(opened.sharing.public(), sharing);
        }
    }
}

#[test]
fn devices_go_on_with_their_boxes_and_without_the_passphrase() {
    let old = secrets();
    let first = change_passphrase(&old, &ROOTS[1], &list(&old), &mut SystemRandom).unwrap();
    let number = device(2).number;
    let opened = open_box(&old.key().box_key(number), &first).unwrap();
    assert_eq!(*opened.ring.encode(), *first.secrets.ring.encode());
    assert_eq!(opened.sharing.public(), old.sharing.public());
    // The next box opens with the key that was in this one, and not with the old key.
    let now = &first.secrets;
    let second = change_passphrase(now, &ROOTS[0], &list(now), &mut SystemRandom).unwrap();
    assert!(open_box(&opened.next, &second).is_ok());
    assert!(open_box(&old.key().box_key(number), &second).is_err());
    // Nobody else's box, and no other epoch's.
    assert!(open_box(&old.key().box_key(device(1).number), &first).is_ok());
    assert!(open_box(&old.key().box_key(device(3).number), &first).is_err());
    let sealed = first.boxes.find(account(1), number).unwrap();
    let key = old.key().box_key(number);
    assert!(key.open(space(1), 2, sealed).is_ok());
    assert!(key.open(space(1), 1, sealed).is_err());
    assert!(key.open(space(2), 2, sealed).is_err());
    let moved = BoxKey::from_bytes(device(1).number, &*key.to_bytes()).unwrap();
    assert!(moved.open(space(1), 2, sealed).is_err());
}

#[test]
fn a_revoked_device_opens_nothing_new() {
    let old = secrets();
    let old_list = list(&old);
    let (lost, kept) = (device(1).number, device(2).number);
    let rng = &mut SystemRandom;
    let rotation = revoke_devices(&old, &ROOTS[0], &old_list, &[lost], rng).unwrap();
    assert!(open_box(&old.key().box_key(lost), &rotation).is_err());
    let opened = open_box(&old.key().box_key(kept), &rotation).unwrap();
    assert_eq!(opened.sharing.public(), rotation.secrets.sharing.public());
    assert_ne!(opened.sharing.public(), old.sharing.public());
    let list = rotation.devices.unwrap();
    assert_eq!(list.counter, 5);
    assert_eq!(list.devices, [device(2)]);
    assert_eq!(list.rsa, opened.sharing.public().rsa);
    assert_eq!(list.kem, opened.sharing.public().kem);
    let signed = list.to_sign(account(1));
    assert!(cairn_log::verify(&list.identity, &signed, &list.signature).is_ok());
    // With all that the lost device had: its box key and the old personal secrets.
    let boxes = &rotation.boxes;
    let newest_of_lost = old.ring.newest_secret().clone();
    assert!(KeyRing::open_older(newest_of_lost, &boxes.ring).is_err());
    for one in &boxes.boxes {
        let key = BoxKey::from_bytes(one.number, &*old.key().box_key(lost).to_bytes());
        assert!(key.unwrap().open(space(1), 2, &one.sealed).is_err());
    }
}

#[test]
fn the_last_device_a_strange_one_and_another_accounts_list_are_refused() {
    let old = secrets();
    let good = list(&old);
    let (one, two, other) = (device(1).number, device(2).number, device(3).number);
    let rng = &mut SystemRandom;
    for revoked in [&[][..], &[other], &[one, other], &[one, two]] {
        let rotation = revoke_devices(&old, &ROOTS[0], &good, revoked, rng);
        assert!(rotation.is_err(), "{revoked:?}");
    }
    let nothing = revoke_devices(&old, &ROOTS[0], &good, &[], rng).map(|_| ());
    assert!(
        matches!(
            nothing,
            Err(CryptoError::InvalidInput("no device to revoke was given"))
        ),
        "{nothing:?}"
    );
    let foreign = DeviceList {
        identity: [8; 32],
        ..good
    };
    assert!(revoke_devices(&old, &ROOTS[0], &foreign, &[one], rng).is_err());
    assert!(change_passphrase(&old, &ROOTS[0], &foreign, rng).is_err());
}
