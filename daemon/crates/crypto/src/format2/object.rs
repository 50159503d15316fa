//! Objects: the sealed pieces that the server keeps. An object's id follows from its padded plaintext
//! and its key from its id, so one key and nonce never meet two inputs, and a retry sends the same bytes.

use crate::aead;
use crate::error::{CryptoError, Result};
use crate::format2::chunker::MAX_CHUNK;
use crate::format2::compress::{self, Compression};
use crate::format2::keys::NodeKey;
use crate::pad::padme;
use crate::secret::Key;
use cairn_log::{AssociatedData, MAX_OBJECT, NodeKeyRef, ObjectId};
use cairn_model::SpaceId;
use zeroize::Zeroizing;

/// The format that this build writes.
const FORMAT: u8 = 2;

/// Padding, for hashing it without making it.
const ZEROS: [u8; 8192] = [0; 8192];

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// A run of a file's bytes.
    Chunk,
    /// The manifest of a file of several chunks.
    Manifest,
    /// A part of a long manifest.
    Part,
    /// The extended attributes of a file.
    Attributes,
}

/// An object as it is sent, with its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedObject {
    pub id: ObjectId,
    pub bytes: Vec<u8>,
}

impl ObjectKind {
    /// Returns the letter that stands for the kind in derivations and listings.
    #[must_use]
    pub fn letter(self) -> u8 {
        match self {
            Self::Chunk => b'c',
            Self::Manifest => b'm',
            Self::Part => b'p',
            Self::Attributes => b'x',
        }
    }
}

impl NodeKey {
    /// Seals a chunk of at most 4 MiB.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] for a longer one.
    pub fn seal_chunk(
        &self,
        plain: &[u8],
        compression: Compression,
    ) -> std::result::Result<SealedObject, CryptoError> {
        let frame = compressed(plain, compression)?;
        Ok(match &frame {
            Some(frame) => self.seal(ObjectKind::Chunk, compress::ZSTD, frame),
            None => self.seal(ObjectKind::Chunk, compress::RAW, plain),
        })
    }

    /// Returns the id of the object that [`seal_chunk`](Self::seal_chunk) makes, and its length in bytes.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] for a chunk of more than 4 MiB.
    pub fn name_chunk(
        &self,
        plain: &[u8],
        compression: Compression,
    ) -> std::result::Result<(ObjectId, u64), CryptoError> {
        let frame = compressed(plain, compression)?;
        let (codec, payload) = match &frame {
            Some(frame) => (compress::ZSTD, &frame[..]),
            None => (compress::RAW, plain),
        };
        let id = self.object_id(ObjectKind::Chunk, codec, payload);
        Ok((id, raw_len(payload.len() as u64)))
    }

    /// Opens the requested chunk to its plaintext, whose length and BLAKE3 hash a device has signed.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if it was altered, or is another one; [`CryptoError::UnsupportedFormat`].
    pub fn open_chunk(
        &self,
        id: &ObjectId,
        sealed: &[u8],
        length: u64,
        hash: &[u8; 32],
    ) -> std::result::Result<Zeroizing<Vec<u8>>, CryptoError> {
        let padded = self.open(ObjectKind::Chunk, id, sealed)?;
        plain_of(padded, length, hash)
    }

    /// Seals a record that contains its own length, without compression.
    pub(crate) fn seal_record(&self, kind: ObjectKind, record: &[u8]) -> SealedObject {
        self.seal(kind, compress::RAW, record)
    }

    /// Opens a record. `decode` returns it with its length; what follows has to be the padding.
    pub(crate) fn open_record<T>(
        &self,
        kind: ObjectKind,
        id: &ObjectId,
        sealed: &[u8],
        decode: impl FnOnce(&[u8]) -> Result<(T, usize)>,
    ) -> Result<T> {
        let padded = self.open(kind, id, sealed)?;
        let (&codec, rest) = padded.split_first().ok_or(CryptoError::NotAuthentic)?;
        if codec != compress::RAW {
            return Err(CryptoError::NotAuthentic);
        }
        let (record, length) = decode(rest)?;
        check_padding(&padded, length)?;
        Ok(record)
    }

    fn seal(&self, kind: ObjectKind, codec: u8, payload: &[u8]) -> SealedObject {
        let padded = padme(1 + payload.len() as u64) as usize;
        let mut bytes = Vec::with_capacity(1 + padded + aead::TAG);
        bytes.push(FORMAT);
        bytes.push(codec);
        bytes.extend_from_slice(payload);
        bytes.resize(1 + padded, 0);
        let id = self.object_id(kind, codec, payload);
        let key = self.seal_key(kind, &id);
        let associated = associated_data(kind, self.space, self.at, &id);
        let tag = aead::encrypt(&key, &[0; 12], associated.as_bytes(), &mut bytes[1..]);
        bytes.extend_from_slice(&tag);
        SealedObject { id, bytes }
    }

    fn open(&self, kind: ObjectKind, id: &ObjectId, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let key = self.seal_key(kind, id);
        let padded = open_sealed(&key, kind, self.space, self.at, id, sealed)?;
        // AES-GCM alone doesn't commit to its key; the id does.
        if self.hasher(kind).update(&padded).finalize() != id.0 {
            return Err(CryptoError::NotAuthentic);
        }
        Ok(padded)
    }

    /// Returns the id of an object: the keyed hash of its padded plaintext.
    fn object_id(&self, kind: ObjectKind, codec: u8, payload: &[u8]) -> ObjectId {
        let mut hasher = self.hasher(kind);
        hasher.update(&[codec]).update(payload);
        let mut zeros = padme(1 + payload.len() as u64) as usize - 1 - payload.len();
        while zeros > 0 {
            let some = zeros.min(ZEROS.len());
            hasher.update(&ZEROS[..some]);
            zeros -= some;
        }
        ObjectId(*hasher.finalize().as_bytes())
    }

    fn hasher(&self, kind: ObjectKind) -> blake3::Hasher {
        let key = self.derive_for("cairn/2/id", kind);
        blake3::Hasher::new_keyed(key.bytes())
    }

    fn derive_for(&self, label: &'static str, kind: ObjectKind) -> Key {
        self.key
            .derive(&AssociatedData::new(label).bytes(&[kind.letter()]))
    }

    /// The key of one object alone, which the listing of a share link contains.
    pub(crate) fn seal_key(&self, kind: ObjectKind, id: &ObjectId) -> Key {
        let purpose = AssociatedData::new("cairn/2/seal")
            .bytes(&[kind.letter()])
            .bytes(&id.0);
        self.key.derive(&purpose)
    }
}

/// Returns the frame of a chunk that gets shorter; `None` leaves it as it is.
fn compressed(plain: &[u8], compression: Compression) -> Result<Option<Zeroizing<Vec<u8>>>> {
    if plain.len() > MAX_CHUNK {
        return Err(CryptoError::InvalidInput("the chunk is longer than 4 MiB"));
    }
    Ok(compress::compress(plain, compression))
}

/// The length of a sealed chunk that isn't compressed.
#[must_use]
pub fn raw_len(plain: u64) -> u64 {
    1 + padme(1 + plain) + aead::TAG as u64
}

fn associated_data(
    kind: ObjectKind,
    space: SpaceId,
    at: NodeKeyRef,
    id: &ObjectId,
) -> AssociatedData {
    AssociatedData::new("cairn/2/object")
        .bytes(&[kind.letter()])
        .id(&space)
        .number(at.epoch)
        .id(&at.node)
        .bytes(&id.0)
}

/// Opens an object to its padded plaintext with the key of this object alone.
pub(crate) fn open_sealed(
    key: &Key,
    kind: ObjectKind,
    space: SpaceId,
    at: NodeKeyRef,
    id: &ObjectId,
    sealed: &[u8],
) -> Result<Zeroizing<Vec<u8>>> {
    let rest = aead::strip_format(sealed, FORMAT)?;
    let (cipher, tag) = rest
        .split_last_chunk::<{ aead::TAG }>()
        .ok_or(CryptoError::NotAuthentic)?;
    if cipher.is_empty() || sealed.len() > MAX_OBJECT {
        return Err(CryptoError::NotAuthentic);
    }
    let mut padded = Zeroizing::new(cipher.to_vec());
    let associated = associated_data(kind, space, at, id);
    aead::decrypt(key, &[0; 12], associated.as_bytes(), &mut padded, tag)?;
    Ok(padded)
}

/// Returns the plaintext of a padded chunk, whose length and hash a device has signed.
pub(crate) fn plain_of(
    mut padded: Zeroizing<Vec<u8>>,
    length: u64,
    hash: &[u8; 32],
) -> Result<Zeroizing<Vec<u8>>> {
    let length = usize::try_from(length).map_err(|_| CryptoError::NotAuthentic)?;
    if length > MAX_CHUNK {
        return Err(CryptoError::NotAuthentic);
    }
    let plain = match padded.split_first() {
        Some((&compress::RAW, _)) => {
            check_padding(&padded, length)?;
            padded.copy_within(1..=length, 0);
            padded.truncate(length);
            padded
        }
        Some((&compress::ZSTD, rest)) => {
            let (plain, end) = compress::decompress(rest, length)?;
            check_padding(&padded, end)?;
            plain
        }
        Some((&codec, _)) => return Err(CryptoError::UnsupportedFormat(u32::from(codec))),
        None => return Err(CryptoError::NotAuthentic),
    };
    if blake3::hash(&plain) != *hash {
        return Err(CryptoError::NotAuthentic);
    }
    Ok(plain)
}

/// Checks the length of a padded plaintext, and that zeros alone follow its payload.
fn check_padding(padded: &[u8], payload: usize) -> Result<()> {
    let zeros = padded.get(1 + payload..).ok_or(CryptoError::NotAuthentic)?;
    let is_padded = padded.len() as u64 == padme(1 + payload as u64);
    if is_padded && zeros.iter().all(|&byte| byte == 0) {
        Ok(())
    } else {
        Err(CryptoError::NotAuthentic)
    }
}

#[cfg(test)]
mod tests;
