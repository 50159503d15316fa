//! The digest of a chunk as it is stored: whether it still has these bytes, and whether somebody has sent them again.

/// The first 16 bytes of the BLAKE3 of a chunk's encrypted bytes. Nobody can find other bytes that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkDigest(pub(crate) [u8; 16]);

impl ChunkDigest {
    /// Returns the digest of bytes that lie in several pieces.
    pub fn of(pieces: &[impl AsRef<[u8]>]) -> Self {
        let mut hasher = ChunkHasher::default();
        for piece in pieces {
            hasher.update(piece.as_ref());
        }
        Self::of_hash(hasher.finish())
    }

    /// Returns the digest of bytes whose BLAKE3 is known.
    pub fn of_hash(hash: [u8; 32]) -> Self {
        let (digest, _) = hash.split_at(16);
        Self(digest.try_into().expect("half of a hash has 16 bytes"))
    }
}

/// Hashes a chunk as its bytes come.
#[derive(Clone, Debug, Default)]
pub struct ChunkHasher(blake3::Hasher);

impl ChunkHasher {
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Returns the BLAKE3 of all bytes so far.
    pub fn finish(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_count_as_one() {
        let whole = ChunkDigest::of(&[b"chunk".as_slice()]);
        assert_eq!(ChunkDigest::of(&[b"ch".as_slice(), b"unk"]), whole);
        assert_ne!(ChunkDigest::of(&[b"chunks".as_slice()]), whole);
        // As `b3sum --length 16` has it.
        assert_eq!(
            hex::encode(whole.0),
            hex::encode(&blake3::hash(b"chunk").as_bytes()[..16])
        );
    }
}
