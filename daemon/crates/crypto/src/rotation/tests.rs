//! Replaced keys: which of them a device takes, and what the former ones still open.

use super::*;
use crate::account::{
    authenticate, change_passphrase, create_account, unlock, unlock_with_account_key,
};
use crate::error::Class;
use crate::format2::account::RootCost;
use crate::node_seal::{NodeFacts, NodeSeal, SealInfo};
use crate::random::SystemRandom;
use crate::recovery::{make_recovery_key, unlock_with_recovery};
use crate::space::SpaceKeys;
use crate::space_wrap::wrap_ring;
use cairn_model::{AccountId, Kind, NodeId, SpaceId};

const PASSPHRASE: &str = "seven words that nobody has guessed";

fn account() -> AccountId {
    AccountId::from_random_bytes([1; 16])
}

fn space() -> SpaceId {
    SpaceId::from_random_bytes([2; 16])
}

fn made() -> (KeyBundle, AccountKeys) {
    let rng = &mut SystemRandom;
    let (bundle, keys, _) =
        create_account(PASSPHRASE, account(), space(), RootCost::LEAST, rng).unwrap();
    (bundle, keys)
}

fn rotated(
    bundle: &KeyBundle,
    keys: &AccountKeys,
    team_rings: Vec<KeyRing>,
) -> (KeyBundle, AccountKeys) {
    let rotation = Rotation {
        passphrase: PASSPHRASE,
        cost: RootCost::LEAST,
        team_rings,
        replaced: Replacement {
            at_ms: 5,
            device: "desk".into(),
        },
    };
    let (bundle, keys, _) = rotate(bundle, keys, rotation, &mut SystemRandom).unwrap();
    (bundle, keys)
}

fn seal(keys: &SpaceKeys) -> Vec<u8> {
    NodeSeal::make(keys, &facts(), info())
}

fn opens(keys: &SpaceKeys, seal: &[u8]) -> bool {
    NodeSeal::check(keys, &facts(), seal).is_ok()
}

fn facts() -> NodeFacts<'static> {
    NodeFacts {
        node: NodeId::from_random_bytes([3; 16]),
        parent: None,
        name: "plan.txt",
        kind: Kind::File,
        executable: false,
        deleted: false,
    }
}

fn info() -> SealInfo {
    SealInfo {
        seq: 1,
        manifest_hash: Some([7; 32]),
    }
}

#[test]
fn the_keys_of_before_open_nothing_new_and_the_new_ones_open_everything() {
    let (bundle, old) = made();
    let (recovery, bundle) = make_recovery_key(&bundle, &old, &mut SystemRandom).unwrap();
    let (next, new) = rotated(&bundle, &old, Vec::new());
    assert_eq!((new.epoch(), next.version), (2, bundle.version + 1));

    let by_old_key = unlock_with_account_key(&next, &old.account_key, account(), space());
    assert_eq!(by_old_key.unwrap_err().class(), Class::AuthFailed);
    assert!(unlock_with_recovery(&next, &recovery, account(), space()).is_err());
    assert!(!opens(&old.space, &seal(&new.space)));
    assert!(opens(&new.space, &seal(&old.space)));
    let at = |epoch| cairn_log::NodeKeyRef {
        node: facts().node,
        epoch,
    };
    let missing = old.space.node_key_at(at(2)).unwrap_err();
    assert_eq!(missing.class(), Class::KeyMissing);
    assert!(new.space.node_key_at(at(1)).is_ok());
    assert!(old.public() != new.public());

    let (opened, _) = unlock(&next, PASSPHRASE, account(), space()).unwrap();
    assert!(opened.is_same(&new) && opens(&opened.space, &seal(&old.space)));
    let (third, newest) = rotated(&next, &opened, Vec::new());
    assert_eq!(newest.epoch(), 3);
    let (opened, _) = unlock(&third, PASSPHRASE, account(), space()).unwrap();
    assert!(opens(&opened.space, &seal(&old.space)) && opens(&opened.space, &seal(&new.space)));
}

#[test]
fn new_keys_take_a_new_passphrase_a_recovery_key_and_the_keys_of_teams() {
    let (bundle, old) = made();
    let team = SpaceId::from_random_bytes([9; 16]);
    let first = KeyRing::generate(team, 1, &mut SystemRandom);
    let ring = first.renew(4, &mut SystemRandom).unwrap();
    let (next, new) = rotated(&bundle, &old, vec![ring.clone()]);
    let (changed, _) =
        change_passphrase(&next, &new, "another", RootCost::LEAST, &mut SystemRandom).unwrap();
    assert!(unlock(&changed, PASSPHRASE, account(), space()).is_err());
    let (opened, _) = unlock(&changed, "another", account(), space()).unwrap();
    assert!(opened.is_same(&new) && new.check_successor(&opened).is_ok());
    let kept = opened.team_ring(team).unwrap();
    assert_eq!(kept.check_values(), ring.check_values());
    let (key, with_recovery) = make_recovery_key(&changed, &opened, &mut SystemRandom).unwrap();
    let recovered = unlock_with_recovery(&with_recovery, &key, account(), space()).unwrap();
    assert!(recovered.is_same(&new));
}

/// Makes what somebody can make who has the account key of a bundle, but not the passphrase.
fn forged(bundle: &KeyBundle, stolen: &AccountKeys, epoch: u32) -> KeyBundle {
    let rng = &mut SystemRandom;
    let ring = match epoch {
        1 => KeyRing::generate(space(), 1, rng),
        later => stolen.ring.renew(later, rng).unwrap(),
    };
    let keys = AccountKeys {
        ring: ring.clone(),
        ..stolen.clone()
    };
    let mut forged = KeyBundle {
        version: bundle.version + 5,
        spaces: wrap_ring(&stolen.account_key, account(), &ring, rng),
        ..bundle.clone()
    };
    authenticate(&mut forged, &keys, rng);
    forged
}

#[test]
fn whoever_has_an_account_key_without_the_passphrase_makes_no_successor_of_it() {
    let (bundle, old) = made();
    let (_, new) = rotated(&bundle, &old, Vec::new());
    // It looks as genuine as can be to somebody with the account key.
    let later = forged(&bundle, &old, 2);
    assert!(unlock_with_account_key(&later, &old.account_key, account(), space()).is_ok());
    let refused = unlock(&later, PASSPHRASE, account(), space()).unwrap_err();
    assert_eq!(refused.class(), Class::AuthFailed);
    // In the same epoch the passphrase opens it, and the keys are not the known ones.
    let same = forged(&bundle, &old, 1);
    let (opened, _) = unlock(&same, PASSPHRASE, account(), space()).unwrap();
    let refused = old.check_successor(&opened).unwrap_err();
    assert_eq!(refused.class(), Class::KeyChanged);
    let refused = new.check_successor(&opened).unwrap_err();
    assert_eq!(refused.class(), Class::Rollback);
}

#[test]
fn an_older_bundle_and_one_without_the_earlier_keys_are_refused() {
    let (bundle, old) = made();
    let (next, new) = rotated(&bundle, &old, Vec::new());
    assert!(old.check_successor(&new).is_ok());
    assert_eq!(
        new.check_successor(&old).unwrap_err().class(),
        Class::Rollback
    );
    assert!(bundle.check_epoch(space(), 2).is_err() && next.check_epoch(space(), 2).is_ok());
    let (bundle, stranger) = made();
    let (_, stranger) = rotated(&bundle, &stranger, Vec::new());
    let refused = old.check_successor(&stranger).unwrap_err();
    assert_eq!(refused.class(), Class::KeyChanged);
    let mut altered = next;
    altered.replaced.as_mut().unwrap().device = "another one".into();
    assert!(unlock(&altered, PASSPHRASE, account(), space()).is_err());
}
