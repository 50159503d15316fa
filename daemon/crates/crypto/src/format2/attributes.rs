//! Extended attributes of a file, as one encrypted object: count v · name v+x, value v+x each, sorted by name.
//!
//! In layouts v is a LEB128 number, and v+x bytes after their length, a v.

use crate::error::{CryptoError, Result};
use crate::format2::keys::NodeKey;
use crate::format2::manifest::decode_all;
use crate::format2::object::{ObjectKind, SealedObject};
use cairn_log::bytes::{Reader, Writer};
use cairn_log::{MAX_ATTRIBUTES, ObjectId};
use std::collections::BTreeMap;

/// The longest name on any system that has them, in bytes.
const MAX_NAME: usize = 255;

/// The `user.*` attributes of a file: names and values as bytes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Attributes(pub BTreeMap<Vec<u8>, Vec<u8>>);

impl Attributes {
    /// Returns the bytes of the attributes.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if they are longer than 64 KiB, or a name is empty or too long.
    pub fn encode(&self) -> std::result::Result<Vec<u8>, CryptoError> {
        let mut out = Writer::new();
        out.v(self.0.len() as u64);
        for (name, value) in &self.0 {
            out.vx(name).vx(value);
        }
        let bytes = out.finish();
        let names_hold = self.0.keys().all(|name| is_name(name));
        if bytes.len() > MAX_ATTRIBUTES || !names_hold {
            return Err(CryptoError::InvalidInput(
                "the extended attributes are longer than 64 KiB, or have a name that can't be kept",
            ));
        }
        Ok(bytes)
    }

    fn decode_prefix(bytes: &[u8]) -> Result<(Self, usize)> {
        let bytes = &bytes[..bytes.len().min(MAX_ATTRIBUTES)];
        let mut reader = Reader::new(bytes);
        let count = reader.count(2)?;
        let mut all: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for _ in 0..count {
            let name = reader.vx(MAX_NAME)?;
            let value = reader.vx(MAX_ATTRIBUTES)?;
            let is_sorted = all
                .last_key_value()
                .is_none_or(|(last, _)| last.as_slice() < name);
            if !is_name(name) || !is_sorted {
                return Err(CryptoError::NotAuthentic);
            }
            all.insert(name.to_vec(), value.to_vec());
        }
        Ok((Self(all), bytes.len() - reader.rest().len()))
    }

    /// Reads attributes.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything that no writer makes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, CryptoError> {
        decode_all(bytes, Self::decode_prefix)
    }

    /// Seals the attributes.
    ///
    /// # Errors
    /// Fails like [`Attributes::encode`].
    pub fn seal(&self, key: &NodeKey) -> std::result::Result<SealedObject, CryptoError> {
        Ok(key.seal_record(ObjectKind::Attributes, &self.encode()?))
    }

    /// Opens the requested attributes.
    ///
    /// # Errors
    /// Fails like [`NodeKey::open_chunk`].
    pub fn open(
        key: &NodeKey,
        id: &ObjectId,
        sealed: &[u8],
    ) -> std::result::Result<Self, CryptoError> {
        key.open_record(ObjectKind::Attributes, id, sealed, Self::decode_prefix)
    }
}

fn is_name(name: &[u8]) -> bool {
    (1..=MAX_NAME).contains(&name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format2::SpaceSecret;
    use cairn_model::{NodeId, SpaceId};
    use proptest::prelude::*;

    fn key() -> NodeKey {
        let space = SpaceId::from_random_bytes([1; 16]);
        let secret = SpaceSecret::from_bytes(space, 1, &[7; 32]).unwrap();
        secret.keys().node(NodeId::from_random_bytes([1; 16]))
    }

    #[test]
    fn order_repetition_and_empty_names_are_refused() {
        let row = |out: &mut Writer, name: &[u8]| {
            out.vx(name).vx(b"v");
        };
        for names in [[&b"b"[..], b"a"], [b"a", b"a"], [b"", b"a"]] {
            let mut out = Writer::new();
            out.v(2);
            names.iter().for_each(|name| row(&mut out, name));
            assert!(Attributes::decode(&out.finish()).is_err(), "{names:?}");
        }
        let long = BTreeMap::from([(b"a".to_vec(), vec![0; MAX_ATTRIBUTES])]);
        assert!(Attributes(long).encode().is_err());
        let unnamed = BTreeMap::from([(Vec::new(), Vec::new())]);
        assert!(Attributes(unnamed).encode().is_err());
    }

    proptest! {
        #[test]
        fn attributes_come_back(
            all in prop::collection::btree_map(
                prop::collection::vec(any::<u8>(), 1..20),
                prop::collection::vec(any::<u8>(), 0..40),
                0..8,
            ),
        ) {
            let all = Attributes(all);
            let sealed = all.seal(&key())?;
            prop_assert_eq!(&Attributes::open(&key(), &sealed.id, &sealed.bytes)?, &all);
            prop_assert_eq!(Attributes::decode(&all.encode()?)?, all);
        }

        #[test]
        fn what_is_read_is_written_the_same(bytes in prop::collection::vec(0..6_u8, 0..40)) {
            if let Ok(all) = Attributes::decode(&bytes) {
                prop_assert_eq!(all.encode()?, bytes);
            }
        }
    }
}
