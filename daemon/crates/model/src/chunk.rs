//! The ids of chunks: runs of a file's bytes, and lists of them, each sealed and stored on its own.

use crate::hash::decode32;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// BLAKE3 of a chunk's padded payload, keyed from the key of its node (32 bytes, hex as text).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId(pub [u8; 32]);

/// The error for a text that isn't a chunk id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a chunk id is 64 lower-case hexadecimal digits")]
pub struct InvalidChunkId;

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChunkId({}…)", &hex::encode(self.0)[..12])
    }
}

impl FromStr for ChunkId {
    type Err = InvalidChunkId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(InvalidChunkId);
        }
        decode32(text).map(Self).ok_or(InvalidChunkId)
    }
}

impl Serialize for ChunkId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ChunkId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}
