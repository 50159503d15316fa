//! The digest of a chunk as it is stored: whether it still has these bytes, and whether somebody has sent them again.

/// The first 16 bytes of the BLAKE3 of a chunk's encrypted bytes. Nobody can find other bytes that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkDigest(pub(crate) [u8; 16]);

impl ChunkDigest {
    /// Returns the digest of bytes that lie in several pieces.
    pub fn of(pieces: &[impl AsRef<[u8]>]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for piece in pieces {
            hasher.update(piece.as_ref());
        }
        let mut digest = [0; 16];
        hasher.finalize_xof().fill(&mut digest);
        Self(digest)
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
