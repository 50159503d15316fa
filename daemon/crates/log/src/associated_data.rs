//! Associated data: a label and a list of parts, each with its length in front, so that two different
//! lists never have the same bytes (compare TupleHash, NIST SP 800-185). Used as the associated data of
//! an AEAD, as HKDF info and as MAC input.

use uuid_bytes::AsIdBytes;

/// A tuple that begins with a label (purpose and format version). Each part is preceded by its length
/// in bytes, a big-endian u32.
#[derive(Clone, Debug)]
pub struct AssociatedData(Vec<u8>);

impl AssociatedData {
    /// Starts a tuple. `label` is `cairn/PURPOSE/VERSION` and is used for one purpose only.
    #[must_use]
    pub fn new(label: &'static str) -> Self {
        Self(Vec::with_capacity(160)).bytes(label.as_bytes())
    }

    /// Adds a part.
    ///
    /// # Panics
    /// If the part is 4 GiB long or longer.
    #[must_use]
    pub fn bytes(mut self, part: &[u8]) -> Self {
        // A part is an id, a name or a parameter; none comes near 2^32 bytes.
        let length = u32::try_from(part.len()).expect("a part is shorter than 4 GiB");
        self.0.extend_from_slice(&length.to_be_bytes());
        self.0.extend_from_slice(part);
        self
    }

    /// Adds the 16 bytes of an id.
    #[must_use]
    pub fn id(self, id: &impl AsIdBytes) -> Self {
        self.bytes(id.id_bytes())
    }

    /// Adds a number as eight bytes.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    /// Adds a byte, 0 or 1.
    #[must_use]
    pub fn flag(self, flag: bool) -> Self {
        self.bytes(&[u8::from(flag)])
    }

    /// Adds a part that may be missing; `None` and an empty part differ.
    #[must_use]
    pub fn optional(self, part: Option<&[u8]>) -> Self {
        match part {
            Some(part) => self.flag(true).bytes(part),
            None => self.flag(false),
        }
    }

    /// Returns the tuple.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

mod uuid_bytes {
    use cairn_model::{AccountId, DeviceId, NodeId, RevisionId, SpaceId};

    pub trait AsIdBytes {
        fn id_bytes(&self) -> &[u8; 16];
    }

    macro_rules! id {
        ($($name:ty),*) => {$(
            impl AsIdBytes for $name {
                fn id_bytes(&self) -> &[u8; 16] {
                    self.as_bytes()
                }
            }
        )*};
    }

    id!(AccountId, DeviceId, NodeId, RevisionId, SpaceId);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifting_a_byte_between_parts_changes_the_tuple() {
        let a = AssociatedData::new("l").bytes(b"ab").bytes(b"c");
        let b = AssociatedData::new("l").bytes(b"a").bytes(b"bc");
        assert_ne!(a.as_bytes(), b.as_bytes());
        assert_ne!(
            AssociatedData::new("l").optional(None).as_bytes(),
            AssociatedData::new("l").optional(Some(b"")).as_bytes()
        );
    }
}
