//! This program's choices about keys; their formats are the business of the crates below.

pub(crate) use cairn_space::account_keys::{from_wire, to_wire};

/// Returns the number of PBKDF2 rounds for a new passphrase. `CAIRN_KDF_ITERATIONS` can choose
/// another number within the bounds that every client accepts.
pub(crate) fn iterations() -> u32 {
    std::env::var("CAIRN_KDF_ITERATIONS")
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|n| (cairn_crypto::MIN_ITERATIONS..=cairn_crypto::MAX_ITERATIONS).contains(n))
        .unwrap_or(cairn_crypto::DEFAULT_ITERATIONS)
}
