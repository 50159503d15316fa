//! Grants: the secret of a team in one epoch (one generation of it), sealed to one member. Two ciphertexts, RSA-OAEP
//! and ML-KEM-768, agree on the key that seals it; who breaks one of them alone learns nothing.
//!
//! RSA ciphertext 384 bytes · ML-KEM ciphertext 1088 · secret, sealed. A grant isn't signed: it lies in the
//! boxes (the sealed secrets beside a commit of the log) whose hash a signed statement has.

use crate::error::{CryptoError, Result, require};
use crate::format2::keys::SpaceSecret;
use crate::format2::seal::{self, Purpose};
use crate::format2::sharing::{SharingKeys, SharingPublic};
use crate::identity::{Adapter, oaep};
use crate::random::{self, Random, SystemRandom};
use crate::secret::Key;
use cairn_log::{AssociatedData, RSA_MODULUS};
use cairn_model::{AccountId, SpaceId};
use hkdf::Hkdf;
use ml_kem::array::Array;
use ml_kem::kem::Decapsulate as _;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// Bytes of an ML-KEM-768 ciphertext.
const KEM: usize = 1088;
const GRANT: usize = RSA_MODULUS + KEM + 32 + seal::OVERHEAD;

/// Seals the secret of an epoch to a member's sharing keys.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for keys that can't be sealed to.
pub fn make_grant(
    secret: &SpaceSecret,
    account: AccountId,
    to: &SharingPublic,
    rng: &mut dyn Random,
) -> std::result::Result<Vec<u8>, CryptoError> {
    let label = label(secret.space(), secret.epoch(), account);
    let by_rsa: Zeroizing<[u8; 32]> = Zeroizing::new(random::array(rng));
    let mut grant = to
        .rsa_key()?
        .encrypt(&mut Adapter(rng), oaep(&label), &*by_rsa)
        .map_err(|_| CryptoError::NotAuthentic)?;
    let entropy: Zeroizing<[u8; 32]> = Zeroizing::new(random::array(rng));
    let (kem, by_kem) = to
        .kem_key()?
        .encapsulate_deterministic(&Array::from(*entropy));
    let by_kem: Zeroizing<[u8; 32]> = Zeroizing::new(by_kem.into());
    grant.extend_from_slice(&kem);
    let key = key(label, to, &grant, (&by_rsa, &by_kem))?;
    let purpose = purpose(secret.space(), secret.epoch(), account);
    grant.extend_from_slice(&seal::seal(&key, purpose, secret.key.bytes(), rng));
    Ok(grant)
}

/// Opens the grant of an epoch with the member's sharing keys. The epoch's statement has the check value
/// that the secret still has to be checked against.
///
/// # Errors
/// [`CryptoError::NotAuthentic`], the same for each of its parts.
pub fn open_grant(
    keys: &SharingKeys,
    space: SpaceId,
    epoch: u64,
    account: AccountId,
    grant: &[u8],
) -> std::result::Result<SpaceSecret, CryptoError> {
    require(grant.len() == GRANT)?;
    let (ciphertexts, sealed) = grant.split_at(RSA_MODULUS + KEM);
    let (rsa, kem) = ciphertexts.split_at(RSA_MODULUS);
    let label = label(space, epoch, account);
    // Blinded: the time taken depends on this randomness, the result doesn't.
    let by_rsa = keys
        .rsa
        .decrypt_blinded(&mut Adapter(&mut SystemRandom), oaep(&label), rsa)
        .map(Zeroizing::new);
    let by_rsa: Option<[u8; 32]> = by_rsa.ok().and_then(|all| all.as_slice().try_into().ok());
    let by_rsa = by_rsa.map(Zeroizing::new);
    let kem = Array::try_from(kem).map_err(|_| CryptoError::NotAuthentic)?;
    let by_kem: Zeroizing<[u8; 32]> = Zeroizing::new(keys.kem().decapsulate(&kem).into());
    // A random secret instead of one that doesn't open: all that is wrong fails at the seal.
    let other = Zeroizing::new(random::array(&mut SystemRandom));
    let by_rsa: &[u8; 32] = by_rsa.as_ref().unwrap_or(&other);
    let key = key(label, keys.public(), ciphertexts, (by_rsa, &by_kem))?;
    let plain = seal::open(&key, purpose(space, epoch, account), sealed)?;
    SpaceSecret::from_bytes(space, epoch, &plain)
}

fn label(space: SpaceId, epoch: u64, account: AccountId) -> AssociatedData {
    AssociatedData::new("cairn/2/grant")
        .id(&space)
        .number(epoch)
        .id(&account)
}

fn purpose(space: SpaceId, epoch: u64, account: AccountId) -> Purpose {
    Purpose::Grant {
        space,
        epoch,
        account,
    }
}

/// HKDF-Extract over both secrets, with everything that was agreed on in the salt.
fn key(
    label: AssociatedData,
    to: &SharingPublic,
    ciphertexts: &[u8],
    (by_rsa, by_kem): (&[u8; 32], &[u8; 32]),
) -> Result<Key> {
    let (rsa, kem) = ciphertexts.split_at(RSA_MODULUS);
    let context = label.bytes(&to.both_keys()).bytes(rsa).bytes(kem);
    let salt = Sha256::digest(context.as_bytes());
    let mut input = Zeroizing::new([0; 64]);
    input[..32].copy_from_slice(by_rsa);
    input[32..].copy_from_slice(by_kem);
    let (key, _) = Hkdf::<Sha256>::extract(Some(salt.as_slice()), &*input);
    Key::from_bytes(&key)
}

#[cfg(test)]
mod tests;
