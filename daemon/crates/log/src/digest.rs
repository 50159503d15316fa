//! The state digest: one hash over the newest statements and entries of a space, whatever order they
//! came in. LtHash16 (Lewi et al., "Securing Update Propagation with Homomorphic Hashing", 2019): the sum,
//! modulo 2^16, of 1,024 numbers for each element.

use crate::associated_data::AssociatedData;

const NUMBERS: usize = 1024;
/// Bytes of a digest.
pub(crate) const DIGEST: usize = 2 * NUMBERS;

/// The sum over a state's elements.
#[derive(Clone, PartialEq, Eq)]
pub struct StateDigest(Box<[u16; NUMBERS]>);

/// The part of the state that an element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// The newest statement of a node or chain.
    Signed,
    /// The server entry on it.
    Server,
}

impl Default for StateDigest {
    fn default() -> Self {
        Self(Box::new([0; NUMBERS]))
    }
}

impl StateDigest {
    pub(crate) fn add(&mut self, id: &[u8; 16], element: Element, hash: &[u8; 32]) {
        let numbers = numbers(id, element, hash);
        for (sum, number) in self.0.iter_mut().zip(numbers) {
            *sum = sum.wrapping_add(number);
        }
    }

    pub(crate) fn remove(&mut self, id: &[u8; 16], element: Element, hash: &[u8; 32]) {
        let numbers = numbers(id, element, hash);
        for (sum, number) in self.0.iter_mut().zip(numbers) {
            *sum = sum.wrapping_sub(number);
        }
    }

    /// Returns BLAKE3 of the digest, as a checkpoint has it.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for number in self.0.iter() {
            hasher.update(&number.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

impl StateDigest {
    /// Returns the numbers of the digest, two bytes each, little-endian.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    /// Reads the numbers of a digest.
    pub(crate) fn from_bytes(bytes: &[u8; DIGEST]) -> Self {
        let mut digest = Self::default();
        for (number, pair) in digest.0.iter_mut().zip(bytes.chunks_exact(2)) {
            *number = u16::from_le_bytes([pair[0], pair[1]]);
        }
        digest
    }
}

fn numbers(id: &[u8; 16], element: Element, hash: &[u8; 32]) -> impl Iterator<Item = u16> {
    let kind: &[u8] = match element {
        Element::Signed => b"signed",
        Element::Server => b"server",
    };
    let input = AssociatedData::new("cairn/2/state")
        .bytes(id)
        .bytes(kind)
        .bytes(hash);
    let mut bytes = [0; DIGEST];
    blake3::Hasher::new()
        .update(input.as_bytes())
        .finalize_xof()
        .fill(&mut bytes);
    (0..NUMBERS).map(move |i| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]))
}

impl std::fmt::Debug for StateDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateDigest({})", hex::encode(self.hash()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn order_means_nothing_and_what_was_added_can_be_removed(
            all in prop::collection::vec((any::<[u8; 16]>(), any::<bool>(), any::<[u8; 32]>()), 1..8),
        ) {
            let kind = |is_server: bool| if is_server { Element::Server } else { Element::Signed };
            let (mut one, mut other) = (StateDigest::default(), StateDigest::default());
            all.iter().for_each(|(id, server, hash)| one.add(id, kind(*server), hash));
            all.iter().rev().for_each(|(id, server, hash)| other.add(id, kind(*server), hash));
            prop_assert_eq!(&one, &other);
            let (id, server, hash) = all[0];
            other.remove(&id, kind(!server), &hash);
            other.add(&id, kind(server), &hash);
            prop_assert_ne!(one.hash(), other.hash());
            all.iter().for_each(|(id, server, hash)| one.remove(id, kind(*server), hash));
            prop_assert_eq!(one, StateDigest::default());
        }
    }

    /// The sum counts modulo 2^16: a snapshot has to have each element once.
    #[test]
    fn sixty_five_thousand_copies_are_none() {
        let mut digest = StateDigest::default();
        for number in numbers(&[1; 16], Element::Signed, &[2; 32]) {
            assert_eq!(
                (0..65_536).fold(0_u16, |sum, _| sum.wrapping_add(number)),
                0
            );
        }
        digest.add(&[1; 16], Element::Signed, &[2; 32]);
        assert_ne!(digest, StateDigest::default());
    }
}
