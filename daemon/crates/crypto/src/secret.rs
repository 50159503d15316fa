//! 32-byte keys that are wiped when dropped, never printed and never all zero, and the derivation of
//! one key from another (HKDF-SHA-256, RFC 5869; one label per purpose).

use crate::error::{CryptoError, Result};
use crate::random::{self, Random};
use cairn_log::AssociatedData;
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

/// A key of 256 bits.
#[derive(Clone)]
pub(crate) struct Key(Zeroizing<[u8; 32]>);

impl Key {
    pub(crate) fn generate(rng: &mut dyn Random) -> Self {
        Self(Zeroizing::new(random::array(rng)))
    }

    /// Makes a key of 32 bytes that are not all zero.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| CryptoError::NotAuthentic)?;
        let key = Self(Zeroizing::new(bytes));
        if key.0.iter().fold(0, |any, b| any | b) == 0 {
            return Err(CryptoError::NotAuthentic);
        }
        Ok(key)
    }

    /// Derives a key from a secret shorter than 32 bytes: the one block of HKDF-Expand, which libraries
    /// refuse to compute with such a key.
    pub(crate) fn from_short(secret: &[u8], purpose: &AssociatedData) -> Result<Self> {
        let mut block =
            Hmac::<Sha256>::new_from_slice(secret).map_err(|_| CryptoError::NotAuthentic)?;
        block.update(purpose.as_bytes());
        block.update(&[1]);
        let bytes: Zeroizing<[u8; 32]> = Zeroizing::new(block.finalize().into_bytes().into());
        Self::from_bytes(&*bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Derives a key for one purpose.
    pub(crate) fn derive(&self, purpose: &AssociatedData) -> Self {
        // The key is uniformly random already, so RFC 5869 section 3.3 lets extract be skipped.
        let hkdf = Hkdf::<Sha256>::from_prk(self.bytes())
            .expect("32 bytes are a pseudorandom key of SHA-256");
        let mut out = Zeroizing::new([0; 32]);
        hkdf.expand(purpose.as_bytes(), &mut *out)
            .expect("32 bytes are within the bounds of HKDF");
        Self(out)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The key under which all other keys of an account are wrapped.
///
/// A logged-in device keeps its bytes in the system's keyring; nothing else stores it in clear.
#[derive(Clone, Debug)]
pub struct AccountKey(pub(crate) Key);

impl AccountKey {
    /// The 32 bytes, for the keyring.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(*self.0.bytes())
    }

    /// Reads the key as the keyring stores it.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if they are not 32 bytes, or all zero.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, CryptoError> {
        Key::from_bytes(bytes).map(Self)
    }
}
