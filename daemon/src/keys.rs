//! What this program chooses about keys; how they travel and open is known to the crates below.

pub(crate) use cairn_space::account_keys::{from_wire, to_wire};

/// How often PBKDF2 runs for a new passphrase. `CAIRN_KDF_ITERATIONS` can choose another number
/// within the bounds that every client accepts.
pub(crate) fn iterations() -> u32 {
    std::env::var("CAIRN_KDF_ITERATIONS")
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|n| (cairn_crypto::MIN_ITERATIONS..=cairn_crypto::MAX_ITERATIONS).contains(n))
        .unwrap_or(cairn_crypto::DEFAULT_ITERATIONS)
}
