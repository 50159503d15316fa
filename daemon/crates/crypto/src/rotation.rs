//! Replaces all keys of an account, after a device was lost or a secret became known, and checks that keys which a
//! server offers are the successors of those that a device has.
//!
//! The epoch of the personal space counts the account's keys. The wrap under the passphrase is bound to it, so that
//! somebody with the keys of one epoch can't make a bundle of a later one without the passphrase.

use crate::account::{
    AccountKeys, authenticate, check_opens, rsa_data, rsa_wrap, wrap_account_key,
};
use crate::aead;
use crate::bundle::{KeyBundle, Replacement};
use crate::derive::{AuthValue, KDF_ALGORITHM, KdfParams, derive_root};
use crate::error::CryptoError;
use crate::identity::{RsaPair, SigningPair};
use crate::random::Random;
use crate::ring::KeyRing;
use crate::secret::{AccountKey, Key};
use crate::space_wrap::wrap_ring;
use std::sync::Arc;

/// The most epochs of one space. Each of them is an entry of the bundle.
const MAX_EPOCH: u32 = 1000;

/// The choices for new keys of an account.
#[derive(Clone, Debug)]
pub struct Rotation<'a> {
    /// The passphrase that opens the new keys; it may be the one of before.
    pub passphrase: &'a str,
    pub iterations: u32,
    /// The keys of teams' spaces to be taken along, as grants to the former keys can't be opened any more.
    pub team_rings: Vec<KeyRing>,
    pub replaced: Replacement,
}

/// Makes a new account key, new RSA and signing keys, and a new epoch of the personal space; the keys of earlier
/// epochs are taken along. No recovery key opens the result.
///
/// # Errors
/// Iterations out of bounds, an empty passphrase, a bundle that doesn't open with these keys, or an account whose
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
    let kdf = KdfParams::generate(rotation.iterations, rng)?;
    let root = derive_root(rotation.passphrase, &kdf)?;
    let account_key = AccountKey(Key::generate(rng));
    let signing = SigningPair::generate(rng);
    let rsa = RsaPair::generate(rng)?;
    let ring = unlocked.ring.renew(epoch, rng)?;
    let team_rings = rotation.team_rings;
    let rings = std::iter::once(&ring).chain(&team_rings);
    let mut spaces = Vec::new();
    for ring in rings {
        spaces.extend(wrap_ring(&account_key, account, ring, rng));
    }
    let mut next = KeyBundle {
        format: bundle.format,
        version: bundle.version,
        kdf_algorithm: KDF_ALGORITHM.to_owned(),
        kdf_iterations: kdf.iterations,
        kdf_salt: kdf.salt.to_vec(),
        account_key: wrap_account_key(&root.kek, &kdf, (account, epoch), &account_key, rng),
        rsa_public: rsa.public_der().to_vec(),
        rsa_private: aead::seal(
            &rsa_wrap(&account_key),
            &rsa_data(account),
            &rsa.to_der()?,
            rng,
        ),
        signing_public: signing.public().to_vec(),
        signing_private: Vec::new(),
        spaces,
        recovery: None,
        replaced: Some(rotation.replaced),
    };
    let mut opened = AccountKeys {
        account,
        account_key,
        signing,
        rsa,
        space: Arc::new(ring.keys()),
        ring,
        team_rings,
        bundle_version: 0,
    };
    opened.bundle_version = authenticate(&mut next, &opened, rng);
    Ok((next, opened, root.auth))
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
