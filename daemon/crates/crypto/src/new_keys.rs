//! New keys of an account, and the bundle that has them: of a new account, and of one whose keys are replaced.

use crate::account::{AccountKeys, authenticate, rsa_data, rsa_wrap, wrap_account_key};
use crate::aead;
use crate::bundle::{BUNDLE_FORMAT, KeyBundle, Replacement};
use crate::derive::{AuthValue, RootKeys};
use crate::error::CryptoError;
use crate::identity::{RsaPair, SigningPair};
use crate::kdf::Kdf;
use crate::random::Random;
use crate::ring::KeyRing;
use crate::secret::{AccountKey, Key};
use crate::space_wrap::wrap_ring;
use cairn_model::AccountId;
use std::sync::Arc;

/// The keys that every epoch of an account has anew.
pub(crate) struct NewKeys {
    account: AccountId,
    kdf: Kdf,
    root: RootKeys,
    account_key: AccountKey,
    signing: SigningPair,
    rsa: RsaPair,
}

/// The rest of a bundle: what may have been there before.
pub(crate) struct Kept {
    /// The version of the bundle before; 0 without one.
    pub(crate) version: u64,
    /// The keys of the personal space. Its epoch is that of the account's keys.
    pub(crate) ring: KeyRing,
    pub(crate) team_rings: Vec<KeyRing>,
    pub(crate) replaced: Option<Replacement>,
}

impl NewKeys {
    /// Makes the keys.
    ///
    /// # Errors
    /// An empty passphrase.
    pub(crate) fn generate(
        account: AccountId,
        passphrase: &str,
        kdf: Kdf,
        rng: &mut dyn Random,
    ) -> Result<Self, CryptoError> {
        Ok(Self {
            account,
            root: kdf.derive(passphrase)?,
            kdf,
            account_key: AccountKey(Key::generate(rng)),
            signing: SigningPair::generate(rng),
            rsa: RsaPair::generate(rng)?,
        })
    }

    /// Wraps all keys into a bundle. No recovery key opens it.
    ///
    /// # Errors
    /// The RSA key can't be encoded.
    pub(crate) fn into_bundle(
        self,
        kept: Kept,
        rng: &mut dyn Random,
    ) -> Result<(KeyBundle, AccountKeys, AuthValue), CryptoError> {
        let (account, key) = (self.account, &self.account_key);
        let epoch = (account, kept.ring.epoch());
        let mut bundle = KeyBundle {
            format: BUNDLE_FORMAT,
            version: kept.version,
            kdf: self.kdf.to_fields(),
            account_key: wrap_account_key(&self.root.kek, &self.kdf, epoch, key, rng),
            rsa_public: self.rsa.public_der().to_vec(),
            rsa_private: aead::seal(&rsa_wrap(key), &rsa_data(account), &self.rsa.to_der()?, rng),
            signing_public: self.signing.public().to_vec(),
            signing_private: Vec::new(),
            spaces: Vec::new(),
            recovery: None,
            replaced: kept.replaced,
        };
        for ring in std::iter::once(&kept.ring).chain(&kept.team_rings) {
            bundle.spaces.extend(wrap_ring(key, account, ring, rng));
        }
        let mut opened = AccountKeys {
            account,
            account_key: self.account_key,
            signing: self.signing,
            rsa: self.rsa,
            space: Arc::new(kept.ring.keys()),
            ring: kept.ring,
            team_rings: kept.team_rings,
            bundle_version: 0,
        };
        opened.bundle_version = authenticate(&mut bundle, &opened, rng);
        Ok((bundle, opened, self.root.auth))
    }
}
