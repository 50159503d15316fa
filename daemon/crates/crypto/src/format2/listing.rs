//! Listings: the keys of one revision's chunks, sealed under the key in a share link's fragment, so that the
//! link opens these chunks and nothing else.
//!
//! KDF(link key, "commit", share) 32 · sealed: space 16 · path v+x · size v · BLAKE3 32 · count v · per chunk t
//! u8 (the kind of the object, always "chunk"), node 16, epoch v, id 32, key 32, length v, BLAKE3 32. The value
//! in front commits to the key: AES-GCM alone would let a server make bytes that open under two.
//!
//! In layouts a number is a length in bytes, v a LEB128 number, and v+x bytes after their length, a v.

use crate::error::{CryptoError, Result, require};
use crate::format2::chunker::MAX_CHUNK;
use crate::format2::keys::NodeKey;
use crate::format2::object::{ObjectKind, open_sealed, plain_of};
use crate::format2::seal::{self, Purpose};
use crate::random::Random;
use crate::secret::Key;
use cairn_log::bytes::{Reader, Writer};
use cairn_log::{AssociatedData, NodeKeyRef, ObjectId, is_usable_name};
use cairn_model::{NodeId, SpaceId};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;
use zeroize::Zeroizing;

const COMMITMENT: usize = 32;
/// The least bytes of a chunk's row.
const ROW: usize = 1 + 16 + 1 + 32 + 32 + 1 + 32;
/// The longest path, in bytes.
const MAX_PATH: usize = 4096;

/// The key of a link, from the secret in the fragment of its address (and a password).
#[derive(Clone, Debug)]
pub struct LinkKey(pub(crate) Key);

/// One revision of a file, for everybody who has the link.
#[derive(Clone, Debug)]
pub struct Listing {
    pub space: SpaceId,
    /// The path below what was shared.
    pub path: String,
    pub size: u64,
    /// BLAKE3 of the whole content.
    pub hash: [u8; 32],
    pub chunks: Vec<ListedChunk>,
}

/// A chunk with the key of it alone.
#[derive(Clone, Debug)]
pub struct ListedChunk {
    pub at: NodeKeyRef,
    pub id: ObjectId,
    key: Key,
    pub length: u64,
    /// BLAKE3 of the plaintext.
    pub hash: [u8; 32],
}

/// The ids that a listing is bound to: share, node, and the number of its refreshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingPlace {
    pub share: Uuid,
    pub node: NodeId,
    pub number: u64,
}

impl LinkKey {
    /// Draws a new key.
    #[must_use]
    pub fn generate(rng: &mut dyn Random) -> Self {
        Self(Key::generate(rng))
    }

    /// Reads a key of 32 bytes that are not all zero.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, CryptoError> {
        Key::from_bytes(bytes).map(Self)
    }

    /// Returns the 32 bytes, for the fragment.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(*self.0.bytes())
    }

    fn commitment(&self, share: Uuid) -> Key {
        let purpose = AssociatedData::new("cairn/2/commit").bytes(share.as_bytes());
        self.0.derive(&purpose)
    }
}

impl ListingPlace {
    fn purpose(self) -> Purpose {
        Purpose::Listing {
            share: self.share,
            node: self.node,
            number: self.number,
        }
    }
}

impl NodeKey {
    /// Returns a chunk's row of a listing. Its key opens this chunk and no other.
    #[must_use]
    pub fn list_chunk(&self, id: ObjectId, length: u64, hash: [u8; 32]) -> ListedChunk {
        ListedChunk {
            at: self.at(),
            id,
            key: self.seal_key(ObjectKind::Chunk, &id),
            length,
            hash,
        }
    }
}

impl ListedChunk {
    /// Opens the chunk. Its id can't be computed without the node's key; what is checked is the seal,
    /// the length and the hash of the plaintext.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if it was altered, or is another one; [`CryptoError::UnsupportedFormat`].
    pub fn open(
        &self,
        space: SpaceId,
        sealed: &[u8],
    ) -> std::result::Result<Zeroizing<Vec<u8>>, CryptoError> {
        let padded = open_sealed(
            &self.key,
            ObjectKind::Chunk,
            space,
            self.at,
            &self.id,
            sealed,
        )?;
        plain_of(padded, self.length, &self.hash)
    }
}

impl Listing {
    /// Seals the listing for everybody who has the link's key.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if it contradicts itself, or for a path that nobody would open.
    pub fn seal(
        &self,
        key: &LinkKey,
        place: ListingPlace,
        rng: &mut dyn Random,
    ) -> std::result::Result<Vec<u8>, CryptoError> {
        if !self.has_usable_path() {
            return Err(CryptoError::InvalidInput(
                "its path has more than 4,096 bytes, or a name that can't be one",
            ));
        }
        self.check()
            .map_err(|_| CryptoError::InvalidInput("the listing contradicts itself"))?;
        let mut out = key.commitment(place.share).bytes().to_vec();
        out.extend_from_slice(&seal::seal(&key.0, place.purpose(), &self.encode(), rng));
        Ok(out)
    }

    /// Opens the requested listing.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] with another key, for another share, node or number, or if it was altered.
    pub fn open(
        key: &LinkKey,
        place: ListingPlace,
        listing: &[u8],
    ) -> std::result::Result<Self, CryptoError> {
        let (commitment, sealed) = listing
            .split_first_chunk::<COMMITMENT>()
            .ok_or(CryptoError::NotAuthentic)?;
        // It stands there in clear: how long comparing takes tells nobody anything.
        require(commitment == key.commitment(place.share).bytes())?;
        let plain = seal::open(&key.0, place.purpose(), sealed)?;
        Self::decode(&plain)
    }

    /// Returns the hash of a sealed listing, as a link's statement has it.
    #[must_use]
    pub fn sealed_hash(listing: &[u8]) -> [u8; 32] {
        Sha256::digest(listing).into()
    }

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut head = Writer::new();
        head.raw(self.space.as_bytes())
            .vx(self.path.as_bytes())
            .v(self.size)
            .raw(&self.hash)
            .v(self.chunks.len() as u64);
        let head = head.finish();
        // All of it at once: a vector that grows leaves copies of keys behind.
        let mut out = Zeroizing::new(Vec::with_capacity(
            head.len() + self.chunks.len() * (ROW + 18),
        ));
        out.extend_from_slice(&head);
        for chunk in &self.chunks {
            out.push(ObjectKind::Chunk.letter());
            out.extend_from_slice(chunk.at.node.as_bytes());
            out.extend_from_slice(&Writer::new().v(chunk.at.epoch).finish());
            out.extend_from_slice(&chunk.id.0);
            out.extend_from_slice(chunk.key.bytes());
            out.extend_from_slice(&Writer::new().v(chunk.length).finish());
            out.extend_from_slice(&chunk.hash);
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let space = SpaceId(Uuid::from_bytes(reader.array()?));
        let path = reader.vx(MAX_PATH)?.to_vec();
        let path = String::from_utf8(path).map_err(|_| CryptoError::NotAuthentic)?;
        let (size, hash) = (reader.v()?, reader.array()?);
        let count = reader.count(ROW)?;
        let mut chunks = Vec::with_capacity(count);
        for _ in 0..count {
            require(reader.u8()? == ObjectKind::Chunk.letter())?;
            let node = NodeId(Uuid::from_bytes(reader.array()?));
            let epoch = reader.v()?;
            chunks.push(ListedChunk {
                at: NodeKeyRef { node, epoch },
                id: ObjectId(reader.array()?),
                key: Key::from_bytes(reader.take(32)?)?,
                length: reader.v()?,
                hash: reader.array()?,
            });
        }
        reader.end()?;
        let listing = Self {
            space,
            path,
            size,
            hash,
            chunks,
        };
        listing.check()?;
        Ok(listing)
    }

    fn check(&self) -> Result<()> {
        let is_empty_file = self.size == 0 && self.chunks.len() == 1;
        let lengths_hold = self
            .chunks
            .iter()
            .all(|chunk| chunk.length <= MAX_CHUNK as u64 && (chunk.length > 0 || is_empty_file));
        let total = self
            .chunks
            .iter()
            .try_fold(0_u64, |sum, chunk| sum.checked_add(chunk.length));
        require(
            !self.chunks.is_empty()
                && lengths_hold
                && total == Some(self.size)
                && self.has_usable_path(),
        )
    }

    /// Returns true if a person who opens the link can write a file of this name.
    fn has_usable_path(&self) -> bool {
        let mut names = self.path.split('/');
        self.path.len() <= MAX_PATH && names.all(|name| is_usable_name(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests;
