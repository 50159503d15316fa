//! Twelve words for comparing the heads (size and Merkle root) of a space's log: two people, or two devices of one
//! person, read them to one another and know that they see one history. 132 bits, behind a costly hash: a server that
//! looks for two histories with equal words has to pay for each try.

use super::root::argon2id;
use crate::error::CryptoError;
use bip39::Language;
use cairn_log::AssociatedData;
use cairn_model::SpaceId;

const WORDS: usize = 12;
const BITS: usize = 11;
/// 64 MiB.
const MEMORY: u32 = 64 * 1024;

/// Returns the words of a log's head. Takes some tenths of a second.
///
/// # Errors
/// [`CryptoError::BadKdf`] if the memory can't be allocated.
pub fn comparison_words(
    space: SpaceId,
    size: u64,
    root: &[u8; 32],
) -> std::result::Result<[&'static str; WORDS], CryptoError> {
    let head = AssociatedData::new("cairn/2/words")
        .id(&space)
        .number(size)
        .bytes(root);
    let hash = argon2id(head.as_bytes(), space.as_bytes(), (MEMORY, 1), 1)?;
    let list = Language::English.word_list();
    Ok(std::array::from_fn(|word| {
        let bits = (word * BITS..(word + 1) * BITS).map(|at| hash[at / 8] >> (7 - at % 8) & 1);
        let index = bits.fold(0, |index, bit| index << 1 | usize::from(bit));
        list[index]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_from_space_size_and_root() {
        let space = |n| SpaceId::from_random_bytes([n; 16]);
        let heads = [
            (space(1), 5, [1; 32]),
            (space(2), 5, [1; 32]),
            (space(1), 6, [1; 32]),
            (space(1), 5, [2; 32]),
        ];
        let words = heads.map(|(space, size, root)| comparison_words(space, size, &root).unwrap());
        assert_eq!(words[0], comparison_words(space(1), 5, &[1; 32]).unwrap());
        for (i, one) in words.iter().enumerate() {
            assert!(one.iter().all(|word| word.len() >= 3));
            for other in &words[..i] {
                assert_ne!(one, other);
            }
        }
    }
}
