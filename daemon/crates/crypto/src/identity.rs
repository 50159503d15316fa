//! The two key pairs of an account: RSA-3072, to which others will seal space keys (OAEP), and
//! Ed25519, which signs. Public halves are always recomputed from the private ones.

use crate::error::{CryptoError, Result};
use crate::random::{self, Random};
use ed25519_dalek::SigningKey;
use rsa::pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _, EncodeRsaPublicKey as _};
use rsa::rand_core;
use rsa::traits::PublicKeyParts as _;
use rsa::{RsaPrivateKey, RsaPublicKey};
use std::fmt;
use zeroize::{Zeroize as _, Zeroizing};

/// Bits of the RSA modulus (NIST SP 800-57: 128 bits of security).
const RSA_BITS: usize = 3072;

/// The account's RSA pair.
#[derive(Clone)]
pub struct RsaPair {
    private: RsaPrivateKey,
    public_der: Vec<u8>,
}

impl RsaPair {
    pub(crate) fn generate(rng: &mut dyn Random) -> Result<Self> {
        let private = RsaPrivateKey::new(&mut Adapter(rng), RSA_BITS)
            .map_err(|_| CryptoError::InvalidInput("no RSA key could be generated"))?;
        Self::new(private)
    }

    fn new(private: RsaPrivateKey) -> Result<Self> {
        if private.size() * 8 != RSA_BITS {
            return Err(CryptoError::Opaque);
        }
        let public = RsaPublicKey::from(&private);
        let public_der = public
            .to_pkcs1_der()
            .map_err(|_| CryptoError::Opaque)?
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
            .map_err(|_| CryptoError::Opaque)?;
        Ok(Zeroizing::new(der.as_bytes().to_vec()))
    }

    pub(crate) fn from_der(der: &[u8]) -> Result<Self> {
        // Decoding also checks that the parts belong together.
        RsaPrivateKey::from_pkcs1_der(der)
            .map_err(|_| CryptoError::Opaque)
            .and_then(Self::new)
    }

    /// The public half as PKCS#1 DER.
    #[must_use]
    pub fn public_der(&self) -> &[u8] {
        &self.public_der
    }
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
            Zeroizing::new(seed.try_into().map_err(|_| CryptoError::Opaque)?);
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// The public half, 32 bytes.
    #[must_use]
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// Eight groups of four hexadecimal digits, for people to compare.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let digest = blake3::derive_key("cairn/fingerprint/1", &self.public());
        let text = hex::encode(&digest[..16]);
        let groups: Vec<&str> = (0..8).map(|i| &text[i * 4..i * 4 + 4]).collect();
        groups.join(" ")
    }
}

impl fmt::Debug for SigningPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningPair(…)")
    }
}

/// Our randomness in the shape that `rsa` wants.
struct Adapter<'a>(&'a mut dyn Random);

impl rand_core::RngCore for Adapter<'_> {
    fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(random::array(self.0))
    }

    fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(random::array(self.0))
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.fill(out);
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> std::result::Result<(), rand_core::Error> {
        self.0.fill(out);
        Ok(())
    }
}

impl rand_core::CryptoRng for Adapter<'_> {}
