//! The trust key: seals the few facts that a device must remember unaltered between two runs: pins (other people's
//! public keys as first seen), lowest acceptable versions, highest revisions seen.

use crate::aead;
use crate::error::CryptoError;
use crate::random::Random;
use crate::secret::{AccountKey, Key};
use cairn_log::AssociatedData;
use cairn_model::AccountId;
use zeroize::Zeroizing;

/// Seals records of this device for itself.
#[derive(Clone, Debug)]
pub struct TrustKey(Key);

impl TrustKey {
    pub(crate) fn new(account_key: &AccountKey, account: AccountId) -> Self {
        Self(
            account_key
                .0
                .derive(&AssociatedData::new("cairn/trust-key/1").id(&account)),
        )
    }

    /// Seals a record; opening it needs the same label.
    #[must_use]
    pub fn seal(&self, label: &str, plain: &[u8], rng: &mut dyn Random) -> Vec<u8> {
        aead::seal(&self.0, &associated_data(label), plain, rng)
    }

    /// Opens a record that was sealed under the same label.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if it was altered or has another label.
    pub fn open(&self, label: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        aead::open(&self.0, &associated_data(label), sealed)
    }
}

fn associated_data(label: &str) -> AssociatedData {
    AssociatedData::new("cairn/trust/1").bytes(label.as_bytes())
}
