//! Opaque bytes that travel as base64 text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes that only a client can read: standard base64 with padding in JSON.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sealed(pub Vec<u8>);

impl Serialize for Sealed {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Sealed {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        STANDARD
            .decode(text)
            .map(Self)
            .map_err(|_| de::Error::custom("expected base64 with padding"))
    }
}
