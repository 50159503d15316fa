//! The cost of key derivation in this program. `cairn-crypto` defines the formats of keys.

pub(crate) use cairn_space::account_keys::from_wire;
use cairn_space::account_keys::{DEFAULT_ITERATIONS, MAX_ITERATIONS, MIN_ITERATIONS, RootCost};

/// Returns the cost of Argon2id for a new passphrase. `CAIRN_KDF_MEMORY_MIB` can choose another amount of memory within
/// the bounds that every client accepts.
pub(crate) fn cost() -> RootCost {
    cost_of(from_variable("CAIRN_KDF_MEMORY_MIB"))
}

fn cost_of(mib: Option<u32>) -> RootCost {
    mib.and_then(|mib| mib.checked_mul(1024))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_out_of_bounds_is_that_of_new_accounts() {
        let mib = |mib| cost_of(Some(mib)).memory / 1024;
        assert_eq!([64, 100, 1024].map(mib), [64, 100, 1024]);
        assert_eq!([0, 1, 63, 1025, u32::MAX].map(mib), [256; 5]);
        assert_eq!(cost_of(None), RootCost::DEFAULT);
    }
}
