//! Chunks: their ids, and their seals under the content key of their node.
//!
//! A chunk's key is derived from the content key and the chunk's id, and the id from the plaintext: one
//! key never seals two plaintexts, so the nonce is constant and a retry makes the same bytes. This is
//! convergent encryption (Douceur et al., ICDCS 2002), limited to one node by the random content key.

use crate::aead::{self, FORMAT, NONCE, TAG};
use crate::chunker::MAX_CHUNK;
use crate::error::{CryptoError, Result};
use crate::pad::padme;
use crate::random::Random;
use crate::secret::Key;
use crate::space::SpaceKeys;
use cairn_log::AssociatedData;
use cairn_model::{ChunkId, NodeId};
use zeroize::Zeroize as _;

/// The key of one node's content. Chunk ids and chunk keys come from it.
#[derive(Clone, Debug)]
pub struct ContentKey {
    root: Key,
    ids: Key,
    chunks: Key,
}

impl ContentKey {
    /// Makes a new random key.
    #[must_use]
    pub fn generate(rng: &mut dyn Random) -> Self {
        Self::new(Key::generate(rng))
    }

    fn new(root: Key) -> Self {
        Self {
            ids: root.derive(&AssociatedData::new("cairn/chunk-ids/1")),
            chunks: root.derive(&AssociatedData::new("cairn/chunk-keys/1")),
            root,
        }
    }

    pub(crate) fn from_root(bytes: &[u8]) -> Result<Self> {
        Key::from_bytes(bytes).map(Self::new)
    }

    pub(crate) fn root(&self) -> &[u8; 32] {
        self.root.bytes()
    }

    /// Wraps the key for storage beside its node.
    #[must_use]
    pub fn wrap(&self, keys: &SpaceKeys, node: NodeId, rng: &mut dyn Random) -> Vec<u8> {
        keys.with_epoch(&aead::seal(
            &keys.wrap,
            &wrap_data(keys, node),
            self.root.bytes(),
            rng,
        ))
    }

    /// Opens a wrapped key; `node` is the requested node.
    ///
    /// # Errors
    /// [`CryptoError::Opaque`] if it was altered or belongs to another node or space;
    /// [`CryptoError::KeyMissing`] if `keys` have no key of the epoch in which it was wrapped.
    pub fn unwrap(
        keys: &SpaceKeys,
        node: NodeId,
        wrapped: &[u8],
    ) -> std::result::Result<Self, CryptoError> {
        let (keys, wrapped) = keys.split_epoch(wrapped)?;
        let root = aead::open(&keys.wrap, &wrap_data(keys, node), wrapped)?;
        Self::from_root(&root)
    }

    /// Returns the id of a chunk with this plaintext.
    #[must_use]
    pub fn chunk_id(&self, plain: &[u8]) -> ChunkId {
        ChunkId(*blake3::keyed_hash(self.ids.bytes(), plain).as_bytes())
    }

    /// Seals a chunk. `id` must be the id of `plain`.
    #[must_use]
    pub fn seal_chunk(&self, id: &ChunkId, plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.seal_chunk_into(id, plain, &mut out);
        out
    }

    /// Seals a chunk into a buffer, whose memory is used again: format byte, ciphertext of the padded
    /// plaintext, tag.
    pub fn seal_chunk_into(&self, id: &ChunkId, plain: &[u8], out: &mut Vec<u8>) {
        debug_assert_eq!(
            *id,
            self.chunk_id(plain),
            "sealing under the id of other bytes would reuse a key"
        );
        let padded = padded_len(plain.len());
        out.clear();
        out.reserve_exact(1 + padded + TAG);
        out.push(FORMAT);
        out.extend_from_slice(plain);
        out.resize(1 + padded, 0);
        let tag = aead::encrypt(
            &self.chunk_key(id),
            &[0; NONCE],
            chunk_data().as_bytes(),
            &mut out[1..],
        );
        out.extend_from_slice(&tag);
    }

    /// Opens a chunk of `expected_len` bytes and checks that it is the one with this id.
    ///
    /// # Errors
    /// [`CryptoError::Opaque`] for anything but the very bytes that were sealed.
    pub fn open_chunk(
        &self,
        id: &ChunkId,
        expected_len: u32,
        sealed: &[u8],
    ) -> std::result::Result<Vec<u8>, CryptoError> {
        let (body, tag) = check_sealed(expected_len, sealed)?;
        let mut plain = body.to_vec();
        self.finish_open(id, expected_len, &mut plain, &tag)?;
        plain.truncate(expected_len as usize);
        Ok(plain)
    }

    /// Opens a chunk in the buffer that it came in and returns the part that is its plaintext.
    /// On an error the buffer contains nothing of it.
    ///
    /// # Errors
    /// As [`Self::open_chunk`].
    pub fn open_chunk_in_place<'a>(
        &self,
        id: &ChunkId,
        expected_len: u32,
        sealed: &'a mut [u8],
    ) -> std::result::Result<&'a [u8], CryptoError> {
        let (body, tag) = check_sealed(expected_len, sealed)?;
        let length = body.len();
        let body = &mut sealed[1..=length];
        self.finish_open(id, expected_len, body, &tag)?;
        Ok(&body[..expected_len as usize])
    }

    fn finish_open(
        &self,
        id: &ChunkId,
        expected_len: u32,
        body: &mut [u8],
        tag: &[u8; TAG],
    ) -> Result<()> {
        aead::decrypt(
            &self.chunk_key(id),
            &[0; NONCE],
            chunk_data().as_bytes(),
            body,
            tag,
        )?;
        let (plain, padding) = body.split_at(expected_len as usize);
        // GCM does not commit to its key: only the id tells that this is the one plaintext.
        let genuine = self.chunk_id(plain) == *id && padding.iter().all(|b| *b == 0);
        if !genuine {
            body.zeroize();
            return Err(CryptoError::Opaque);
        }
        Ok(())
    }

    fn chunk_key(&self, id: &ChunkId) -> Key {
        self.chunks
            .derive(&AssociatedData::new("cairn/chunk-key/1").bytes(&id.0))
    }
}

/// The length of a sealed chunk whose plaintext has `plain_len` bytes.
#[must_use]
pub fn sealed_len(plain_len: u64) -> u64 {
    1 + padme(plain_len) + TAG as u64
}

fn padded_len(plain_len: usize) -> usize {
    usize::try_from(padme(plain_len as u64)).expect("a chunk fits into memory")
}

fn check_sealed(expected_len: u32, sealed: &[u8]) -> Result<(&[u8], [u8; TAG])> {
    let (&format, rest) = sealed.split_first().ok_or(CryptoError::Opaque)?;
    if format != FORMAT {
        return Err(CryptoError::UnsupportedFormat(u32::from(format)));
    }
    let (body, tag) = rest.split_last_chunk::<TAG>().ok_or(CryptoError::Opaque)?;
    let expected = expected_len as usize;
    if expected == 0 || expected > MAX_CHUNK || body.len() != padded_len(expected) {
        return Err(CryptoError::Opaque);
    }
    Ok((body, *tag))
}

fn chunk_data() -> AssociatedData {
    AssociatedData::new("cairn/chunk/1")
}

fn wrap_data(keys: &SpaceKeys, node: NodeId) -> AssociatedData {
    AssociatedData::new("cairn/content-key/1")
        .id(&keys.space())
        .number(u64::from(keys.epoch()))
        .id(&node)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encrypts any bytes under the key that belongs to an id, as a holder of the keys could.
    fn forge(key: &ContentKey, id: &ChunkId, padded: &[u8]) -> Vec<u8> {
        let mut sealed = vec![FORMAT];
        sealed.extend_from_slice(padded);
        let tag = aead::encrypt(
            &key.chunk_key(id),
            &[0; NONCE],
            chunk_data().as_bytes(),
            &mut sealed[1..],
        );
        sealed.extend_from_slice(&tag);
        sealed
    }

    #[test]
    fn a_chunk_that_decrypts_but_is_not_the_one_of_its_id_is_refused_and_wiped() {
        let key = ContentKey::from_root(&[5; 32]).unwrap();
        let (wanted, other) = ([1; 64], [2; 64]);
        let id = key.chunk_id(&wanted);
        assert_eq!(
            key.open_chunk(&id, 64, &forge(&key, &id, &wanted)).unwrap(),
            wanted
        );
        let mut forged = forge(&key, &id, &other);
        assert_eq!(
            key.open_chunk(&id, 64, &forged).unwrap_err(),
            CryptoError::Opaque
        );
        assert!(key.open_chunk_in_place(&id, 64, &mut forged).is_err());
        assert_eq!(forged[1..65], [0; 64]);
    }

    #[test]
    fn padding_that_is_not_zero_is_refused() {
        let key = ContentKey::from_root(&[5; 32]).unwrap();
        let plain = vec![1; 65];
        let id = key.chunk_id(&plain);
        let mut padded = plain.clone();
        padded.resize(padded_len(65), 0);
        assert_eq!(
            key.open_chunk(&id, 65, &forge(&key, &id, &padded)).unwrap(),
            plain
        );
        *padded.last_mut().unwrap() = 1;
        assert!(key.open_chunk(&id, 65, &forge(&key, &id, &padded)).is_err());
    }
}
