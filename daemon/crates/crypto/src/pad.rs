//! Padmé: rounds lengths up so that they reveal only O(log log n) bits, at a cost of at most 12 %.
//!
//! Source: Nikitin et al., "Reducing Metadata Leakage from Encrypted Files and Communication with
//! PURBs", PETS 2019, section 4.

/// Rounds a length in bytes up.
pub(crate) fn padme(length: u64) -> u64 {
    if length < 2 {
        return length;
    }
    let exponent = length.ilog2();
    let mantissa = exponent.ilog2() + 1;
    let free = exponent.saturating_sub(mantissa);
    let mask = (1_u64 << free) - 1;
    length.saturating_add(mask) & !mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_small_monotonous_and_stable() {
        let mut last = 0;
        for length in (0..5000)
            .chain((1 << 18)..(1 << 18) + 5000)
            .chain([4 << 20])
        {
            let padded = padme(length);
            assert!(padded >= length && padded >= last, "{length}");
            assert!(
                padded - length <= length * 12 / 100,
                "{length} grew to {padded}"
            );
            assert_eq!(padme(padded), padded, "{length}");
            last = padded;
        }
        assert_eq!(padme(4 << 20), 4 << 20);
    }

    #[test]
    fn neighbouring_lengths_look_alike() {
        let seen: std::collections::BTreeSet<u64> = (100_000..200_000).map(padme).collect();
        assert!(seen.len() < 60, "{} different lengths", seen.len());
    }
}
