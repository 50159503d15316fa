//! Somebody's public keys: what space keys are sealed to, and what tells their signatures.
//!
//! Those of others come from a server that may lie; whoever uses them compares them with what was
//! seen before, or has a person compare the fingerprint.

use crate::bound::Bound;
use crate::error::{CryptoError, Result};
use crate::identity::{Adapter, RSA_BITS, RsaPair, SigningPair, oaep};
use crate::random::Random;
use ed25519_dalek::VerifyingKey;
use rsa::RsaPublicKey;
use rsa::pkcs1::{DecodeRsaPublicKey as _, EncodeRsaPublicKey as _};
use rsa::traits::PublicKeyParts as _;
use std::fmt;

/// The RSA and the Ed25519 key of one account.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKeys {
    rsa: RsaPublicKey,
    rsa_der: Vec<u8>,
    signing: [u8; 32],
}

impl PublicKeys {
    /// Takes an RSA-3072 key as PKCS#1 DER and an Ed25519 key of 32 bytes.
    ///
    /// # Errors
    /// [`CryptoError::Opaque`] for anything that can't be such keys.
    pub fn parse(rsa_der: &[u8], signing: &[u8]) -> std::result::Result<Self, CryptoError> {
        let rsa = RsaPublicKey::from_pkcs1_der(rsa_der).map_err(|_| CryptoError::Opaque)?;
        let signing: [u8; 32] = signing.try_into().map_err(|_| CryptoError::Opaque)?;
        let weak = VerifyingKey::from_bytes(&signing)
            .map_err(|_| CryptoError::Opaque)?
            .is_weak();
        // Keys have one spelling, so that they can be compared as bytes.
        let spelt_otherwise = rsa
            .to_pkcs1_der()
            .is_ok_and(|der| der.as_bytes() != rsa_der);
        let ours = *rsa.e() == rsa::BigUint::from(65_537_u32) && rsa.n().bits() == RSA_BITS;
        if weak || spelt_otherwise || !ours {
            return Err(CryptoError::Opaque);
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
    pub fn signing(&self) -> [u8; 32] {
        self.signing
    }

    /// Eight groups of four hexadecimal digits, for people to compare. It stands for both keys: the
    /// one that is sealed to matters no less than the one that signs.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let both = Bound::new("cairn/fingerprint/2")
            .bytes(&self.signing)
            .bytes(&self.rsa_der);
        let digest = blake3::derive_key("cairn/fingerprint/2", both.as_bytes());
        let text = hex::encode(&digest[..16]);
        let groups: Vec<&str> = (0..8).map(|i| &text[i * 4..i * 4 + 4]).collect();
        groups.join(" ")
    }

    /// BLAKE3 of the RSA key, for what is bound to it.
    pub(crate) fn rsa_hash(&self) -> [u8; 32] {
        blake3::derive_key("cairn/rsa-public/1", &self.rsa_der)
    }

    /// Seals a few bytes to the RSA key.
    pub(crate) fn seal(
        &self,
        label: &Bound,
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
