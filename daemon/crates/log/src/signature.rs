//! Checks of Ed25519 signatures (RFC 8032), and the numbers of the devices that sign.

use crate::associated_data::AssociatedData;
use crate::error::LogError;
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest as _, Sha256};

/// Checks an Ed25519 signature. Refuses weak keys and malleable signatures.
///
/// # Errors
/// [`LogError::NotGenuine`] if the key's owner hasn't signed this message.
pub fn verify(
    public: &[u8; 32],
    message: &AssociatedData,
    signature: &[u8; 64],
) -> std::result::Result<(), LogError> {
    VerifyingKey::from_bytes(public)
        .and_then(|key| key.verify_strict(message.as_bytes(), &Signature::from_bytes(signature)))
        .map_err(|_| LogError::NotGenuine)
}

/// Returns the number of the device with a public key; `None` for the rare key that no device may have.
#[must_use]
pub fn device_number(public: &[u8; 32]) -> Option<u32> {
    let hash = Sha256::digest(public);
    let number = hash.iter().take(4).fold(0, |n, &b| n << 8 | u32::from(b));
    (number != 0).then_some(number)
}
