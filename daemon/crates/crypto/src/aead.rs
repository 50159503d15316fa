//! AES-256-GCM with a random nonce, for keys and manifests: format byte, nonce, ciphertext, tag.
//!
//! Chunks don't come through here: their key is used once, so that they need no nonce.

use crate::bound::Bound;
use crate::error::{CryptoError, Result};
use crate::random::{self, Random};
use crate::secret::Key;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut as _, Aes256Gcm, KeyInit as _, Nonce, Tag};
use zeroize::{Zeroize as _, Zeroizing};

/// The format that this build writes.
pub(crate) const FORMAT: u8 = 1;
pub(crate) const NONCE: usize = 12;
pub(crate) const TAG: usize = 16;
/// What a seal is longer than its plaintext, in bytes.
pub(crate) const OVERHEAD: usize = 1 + NONCE + TAG;

pub(crate) fn cipher(key: &Key) -> Aes256Gcm {
    Aes256Gcm::new(key.bytes().into())
}

/// Seals `plain`, bound to `bound`.
pub(crate) fn seal(key: &Key, bound: &Bound, plain: &[u8], rng: &mut dyn Random) -> Vec<u8> {
    let nonce: [u8; NONCE] = random::array(rng);
    let mut out = Vec::with_capacity(plain.len() + OVERHEAD);
    out.push(FORMAT);
    out.extend_from_slice(&nonce);
    out.extend_from_slice(plain);
    let tag = encrypt(key, &nonce, bound.as_bytes(), &mut out[1 + NONCE..]);
    out.extend_from_slice(&tag);
    out
}

/// Opens what [`seal`] made with the same key and the same `bound`.
pub(crate) fn open(key: &Key, bound: &Bound, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let (&format, rest) = sealed.split_first().ok_or(CryptoError::Opaque)?;
    if format != FORMAT {
        return Err(CryptoError::UnsupportedFormat(u32::from(format)));
    }
    let (nonce, rest) = rest
        .split_first_chunk::<NONCE>()
        .ok_or(CryptoError::Opaque)?;
    let (cipher_text, tag) = rest.split_last_chunk::<TAG>().ok_or(CryptoError::Opaque)?;
    let mut plain = Zeroizing::new(cipher_text.to_vec());
    decrypt(key, nonce, bound.as_bytes(), &mut plain, tag)?;
    Ok(plain)
}

pub(crate) fn encrypt(
    key: &Key,
    nonce: &[u8; NONCE],
    associated: &[u8],
    data: &mut [u8],
) -> [u8; TAG] {
    cipher(key)
        .encrypt_inout_detached(&Nonce::from(*nonce), associated, InOutBuf::from(data))
        .expect("everything sealed here is far below the 64 GiB of GCM")
        .into()
}

pub(crate) fn decrypt(
    key: &Key,
    nonce: &[u8; NONCE],
    associated: &[u8],
    data: &mut [u8],
    tag: &[u8; TAG],
) -> Result<()> {
    let opened = cipher(key).decrypt_inout_detached(
        &Nonce::from(*nonce),
        associated,
        InOutBuf::from(&mut *data),
        &Tag::from(*tag),
    );
    opened.map_err(|_| {
        data.zeroize();
        CryptoError::Opaque
    })
}
