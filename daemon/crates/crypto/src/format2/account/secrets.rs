//! All secrets of an account: opened, as a command has them that asked for the passphrase, and sealed, as the
//! service keeps them.

use super::key::AccountKey;
use super::root::Root;
use crate::error::{CryptoError, Result};
use crate::format2::device_key::IdentityKey;
use crate::format2::ring::KeyRing;
use crate::format2::seal::Purpose;
use crate::format2::sharing::SharingKeys;
use crate::random::Random;
use crate::recovery::RecoveryKey;
use cairn_model::{AccountId, SpaceId};
use zeroize::Zeroizing;

/// The secrets of an account.
#[derive(Clone, Debug)]
pub struct AccountSecrets {
    pub(super) account: AccountId,
    pub(super) key: AccountKey,
    pub identity: IdentityKey,
    pub sharing: SharingKeys,
    /// The hash of the genesis, the first statement in the personal space's log: no other log is the account's own.
    pub genesis: [u8; 32],
    /// All secrets of the personal space, one for each epoch (generation of its key).
    pub ring: KeyRing,
}

/// The sealed secrets of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedAccount {
    /// The account key, under the key from the passphrase.
    pub account: Vec<u8>,
    /// The account key, under the recovery key.
    pub recovery: Vec<u8>,
    /// Under the account key, as those that follow.
    pub identity: Vec<u8>,
    pub sharing: Vec<u8>,
    pub ring: Vec<u8>,
}

impl AccountSecrets {
    /// Puts the secrets of a new account together and draws its key.
    #[must_use]
    pub fn new(
        account: AccountId,
        identity: IdentityKey,
        sharing: SharingKeys,
        (genesis, ring): ([u8; 32], KeyRing),
        rng: &mut dyn Random,
    ) -> Self {
        Self {
            account,
            key: AccountKey::generate(rng),
            identity,
            sharing,
            genesis,
            ring,
        }
    }

    /// Returns the account that the secrets belong to.
    #[must_use]
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// Returns the account key: it makes the box keys of devices.
    #[must_use]
    pub fn key(&self) -> &AccountKey {
        &self.key
    }

    /// Draws a recovery key and seals all secrets for the service.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] never happens for secrets that were drawn or opened.
    pub fn seal(
        &self,
        root: &Root,
        rng: &mut dyn Random,
    ) -> std::result::Result<(RecoveryKey, SealedAccount), CryptoError> {
        let (account, key) = (self.account, &self.key);
        let recovery = RecoveryKey::generate(rng);
        let ring = self.ring.encode();
        let mut personal = Zeroizing::new(Vec::with_capacity(32 + ring.len()));
        personal.extend_from_slice(&self.genesis);
        personal.extend_from_slice(&ring);
        let sharing = self.sharing.to_bytes()?;
        let sealed = SealedAccount {
            account: key.seal_by_passphrase(root, account, rng),
            recovery: key.seal_by_recovery(&recovery, account, rng)?,
            identity: key.seal(Purpose::Identity(account), &*self.identity.to_seed(), rng),
            sharing: key.seal(Purpose::Sharing(account), &*sharing, rng),
            ring: key.seal(Purpose::PersonalRing(account), &personal, rng),
        };
        Ok((recovery, sealed))
    }

    /// Opens the secrets of an account with its passphrase; `space` is its personal space.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] with another passphrase, or for another account's secrets.
    pub fn open(
        account: AccountId,
        space: SpaceId,
        root: &Root,
        sealed: &SealedAccount,
    ) -> std::result::Result<Self, CryptoError> {
        let key = AccountKey::open_by_passphrase(root, account, &sealed.account)?;
        Self::open_with(account, space, key, sealed)
    }

    /// Opens the secrets of an account with its recovery key.
    ///
    /// # Errors
    /// Fails like [`AccountSecrets::open`].
    pub fn open_with_recovery(
        account: AccountId,
        space: SpaceId,
        recovery: &RecoveryKey,
        sealed: &SealedAccount,
    ) -> std::result::Result<Self, CryptoError> {
        let key = AccountKey::open_by_recovery(recovery, account, &sealed.recovery)?;
        Self::open_with(account, space, key, sealed)
    }

    pub(super) fn open_with(
        account: AccountId,
        space: SpaceId,
        key: AccountKey,
        sealed: &SealedAccount,
    ) -> Result<Self> {
        let identity = key.open(Purpose::Identity(account), &sealed.identity)?;
        let sharing = key.open(Purpose::Sharing(account), &sealed.sharing)?;
        let personal = key.open(Purpose::PersonalRing(account), &sealed.ring)?;
        let (genesis, ring) = personal
            .split_first_chunk::<32>()
            .ok_or(CryptoError::NotAuthentic)?;
        Ok(Self {
            account,
            identity: IdentityKey::from_seed(&identity)?,
            sharing: SharingKeys::from_bytes(&sharing)?,
            genesis: *genesis,
            ring: KeyRing::decode(space, ring)?,
            key,
        })
    }
}
