//! Signing keys of devices, identities and invitation tokens, all Ed25519.

use crate::error::CryptoError;
use crate::identity::SigningPair;
use crate::random::Random;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// A device's key. It is made on the device, never leaves it, and signs its commits.
#[derive(Clone, Debug)]
pub struct DeviceKey(pub(crate) SigningPair);

/// An account's identity: signs device lists and rosters. Only a command that asked for the passphrase
/// has it.
#[derive(Clone, Debug)]
pub struct IdentityKey(pub(crate) SigningPair);

macro_rules! signing_key {
    ($name:ident) => {
        impl $name {
            /// Draws a new key.
            #[must_use]
            pub fn generate(rng: &mut dyn Random) -> Self {
                Self(SigningPair::generate(rng))
            }

            /// Reads a key from its seed of 32 bytes.
            ///
            /// # Errors
            /// [`CryptoError::Opaque`] for another length.
            pub fn from_seed(seed: &[u8]) -> std::result::Result<Self, CryptoError> {
                SigningPair::from_seed(seed).map(Self)
            }

            /// The seed, 32 bytes, for the keyring.
            #[must_use]
            pub fn to_seed(&self) -> Zeroizing<[u8; 32]> {
                self.0.to_seed()
            }

            /// The public key, 32 bytes.
            #[must_use]
            pub fn public(&self) -> [u8; 32] {
                self.0.public()
            }
        }
    };
}

signing_key!(DeviceKey);
signing_key!(IdentityKey);

/// Returns the number of the device with a public key; `None` for the rare key that no device may have.
#[must_use]
pub fn device_number(public: &[u8; 32]) -> Option<u32> {
    let hash = Sha256::digest(public);
    let number = hash.iter().take(4).fold(0, |n, &b| n << 8 | u32::from(b));
    (number != 0).then_some(number)
}
