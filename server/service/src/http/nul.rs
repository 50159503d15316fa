//! NUL, and bytes that are no text, in addresses: a database may have no way to store the former, and the latter would be
//! read as something else. Bodies are checked by `check`.

/// Returns whether a percent-encoded path or query has a NUL, encoded or as it is.
pub(crate) fn is_in(encoded: &[u8]) -> bool {
    encoded.contains(&0) || encoded.windows(3).any(|three| three == b"%00")
}

/// Returns whether a percent-encoded query stands for text in UTF-8.
pub(crate) fn is_text(encoded: &[u8]) -> bool {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((first, after)) = rest.split_first() {
        let byte = after.split_at_checked(2).filter(|_| *first == b'%');
        let byte = byte.and_then(|(digits, after)| Some((hex(digits)?, after)));
        let (byte, after) = byte.unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    std::str::from_utf8(&bytes).is_ok()
}

fn hex(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    let all_digits = digits.iter().all(u8::is_ascii_hexdigit);
    u8::from_str_radix(text, 16).ok().filter(|_| all_digits)
}

#[cfg(test)]
mod tests {
    use super::{is_in, is_text};

    #[test]
    fn only_utf_8_is_text() {
        for text in [
            "",
            "a+b",
            "caf%C3%A9",
            "café",
            "%",
            "%f",
            "%+9",
            "%zz",
            "%25E9",
        ] {
            assert!(is_text(text.as_bytes()), "{text:?}");
        }
        for other in ["caf%E9", "%ff", "%C3", "%C3%28", "a=%ED%A0%80"] {
            assert!(!is_text(other.as_bytes()), "{other:?}");
        }
    }

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
