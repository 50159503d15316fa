//! The public keys of an account: space keys are sealed to one, the other verifies signatures.
//!
//! Those of other people come from a server that may lie; callers compare them with the pinned ones, or
//! have a person compare the fingerprint.

use crate::error::{CryptoError, Result};
use crate::identity::{Adapter, EXPONENT, RSA_BITS, RsaPair, SigningPair, oaep};
use crate::random::Random;
use cairn_log::AssociatedData;
use ed25519_dalek::VerifyingKey;
use rsa::pkcs1::{DecodeRsaPublicKey as _, EncodeRsaPublicKey as _};
use rsa::traits::PublicKeyParts as _;
use rsa::{BoxedUint, PublicKey};
use std::fmt;

/// The RSA and the Ed25519 key of one account.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKeys {
    rsa: PublicKey,
    rsa_der: Vec<u8>,
    signing: [u8; 32],
}

impl PublicKeys {
    /// Reads an RSA-3072 key as PKCS#1 DER (RFC 8017, appendix A.1.1) and an Ed25519 key of 32 bytes
    /// (RFC 8032).
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything that isn't such keys.
    pub fn parse(rsa_der: &[u8], signing: &[u8]) -> std::result::Result<Self, CryptoError> {
        let rsa = PublicKey::from_pkcs1_der(rsa_der).map_err(|_| CryptoError::NotAuthentic)?;
        let signing: [u8; 32] = signing.try_into().map_err(|_| CryptoError::NotAuthentic)?;
        let weak = VerifyingKey::from_bytes(&signing)
            .map_err(|_| CryptoError::NotAuthentic)?
            .is_weak();
        // Keys have one encoding, so that they can be compared as bytes.
        let other_encoding = rsa
            .to_pkcs1_der()
            .is_ok_and(|der| der.as_bytes() != rsa_der);
        let ours =
            *rsa.e() == BoxedUint::from(EXPONENT) && rsa.n().bit_width() as usize == RSA_BITS;
        if weak || other_encoding || !ours {
            return Err(CryptoError::NotAuthentic);
        }
        Ok(Self {
            rsa,
            rsa_der: rsa_der.to_vec(),
            signing,
        })
    }

    pub(crate) fn of(rsa: &RsaPair, signing: &SigningPair) -> Self {
        Self {
            rsa: rsa.public(),
            rsa_der: rsa.public_der().to_vec(),
            signing: signing.public(),
        }
    }

    /// The RSA key as PKCS#1 DER.
    #[must_use]
    pub fn rsa_der(&self) -> &[u8] {
        &self.rsa_der
    }

    /// The Ed25519 key, 32 bytes.
    #[must_use]
    pub fn signing_key(&self) -> [u8; 32] {
        self.signing
    }

    /// Returns eight groups of four hexadecimal digits, for people to compare. Both keys are part of it:
    /// a replaced RSA key is as dangerous as a replaced signing key.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let both = AssociatedData::new("cairn/fingerprint/2")
            .bytes(&self.signing)
            .bytes(&self.rsa_der);
        let digest = blake3::derive_key("cairn/fingerprint/2", both.as_bytes());
        let text = hex::encode(&digest[..16]);
        let groups: Vec<&str> = (0..8).map(|i| &text[i * 4..i * 4 + 4]).collect();
        groups.join(" ")
    }

    /// Returns BLAKE3 of the RSA key, as a part of associated data.
    pub(crate) fn rsa_hash(&self) -> [u8; 32] {
        blake3::derive_key("cairn/rsa-public/1", &self.rsa_der)
    }

    /// Seals a few bytes to the RSA key.
    pub(crate) fn seal(
        &self,
        label: &AssociatedData,
        plain: &[u8],
        rng: &mut dyn Random,
    ) -> Result<Vec<u8>> {
        self.rsa
            .encrypt(&mut Adapter(rng), oaep(label), plain)
            .map_err(|_| CryptoError::InvalidInput("the public key can't seal a key"))
    }
}

impl fmt::Debug for PublicKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKeys({})", self.fingerprint())
    }
}
