//! The cost of key derivation in this program. `cairn-crypto` defines the formats of keys.

pub(crate) use cairn_space::account_keys::from_wire;
use cairn_space::account_keys::{DEFAULT_ITERATIONS, MAX_ITERATIONS, MIN_ITERATIONS};

/// Returns the number of PBKDF2 rounds for a new passphrase. `CAIRN_KDF_ITERATIONS` can choose
/// another number within the bounds that every client accepts.
pub(crate) fn iterations() -> u32 {
    std::env::var("CAIRN_KDF_ITERATIONS")
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|n| (MIN_ITERATIONS..=MAX_ITERATIONS).contains(n))
        .unwrap_or(DEFAULT_ITERATIONS)
}
