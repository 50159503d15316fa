//! The account key, AK: 32 random bytes that seal all other secrets of an account. Only a command that
//! asked for the passphrase has it; nothing stores it in clear.

use super::device_box::BoxKey;
use super::root::Root;
use crate::error::Result;
use crate::format2::seal::{self, Purpose};
use crate::random::Random;
use crate::recovery::RecoveryKey;
use crate::secret::Key;
use cairn_log::AssociatedData;
use cairn_model::AccountId;
use zeroize::Zeroizing;

/// The key under which an account's secrets are sealed.
#[derive(Clone, Debug)]
pub struct AccountKey(Key);

impl AccountKey {
    /// Generates a new key.
    pub(crate) fn generate(rng: &mut dyn Random) -> Self {
        Self(Key::generate(rng))
    }

    /// Returns the key of a device's boxes.
    #[must_use]
    pub fn box_key(&self, number: u32) -> BoxKey {
        let purpose = AssociatedData::new("cairn/2/bk").number(u64::from(number));
        BoxKey::new(self.0.derive(&purpose), number)
    }

    pub(super) fn seal(&self, purpose: Purpose, plain: &[u8], rng: &mut dyn Random) -> Vec<u8> {
        seal::seal(&self.0, purpose, plain, rng)
    }

    pub(super) fn open(&self, purpose: Purpose, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        seal::open(&self.0, purpose, sealed)
    }

    pub(super) fn seal_by_passphrase(
        &self,
        root: &Root,
        account: AccountId,
        rng: &mut dyn Random,
    ) -> Vec<u8> {
        let purpose = Purpose::Account(account);
        seal::seal(&root.kek, purpose, self.0.bytes(), rng)
    }

    pub(super) fn seal_by_recovery(
        &self,
        recovery: &RecoveryKey,
        account: AccountId,
        rng: &mut dyn Random,
    ) -> Result<Vec<u8>> {
        let (key, purpose) = (recovery.key(account)?, Purpose::Recovery(account));
        Ok(seal::seal(&key, purpose, self.0.bytes(), rng))
    }

    pub(super) fn open_by_passphrase(
        root: &Root,
        account: AccountId,
        sealed: &[u8],
    ) -> Result<Self> {
        let plain = seal::open(&root.kek, Purpose::Account(account), sealed)?;
        Key::from_bytes(&plain).map(Self)
    }

    pub(super) fn open_by_recovery(
        recovery: &RecoveryKey,
        account: AccountId,
        sealed: &[u8],
    ) -> Result<Self> {
        let key = recovery.key(account)?;
        let plain = seal::open(&key, Purpose::Recovery(account), sealed)?;
        Key::from_bytes(&plain).map(Self)
    }
}
