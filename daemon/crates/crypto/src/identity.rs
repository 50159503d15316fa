//! The two key pairs of an account: RSA-3072, to which others seal space keys (OAEP, RFC 8017), and
//! Ed25519 (RFC 8032), which signs. Public keys are always recomputed from the private ones.

use crate::error::{CryptoError, Result};
use crate::random::{self, Random, SystemRandom};
use cairn_log::AssociatedData;
use ed25519_dalek::{Signer as _, SigningKey};
use rsa::pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _, EncodeRsaPublicKey as _};
use rsa::rand_core;
use rsa::traits::PublicKeyParts as _;
use rsa::{PrivateKey, PublicKey};
use sha2::Sha256;
use std::convert::Infallible;
use std::fmt;
use zeroize::{Zeroize as _, Zeroizing};

/// Bits of the RSA modulus (NIST SP 800-57: 128 bits of security).
pub(crate) const RSA_BITS: usize = 3072;
pub(crate) const EXPONENT: u32 = 65_537;

/// The account's RSA pair.
#[derive(Clone)]
pub struct RsaPair {
    private: PrivateKey,
    public_der: Vec<u8>,
}

impl RsaPair {
    pub(crate) fn generate(rng: &mut dyn Random) -> Result<Self> {
        let private = PrivateKey::new(&mut Adapter(rng), RSA_BITS)
            .map_err(|_| CryptoError::InvalidInput("no RSA key could be generated"))?;
        Self::new(private)
    }

    fn new(private: PrivateKey) -> Result<Self> {
        if private.size() * 8 != RSA_BITS {
            return Err(CryptoError::NotAuthentic);
        }
        let public_der = private
            .as_public_key()
            .to_pkcs1_der()
            .map_err(|_| CryptoError::NotAuthentic)?
            .into_vec();
        Ok(Self {
            private,
            public_der,
        })
    }

    pub(crate) fn to_der(&self) -> Result<Zeroizing<Vec<u8>>> {
        let der = self
            .private
            .to_pkcs1_der()
            .map_err(|_| CryptoError::NotAuthentic)?;
        Ok(Zeroizing::new(der.as_bytes().to_vec()))
    }

    pub(crate) fn from_der(der: &[u8]) -> Result<Self> {
        // Decoding also checks that the parts belong together.
        PrivateKey::from_pkcs1_der(der)
            .map_err(|_| CryptoError::NotAuthentic)
            .and_then(Self::new)
    }

    /// The public key as PKCS#1 DER.
    #[must_use]
    pub fn public_der(&self) -> &[u8] {
        &self.public_der
    }

    pub(crate) fn public(&self) -> PublicKey {
        self.private.to_public_key()
    }

    /// Opens a seal that was made for the public key under the same label.
    pub(crate) fn open(&self, label: &AssociatedData, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        // Blinded, whatever `sealed` is; only the time taken depends on this randomness.
        self.private
            .decrypt_blinded(&mut Adapter(&mut SystemRandom), oaep(label), sealed)
            .map(Zeroizing::new)
            .map_err(|_| CryptoError::NotAuthentic)
    }
}

/// OAEP with SHA-256 throughout (RFC 8017, section 7.1). Its label is text: hexadecimal digits.
pub(crate) fn oaep(label: &AssociatedData) -> rsa::Oaep<Sha256> {
    rsa::Oaep::new_with_label(hex::encode(label.as_bytes()).into_bytes())
}

impl fmt::Debug for RsaPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RsaPair(…)")
    }
}

/// The account's Ed25519 pair.
#[derive(Clone)]
pub struct SigningPair(SigningKey);

impl SigningPair {
    pub(crate) fn generate(rng: &mut dyn Random) -> Self {
        let mut seed: [u8; 32] = random::array(rng);
        let pair = Self(SigningKey::from_bytes(&seed));
        seed.zeroize();
        pair
    }

    pub(crate) fn to_seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    pub(crate) fn from_seed(seed: &[u8]) -> Result<Self> {
        let seed: Zeroizing<[u8; 32]> =
            Zeroizing::new(seed.try_into().map_err(|_| CryptoError::NotAuthentic)?);
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// The public key, 32 bytes.
    #[must_use]
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub(crate) fn sign(&self, message: &AssociatedData) -> [u8; 64] {
        self.0.sign(message.as_bytes()).to_bytes()
    }
}

/// Checks an Ed25519 signature. Refuses weak keys and malleable signatures.
pub(crate) fn verify(
    public: &[u8; 32],
    message: &AssociatedData,
    signature: &[u8; 64],
) -> Result<()> {
    Ok(cairn_log::verify(public, message, signature)?)
}

impl fmt::Debug for SigningPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningPair(…)")
    }
}

/// Adapts [`Random`] to the trait that `rsa` needs.
pub(crate) struct Adapter<'a>(pub(crate) &'a mut dyn Random);

impl rand_core::TryRng for Adapter<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        Ok(u32::from_le_bytes(random::array(self.0)))
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        Ok(u64::from_le_bytes(random::array(self.0)))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> std::result::Result<(), Infallible> {
        self.0.fill(out);
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Adapter<'_> {}
