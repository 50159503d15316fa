//! The trust key: seals the little that a device must remember unaltered between two runs (pins,
//! floors, highest revisions seen).

use crate::aead;
use crate::bound::Bound;
use crate::error::CryptoError;
use crate::random::Random;
use crate::secret::{AccountKey, Key};
use cairn_model::AccountId;
use zeroize::Zeroizing;

/// Seals this device's own notes.
#[derive(Clone, Debug)]
pub struct TrustKey(Key);

impl TrustKey {
    pub(crate) fn new(account_key: &AccountKey, account: AccountId) -> Self {
        Self(
            account_key
                .0
                .derive(&Bound::new("cairn/trust-key/1").id(&account)),
        )
    }

    /// Seals a note; `label` says what it is, and opening it asks for the same label.
    #[must_use]
    pub fn seal(&self, label: &str, plain: &[u8], rng: &mut dyn Random) -> Vec<u8> {
        aead::seal(&self.0, &bound(label), plain, rng)
    }

    /// Opens a note that was sealed under the same label.
    ///
    /// # Errors
    /// [`CryptoError::Opaque`] if it was altered or is another note.
    pub fn open(&self, label: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        aead::open(&self.0, &bound(label), sealed)
    }
}

fn bound(label: &str) -> Bound {
    Bound::new("cairn/trust/1").bytes(label.as_bytes())
}
