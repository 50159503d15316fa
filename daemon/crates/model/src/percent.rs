//! Texts as parts of addresses (RFC 3986).

/// Returns a text as one segment of a path, or a fragment: in it, nothing has a meaning of its own.
#[must_use]
pub fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::percent_encode;

    #[test]
    fn a_segment_can_not_leave_its_place() {
        assert_eq!(percent_encode("../a b/c?d"), "%2E%2E%2Fa%20b%2Fc%3Fd");
        assert_eq!(percent_encode("50% #1é"), "50%25%20%231%C3%A9");
    }
}
