//! E-mail addresses: the one form in which they are kept and compared.

use unicode_normalization::UnicodeNormalization as _;

/// Returns an address without spaces around it, in small letters and composed (NFC, Unicode Standard Annex 15): two
/// spellings that people take for the same address are the same text.
#[must_use]
pub fn normalize(address: &str) -> String {
    address.trim().to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn spellings_of_one_address_are_one_text() {
        for spelling in [
            "\u{fc}nal@example.com",
            " \u{dc}nal@Example.com ",
            "u\u{308}nal@example.com",
            "U\u{308}NAL@EXAMPLE.COM",
        ] {
            assert_eq!(normalize(spelling), "\u{fc}nal@example.com", "{spelling}");
        }
        assert_ne!(
            normalize("unal@example.com"),
            normalize("\u{fc}nal@example.com")
        );
    }
}
