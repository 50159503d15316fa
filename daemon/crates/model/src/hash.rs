//! The digest of a whole file's plaintext.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// BLAKE3 (unkeyed, 32 bytes) of a file's whole plaintext. It is never sent to the server in clear.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({}…)", &hex::encode(self.0)[..12])
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&hex::encode(self.0))
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        decode32(&text)
            .map(Self)
            .ok_or_else(|| de::Error::custom("a content hash is 64 hexadecimal digits"))
    }
}

pub(crate) fn decode32(text: &str) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    hex::decode_to_slice(text, &mut out).ok()?;
    Some(out)
}
