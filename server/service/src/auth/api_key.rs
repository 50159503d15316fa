//! The text of an API key: what marks one, what is stored of it, and what lists show.

use cairn_store::{Hash, Source};
use sha2::{Digest as _, Sha256};

/// The prefix of every API key.
pub(crate) const PREFIX: &str = "ck_";
/// Characters of an API key that are shown in lists.
const SHOWN: usize = 10;

/// Makes the text of a new API key.
pub(crate) fn generate(source: &Source) -> String {
    format!("{PREFIX}{}", hex::encode(source.bytes::<24>()))
}

/// Returns the hash under which a key is stored.
pub(crate) fn hash(key: &str) -> Hash {
    Sha256::digest(key).into()
}

/// Returns the beginning of a key, by which people recognise it.
pub(crate) fn visible_prefix(key: &str) -> String {
    key.chars().take(SHOWN).collect()
}
