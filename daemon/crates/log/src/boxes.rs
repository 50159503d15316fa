//! The boxes beside a commit that begins an epoch (a generation of a space's key): the new secret, sealed to each
//! member or device, in one blob. The commit's statement has the SHA-256 of it.
//!
//! ring v+x · count v · per box account 16, number u32 (0 in teams), v+x. Boxes are sorted by account and
//! number, and nobody has two. `ring` is the older secrets, sealed under the new one.
//!
//! In layouts a number is a length in bytes, v a LEB128 number, and v+x bytes after their length, a v.

use crate::bytes::{Reader, Writer};
use crate::error::{LogError, require};
use crate::sha256;
use cairn_model::AccountId;

/// The bytes of a box without its content.
const LEAST: usize = 16 + 4 + 1;

/// The sealed secrets of an epoch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Boxes {
    /// The secrets of earlier epochs under this one's; empty beside a roster.
    pub ring: Vec<u8>,
    pub boxes: Vec<SealedBox>,
}

/// A box for one member of a team, or for one device in a personal space.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SealedBox {
    pub account: AccountId,
    /// The device; 0 in teams.
    pub number: u32,
    pub sealed: Vec<u8>,
}

impl Boxes {
    /// Makes the blob's content, in its order.
    #[must_use]
    pub fn new(ring: Vec<u8>, mut boxes: Vec<SealedBox>) -> Self {
        boxes.sort_unstable();
        Self { ring, boxes }
    }

    /// Returns the bytes of the blob.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.vx(&self.ring).v(self.boxes.len() as u64);
        for one in &self.boxes {
            out.raw(one.account.as_bytes())
                .u32(one.number)
                .vx(&one.sealed);
        }
        out.finish()
    }

    /// Reads a blob.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for anything that no writer makes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        let mut reader = Reader::new(bytes);
        let ring = reader.vx(usize::MAX)?.to_vec();
        let count = reader.count(LEAST)?;
        let mut boxes: Vec<SealedBox> = Vec::with_capacity(count);
        for _ in 0..count {
            boxes.push(SealedBox {
                account: reader.account()?,
                number: reader.u32()?,
                sealed: reader.vx(usize::MAX)?.to_vec(),
            });
        }
        reader.end()?;
        let of = |one: &SealedBox| (one.account, one.number);
        require(boxes.is_sorted_by(|a, b| of(a) < of(b)))?;
        Ok(Self { ring, boxes })
    }

    /// Returns the hash that the statement has.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        sha256(&self.encode())
    }

    /// Reads a blob that a statement names.
    ///
    /// # Errors
    /// Fails like [`Boxes::decode`], and for any other blob.
    pub fn decode_named(bytes: &[u8], hash: &[u8; 32]) -> std::result::Result<Self, LogError> {
        require(sha256(bytes) == *hash)?;
        Self::decode(bytes)
    }

    /// Returns the box of a member or device.
    #[must_use]
    pub fn find(&self, account: AccountId, number: u32) -> Option<&[u8]> {
        self.boxes
            .iter()
            .find(|one| (one.account, one.number) == (account, number))
            .map(|one| one.sealed.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn account(n: u8) -> AccountId {
        AccountId::from_random_bytes([n; 16])
    }

    fn one(account_byte: u8, number: u32) -> SealedBox {
        SealedBox {
            account: account(account_byte),
            number,
            sealed: vec![account_byte; 3],
        }
    }

    #[test]
    fn boxes_come_back_and_are_found() {
        let boxes = Boxes::new(vec![1, 2], vec![one(2, 5), one(1, 9), one(1, 3)]);
        let bytes = boxes.encode();
        assert_eq!(Boxes::decode(&bytes), Ok(boxes.clone()));
        assert_eq!(
            Boxes::decode_named(&bytes, &boxes.hash()),
            Ok(boxes.clone())
        );
        assert!(Boxes::decode_named(&bytes, &[0; 32]).is_err());
        assert_eq!(boxes.find(account(1), 9), Some(&[1, 1, 1][..]));
        assert_eq!(boxes.find(account(2), 9), None);
        assert_eq!(
            Boxes::decode(&Boxes::default().encode()),
            Ok(Boxes::default())
        );
    }

    #[test]
    fn another_order_and_a_second_box_are_refused() {
        for boxes in [
            vec![one(2, 0), one(1, 0)],
            vec![one(1, 2), one(1, 1)],
            vec![one(1, 1), one(1, 1)],
        ] {
            let ring = Vec::new();
            assert!(Boxes::decode(&Boxes { ring, boxes }.encode()).is_err());
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_the_same(
            at in any::<prop::sample::Index>(), value: u8, cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = Boxes::new(vec![1; 5], vec![one(1, 1), one(2, 2)]).encode();
            prop_assert!(Boxes::decode(&bytes[..cut.index(bytes.len())]).is_err());
            let at = at.index(bytes.len());
            bytes[at] = value;
            if let Ok(boxes) = Boxes::decode(&bytes) {
                prop_assert_eq!(boxes.encode(), bytes);
            }
        }
    }
}
