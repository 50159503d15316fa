//! NUL in addresses. No text of a request may have it, as a database may have no way to store it; that of bodies is
//! refused by `check`.

/// Returns whether a percent-encoded path or query has a NUL, encoded or as it is.
pub(crate) fn is_in(encoded: &[u8]) -> bool {
    encoded.contains(&0) || encoded.windows(3).any(|three| three == b"%00")
}

#[cfg(test)]
mod tests {
    use super::is_in;

    #[test]
    fn only_what_decodes_to_a_nul_is_one() {
        for text in ["/shares/%00", "name=a%00b", "%00", "a\0b", "%25%00"] {
            assert!(is_in(text.as_bytes()), "{text:?}");
        }
        for text in ["", "%0", "00", "%2500", "%010", "a%20b"] {
            assert!(!is_in(text.as_bytes()), "{text:?}");
        }
    }
}
