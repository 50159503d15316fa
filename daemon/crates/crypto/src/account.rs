//! Makes an account's keys, opens them from its key bundle (all of them, encrypted, as the server stores them), and
//! changes the passphrase. The passphrase opens the account key, and that opens all others.
//!
//! The associated data of every wrapped key has the ids that the caller requested, never ids from a response.

use crate::aead;
use crate::bundle::KeyBundle;
use crate::derive::AuthValue;
use crate::error::{CryptoError, Result};
use crate::format2::account::RootCost;
use crate::identity::{RsaPair, SigningPair};
use crate::kdf::Kdf;
use crate::new_keys::{Kept, NewKeys};
use crate::public::PublicKeys;
use crate::random::Random;
use crate::ring::KeyRing;
use crate::secret::{AccountKey, Key};
use crate::space::SpaceKeys;
use crate::space_wrap::{unwrap_ring, unwrap_team_rings};
use crate::trust::TrustKey;
use cairn_log::AssociatedData;
use cairn_model::{AccountId, SpaceId};
use std::sync::Arc;

/// The opened keys of one account.
#[derive(Clone, Debug)]
pub struct AccountKeys {
    pub account: AccountId,
    pub account_key: AccountKey,
    pub signing: SigningPair,
    pub rsa: RsaPair,
    /// The keys of the personal space, of all its epochs.
    pub space: Arc<SpaceKeys>,
    pub(crate) ring: KeyRing,
    /// The keys of teams' spaces as they were when the account's keys were last replaced.
    pub(crate) team_rings: Vec<KeyRing>,
    /// The version of the bundle that was opened; a later one must not be lower.
    pub bundle_version: u64,
}

impl AccountKeys {
    /// The key under which this device stores its pins and other facts that it trusts.
    #[must_use]
    pub fn trust_key(&self) -> TrustKey {
        TrustKey::new(&self.account_key, self.account)
    }

    /// The public keys, recomputed from the private ones.
    #[must_use]
    pub fn public(&self) -> PublicKeys {
        PublicKeys::of(&self.rsa, &self.signing)
    }

    /// The epoch of the personal space. It rises when the account's keys are replaced, and only then.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.ring.epoch()
    }

    /// Returns the key ring of a team's space that was taken along when the account's keys were replaced: the
    /// grants from before are sealed to a key that is gone.
    #[must_use]
    pub fn team_ring(&self, space: SpaceId) -> Option<&KeyRing> {
        self.team_rings.iter().find(|ring| ring.space() == space)
    }
}

/// Makes all keys of a new account, and the first bundle.
///
/// # Errors
/// A cost out of bounds, or an empty passphrase.
pub fn create_account(
    passphrase: &str,
    account: AccountId,
    space: SpaceId,
    cost: RootCost,
    rng: &mut dyn Random,
) -> std::result::Result<(KeyBundle, AccountKeys, AuthValue), CryptoError> {
    let keys = NewKeys::generate(account, passphrase, Kdf::generate(cost, rng)?, rng)?;
    let kept = Kept {
        version: 0,
        ring: KeyRing::generate(space, 1, rng),
        team_rings: Vec::new(),
        replaced: None,
    };
    keys.into_bundle(kept, rng)
}

/// Opens a bundle with the passphrase. The second value may be sent to the server; it is returned only
/// if the whole bundle is authentic.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for a wrong passphrase and for anything altered alike; unsafe derivation
/// parameters are refused before anything is derived.
pub fn unlock(
    bundle: &KeyBundle,
    passphrase: &str,
    account: AccountId,
    space: SpaceId,
) -> std::result::Result<(AccountKeys, AuthValue), CryptoError> {
    bundle.check_shape()?;
    let kdf = Kdf::parse(&bundle.kdf)?;
    let root = kdf.derive(passphrase)?;
    // A space without a key is reported below, once it is known that the bundle is genuine.
    let epoch = bundle.newest_key(space).map_or(1, |key| key.epoch);
    let account_key = aead::open(
        &root.kek,
        &account_key_data((account, epoch), &kdf),
        &bundle.account_key,
    )?;
    let account_key = AccountKey::from_bytes(&account_key)?;
    let unlocked = unlock_with_account_key(bundle, &account_key, account, space)?;
    Ok((unlocked, root.auth))
}

/// Opens a bundle with the account key that a logged-in device kept in its keyring.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for anything altered, [`CryptoError::KeyChanged`] for a public key that is
/// not ours, [`CryptoError::KeyMissing`] if the space has no key: a new one is never made for it.
pub fn unlock_with_account_key(
    bundle: &KeyBundle,
    account_key: &AccountKey,
    account: AccountId,
    space: SpaceId,
) -> std::result::Result<AccountKeys, CryptoError> {
    bundle.check_shape()?;
    let signing = aead::open(
        &signing_wrap(account_key),
        &signing_data(account, bundle),
        &bundle.signing_private,
    )?;
    let signing = SigningPair::from_seed(&signing)?;
    let rsa = aead::open(
        &rsa_wrap(account_key),
        &rsa_data(account),
        &bundle.rsa_private,
    )?;
    let rsa = RsaPair::from_der(&rsa)?;
    if bundle.signing_public != signing.public() || bundle.rsa_public != rsa.public_der() {
        return Err(CryptoError::KeyChanged);
    }
    let ring = unwrap_ring(bundle, account_key, account, space)?;
    let team_rings = unwrap_team_rings(bundle, account_key, account, space)?;
    Ok(AccountKeys {
        account,
        account_key: account_key.clone(),
        signing,
        rsa,
        space: Arc::new(ring.keys()),
        ring,
        team_rings,
        bundle_version: bundle.version,
    })
}

/// Wraps the account key under a new passphrase, by Argon2id; the bundle's version rises by one.
///
/// # Errors
/// A cost out of bounds, an empty passphrase, or a bundle that doesn't open with these keys.
pub fn change_passphrase(
    bundle: &KeyBundle,
    unlocked: &AccountKeys,
    new_passphrase: &str,
    cost: RootCost,
    rng: &mut dyn Random,
) -> std::result::Result<(KeyBundle, AuthValue), CryptoError> {
    check_opens(bundle, unlocked)?;
    let kdf = Kdf::generate(cost, rng)?;
    let root = kdf.derive(new_passphrase)?;
    let mut changed = KeyBundle {
        kdf: kdf.to_fields(),
        account_key: wrap_account_key(
            &root.kek,
            &kdf,
            (unlocked.account, unlocked.epoch()),
            &unlocked.account_key,
            rng,
        ),
        ..bundle.clone()
    };
    authenticate(&mut changed, unlocked, rng);
    Ok((changed, root.auth))
}

/// Raises the version, and wraps the signing key with the digest of the bundle as it is now.
pub(crate) fn authenticate(
    bundle: &mut KeyBundle,
    unlocked: &AccountKeys,
    rng: &mut dyn Random,
) -> u64 {
    bundle.version += 1;
    bundle.signing_private = aead::seal(
        &signing_wrap(&unlocked.account_key),
        &signing_data(unlocked.account, bundle),
        &*unlocked.signing.to_seed(),
        rng,
    );
    bundle.version
}

/// Refuses to change a bundle that doesn't open with these keys.
pub(crate) fn check_opens(bundle: &KeyBundle, unlocked: &AccountKeys) -> Result<()> {
    let space = unlocked.space.space();
    unlock_with_account_key(bundle, &unlocked.account_key, unlocked.account, space).map(drop)
}

pub(crate) fn wrap_account_key(
    kek: &Key,
    kdf: &Kdf,
    of: (AccountId, u32),
    account_key: &AccountKey,
    rng: &mut dyn Random,
) -> Vec<u8> {
    aead::seal(kek, &account_key_data(of, kdf), account_key.0.bytes(), rng)
}

/// Returns what the wrap of an account key under the passphrase is bound to. From the second epoch on that is the
/// epoch, too: whoever has an earlier account key has its wrap as well, and must not pass that off as a later one.
fn account_key_data((account, epoch): (AccountId, u32), kdf: &Kdf) -> AssociatedData {
    let data = if epoch == 1 {
        AssociatedData::new("cairn/account-key/1")
    } else {
        AssociatedData::new("cairn/account-key/2").number(u64::from(epoch))
    };
    kdf.bind(data.id(&account))
}

fn signing_wrap(account_key: &AccountKey) -> Key {
    account_key
        .0
        .derive(&AssociatedData::new("cairn/signing-wrap-key/1"))
}

fn signing_data(account: AccountId, bundle: &KeyBundle) -> AssociatedData {
    AssociatedData::new("cairn/signing-private/1")
        .id(&account)
        .bytes(&bundle.digest(account))
}

pub(crate) fn rsa_wrap(account_key: &AccountKey) -> Key {
    account_key
        .0
        .derive(&AssociatedData::new("cairn/rsa-wrap-key/1"))
}

pub(crate) fn rsa_data(account: AccountId) -> AssociatedData {
    AssociatedData::new("cairn/rsa-private/1").id(&account)
}
