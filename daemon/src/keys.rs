//! The cost of key derivation in this program. `cairn-crypto` defines the formats of keys.

pub(crate) use cairn_space::account_keys::from_wire;
use cairn_space::account_keys::{DEFAULT_ITERATIONS, MAX_ITERATIONS, MIN_ITERATIONS, RootCost};

/// Returns the cost of Argon2id for a new passphrase. `CAIRN_KDF_MEMORY_MIB` can choose another amount of memory within
/// the bounds that every client accepts.
pub(crate) fn cost() -> RootCost {
    from_variable("CAIRN_KDF_MEMORY_MIB")
        .and_then(|mib| mib.checked_mul(1024))
        .map(|memory| RootCost {
            memory,
            ..RootCost::DEFAULT
        })
        .filter(|cost| cost.check().is_ok())
        .unwrap_or(RootCost::DEFAULT)
}

/// Returns the number of PBKDF2 rounds for a new password of a link. `CAIRN_KDF_ITERATIONS` can choose
/// another number within the bounds that every client accepts.
pub(crate) fn iterations() -> u32 {
    from_variable("CAIRN_KDF_ITERATIONS")
        .filter(|n| (MIN_ITERATIONS..=MAX_ITERATIONS).contains(n))
        .unwrap_or(DEFAULT_ITERATIONS)
}

fn from_variable(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}
