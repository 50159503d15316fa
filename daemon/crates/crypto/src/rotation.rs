//! Replaces all keys of an account, after a device was lost or a secret became known, and checks that keys which a
//! server offers are the successors of those that a device has.
//!
//! The epoch of the personal space counts the account's keys. The wrap under the passphrase is bound to it, so that
//! somebody with the keys of one epoch can't make a bundle of a later one without the passphrase.

use crate::account::{AccountKeys, check_opens};
use crate::bundle::{KeyBundle, Replacement};
use crate::derive::AuthValue;
use crate::error::CryptoError;
use crate::format2::account::RootCost;
use crate::kdf::Kdf;
use crate::new_keys::{Kept, NewKeys};
use crate::random::Random;
use crate::ring::KeyRing;

/// The most epochs of one space. Each of them is an entry of the bundle.
const MAX_EPOCH: u32 = 1000;

/// The choices for new keys of an account.
#[derive(Clone, Debug)]
pub struct Rotation<'a> {
    /// The passphrase that opens the new keys; it may be the one of before.
    pub passphrase: &'a str,
    pub cost: RootCost,
    /// The keys of teams' spaces to be taken along, as grants to the former keys can't be opened any more.
    pub team_rings: Vec<KeyRing>,
    pub replaced: Replacement,
}

/// Makes a new account key, new RSA and signing keys, and a new epoch of the personal space; the keys of earlier
/// epochs are taken along. No recovery key opens the result.
///
/// # Errors
/// A cost out of bounds, an empty passphrase, a bundle that doesn't open with these keys, or an account whose
/// keys were replaced a thousand times.
pub fn rotate(
    bundle: &KeyBundle,
    unlocked: &AccountKeys,
    rotation: Rotation<'_>,
    rng: &mut dyn Random,
) -> Result<(KeyBundle, AccountKeys, AuthValue), CryptoError> {
    check_opens(bundle, unlocked)?;
    let account = unlocked.account;
    let epoch = unlocked.epoch() + 1;
    if epoch > MAX_EPOCH {
        return Err(CryptoError::InvalidInput(
            "the keys of this account were replaced too often",
        ));
    }
    let kdf = Kdf::generate(rotation.cost, rng)?;
    let keys = NewKeys::generate(account, rotation.passphrase, kdf, rng)?;
    let kept = Kept {
        version: bundle.version,
        ring: unlocked.ring.renew(epoch, rng)?,
        team_rings: rotation.team_rings,
        replaced: Some(rotation.replaced),
    };
    keys.into_bundle(kept, rng)
}

impl AccountKeys {
    /// Returns true if these are the keys of the same epoch, each of them equal.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.account == other.account
            && self.epoch() == other.epoch()
            && self.account_key.to_bytes() == other.account_key.to_bytes()
            && self.public() == other.public()
            && self.ring.check_values() == other.ring.check_values()
    }

    /// Checks that opened keys may take the place of these: the same ones in a bundle that isn't older, or those of
    /// a later epoch which have the personal space's keys of all epochs so far.
    ///
    /// # Errors
    /// [`CryptoError::Rollback`] for an older bundle or an earlier epoch, [`CryptoError::KeyChanged`] for other keys.
    pub fn check_successor(&self, next: &Self) -> Result<(), CryptoError> {
        let rollback = |seen, served| Err(CryptoError::Rollback { seen, served });
        if next.bundle_version < self.bundle_version {
            return rollback(self.bundle_version, next.bundle_version);
        }
        let (seen, served) = (self.epoch(), next.epoch());
        if served < seen {
            return rollback(seen.into(), served.into());
        }
        let takes_along = || {
            let all = next.ring.check_values();
            let mut known = self.ring.check_values().into_iter();
            let is_there = |(epoch, check)| all.get(&epoch) == Some(&check);
            self.account == next.account && known.all(is_there)
        };
        if self.is_same(next) || (served > seen && takes_along()) {
            Ok(())
        } else {
            Err(CryptoError::KeyChanged)
        }
    }
}

#[cfg(test)]
mod tests;
