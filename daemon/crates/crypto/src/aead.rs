//! AES-256-GCM (NIST SP 800-38D).
//!
//! [`seal`] and [`open`] use a random nonce, for keys and manifests (the encrypted records of file revisions):
//! format 1 byte, nonce 12, ciphertext, tag 16. At most 2^32 random nonces are safe under one key (section
//! 8.3); the most used key encrypts the manifests of a space (one account's files, or a team's), one for each
//! revision. [`encrypt`] and [`decrypt`] are for keys that are used once (`format2::object`, `format2::seal`).

use crate::error::{CryptoError, Result};
use crate::random::{self, Random};
use crate::secret::Key;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use cairn_log::AssociatedData;
use zeroize::{Zeroize as _, Zeroizing};

/// The format that this build writes.
pub(crate) const FORMAT: u8 = 1;
pub(crate) const NONCE: usize = 12;
pub(crate) const TAG: usize = 16;
/// The number of bytes that a seal is longer than its plaintext.
pub(crate) const OVERHEAD: usize = 1 + NONCE + TAG;

fn cipher(key: &Key) -> LessSafeKey {
    let key = UnboundKey::new(&AES_256_GCM, key.bytes());
    LessSafeKey::new(key.expect("every key has the 32 bytes of AES-256"))
}

/// Seals `plain` together with its associated data.
pub(crate) fn seal(
    key: &Key,
    associated: &AssociatedData,
    plain: &[u8],
    rng: &mut dyn Random,
) -> Vec<u8> {
    let nonce: [u8; NONCE] = random::array(rng);
    let mut out = Vec::with_capacity(plain.len() + OVERHEAD);
    out.push(FORMAT);
    out.extend_from_slice(&nonce);
    out.extend_from_slice(plain);
    let tag = encrypt(key, &nonce, associated.as_bytes(), &mut out[1 + NONCE..]);
    out.extend_from_slice(&tag);
    out
}

/// Returns what follows the format byte.
///
/// # Errors
/// [`CryptoError::UnsupportedFormat`] for another one than expected.
pub(crate) fn strip_format(sealed: &[u8], expected: u8) -> Result<&[u8]> {
    let (&format, rest) = sealed.split_first().ok_or(CryptoError::NotAuthentic)?;
    if format != expected {
        return Err(CryptoError::UnsupportedFormat(u32::from(format)));
    }
    Ok(rest)
}

/// Opens what [`seal`] made with the same key and the same associated data.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for any other key, data or seal; [`CryptoError::UnsupportedFormat`] for
/// another format byte.
pub(crate) fn open(
    key: &Key,
    associated: &AssociatedData,
    sealed: &[u8],
) -> Result<Zeroizing<Vec<u8>>> {
    let rest = strip_format(sealed, FORMAT)?;
    let (nonce, rest) = rest
        .split_first_chunk::<NONCE>()
        .ok_or(CryptoError::NotAuthentic)?;
    let (cipher_text, tag) = rest
        .split_last_chunk::<TAG>()
        .ok_or(CryptoError::NotAuthentic)?;
    let mut plain = Zeroizing::new(cipher_text.to_vec());
    decrypt(key, nonce, associated.as_bytes(), &mut plain, tag)?;
    Ok(plain)
}

/// Encrypts in place and returns the tag. A key and nonce must never be used for two texts.
pub(crate) fn encrypt(
    key: &Key,
    nonce: &[u8; NONCE],
    associated: &[u8],
    data: &mut [u8],
) -> [u8; TAG] {
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let tag = cipher(key)
        .seal_in_place_separate_tag(nonce, Aad::from(associated), data)
        .expect("everything sealed here is far below the 64 GiB of GCM");
    tag.as_ref().try_into().expect("a tag has 16 bytes")
}

/// Decrypts in place; on failure `data` is zeroed.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for any other key, nonce, associated data, ciphertext or tag.
pub(crate) fn decrypt(
    key: &Key,
    nonce: &[u8; NONCE],
    associated: &[u8],
    data: &mut [u8],
    tag: &[u8; TAG],
) -> Result<()> {
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = cipher(key).open_in_place_separate_tag(nonce, Aad::from(associated), tag, data);
    if opened.is_err() {
        data.zeroize();
        return Err(CryptoError::NotAuthentic);
    }
    Ok(())
}
