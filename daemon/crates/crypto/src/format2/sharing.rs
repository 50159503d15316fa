//! The sharing keys of an account, to which others seal the secrets of teams: RSA-3072 and ML-KEM-768
//! (FIPS 203), always both.
//!
//! Private: RSA primes p 192, q 192, ML-KEM seed d ‖ z 64. Public: RSA modulus 384 (its exponent is
//! 65537), ML-KEM key 1184.

use crate::error::{CryptoError, Result, require};
use crate::identity::{Adapter, EXPONENT, RSA_BITS};
use crate::random::{self, Random};
use cairn_log::{DeviceList, KEM_PUBLIC, RSA_MODULUS};
use ml_kem::array::Array;
use ml_kem::kem::KeyExport as _;
use ml_kem::ml_kem_768::{DecapsulationKey, EncapsulationKey};
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use rsa::{BoxedUint, PrivateKey, PublicKey};
use std::fmt;
use zeroize::Zeroizing;

const PRIME: usize = 192;
const SEED: usize = 64;
/// Bytes of the private keys.
pub(crate) const PRIVATE: usize = 2 * PRIME + SEED;

/// The private sharing keys.
#[derive(Clone)]
pub struct SharingKeys {
    pub(crate) rsa: PrivateKey,
    seed: Zeroizing<[u8; SEED]>,
    public: SharingPublic,
}

/// The public sharing keys, as a device list has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharingPublic {
    pub rsa: Box<[u8; RSA_MODULUS]>,
    pub kem: Box<[u8; KEM_PUBLIC]>,
}

impl SharingKeys {
    /// Draws new keys. Takes seconds.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if no RSA key is found.
    pub fn generate(rng: &mut dyn Random) -> std::result::Result<Self, CryptoError> {
        let rsa = PrivateKey::new(&mut Adapter(rng), RSA_BITS)
            .map_err(|_| CryptoError::InvalidInput("no RSA key could be generated"))?;
        Self::new(rsa, Zeroizing::new(random::array(rng)))
    }

    fn new(rsa: PrivateKey, seed: Zeroizing<[u8; SEED]>) -> Result<Self> {
        require(rsa.n().bit_width() as usize == RSA_BITS && rsa.primes().len() == 2)?;
        let kem = DecapsulationKey::from_seed(Array::from(*seed));
        let mut public = SharingPublic {
            rsa: Box::new(fixed_bytes(rsa.n())?),
            kem: Box::new([0; KEM_PUBLIC]),
        };
        public
            .kem
            .copy_from_slice(&kem.encapsulation_key().to_bytes());
        Ok(Self { rsa, seed, public })
    }

    /// Returns the private keys as bytes.
    pub(crate) fn to_bytes(&self) -> Result<Zeroizing<[u8; PRIVATE]>> {
        let mut out = Zeroizing::new([0; PRIVATE]);
        for (prime, part) in self.rsa.primes().iter().zip(out.chunks_mut(PRIME)) {
            let bytes: Zeroizing<[u8; PRIME]> = Zeroizing::new(fixed_bytes(prime)?);
            part.copy_from_slice(&*bytes);
        }
        out[2 * PRIME..].copy_from_slice(&*self.seed);
        Ok(out)
    }

    /// Reads private keys of 448 bytes.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything that isn't such keys.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, CryptoError> {
        require(bytes.len() == PRIVATE)?;
        let (primes, seed) = bytes.split_at(2 * PRIME);
        let (p, q) = primes.split_at(PRIME);
        // Each prime is long and odd: the library computes with p - 1 and modulo p.
        let is_prime = |n: &[u8]| n[0] >= 0x80 && n[PRIME - 1] & 1 == 1;
        require(is_prime(p) && is_prime(q))?;
        let rsa = PrivateKey::from_p_q(number(p)?, number(q)?, EXPONENT.into())
            .map_err(|_| CryptoError::NotAuthentic)?;
        let seed = seed.try_into().map_err(|_| CryptoError::NotAuthentic)?;
        Self::new(rsa, Zeroizing::new(seed))
    }

    /// Returns the public keys.
    #[must_use]
    pub fn public(&self) -> &SharingPublic {
        &self.public
    }

    pub(crate) fn kem(&self) -> DecapsulationKey {
        DecapsulationKey::from_seed(Array::from(*self.seed))
    }
}

impl SharingPublic {
    /// Returns the keys of a device list.
    #[must_use]
    pub fn of(list: &DeviceList) -> Self {
        Self {
            rsa: list.rsa.clone(),
            kem: list.kem.clone(),
        }
    }

    /// Returns both keys, as grants and device lists are bound to them.
    pub(crate) fn both_keys(&self) -> Vec<u8> {
        [&self.rsa[..], &self.kem[..]].concat()
    }

    pub(crate) fn rsa_key(&self) -> Result<PublicKey> {
        let modulus = number(&self.rsa[..])?;
        require(self.rsa[0] >= 0x80 && self.rsa[RSA_MODULUS - 1] & 1 == 1)?;
        PublicKey::new(modulus, EXPONENT.into()).map_err(|_| CryptoError::NotAuthentic)
    }

    pub(crate) fn kem_key(&self) -> Result<EncapsulationKey> {
        let kem = Array::try_from(&self.kem[..]).map_err(|_| CryptoError::NotAuthentic)?;
        EncapsulationKey::new(&kem).map_err(|_| CryptoError::NotAuthentic)
    }
}

/// Returns the number that big-endian bytes stand for.
fn number(bytes: &[u8]) -> Result<BoxedUint> {
    let bits = u32::try_from(bytes.len() * 8).map_err(|_| CryptoError::NotAuthentic)?;
    BoxedUint::from_be_slice(bytes, bits).map_err(|_| CryptoError::NotAuthentic)
}

/// Returns a number as big-endian bytes of the length that it has.
fn fixed_bytes<const N: usize>(number: &BoxedUint) -> Result<[u8; N]> {
    let bytes = Zeroizing::new(number.to_be_bytes());
    bytes[..].try_into().map_err(|_| CryptoError::NotAuthentic)
}

impl fmt::Debug for SharingKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharingKeys(…)")
    }
}

#[cfg(test)]
pub(crate) mod tests;
