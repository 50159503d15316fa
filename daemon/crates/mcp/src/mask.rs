//! Keeps cryptographic details out of messages: one that mentions them becomes a generic one.
//!
//! Quoted text is data, such as a file's name, and does not count.

/// The generic message.
pub(crate) const GENERIC: &str = "Encryption operation failed";

/// Beginnings of words that mention cryptography.
const STEMS: [&str; 9] = [
    "decrypt",
    "encrypt",
    "cipher",
    "pbkdf",
    "hkdf",
    "cryptograph",
    "keypair",
    "plaintext",
    "argon",
];
/// Whole words that mention cryptography, with or without digits after them.
const WORDS: [&str; 12] = [
    "aes", "rsa", "gcm", "oaep", "hmac", "nonce", "scrypt", "bcrypt", "blake", "curve", "sha",
    "crypto",
];
/// Pairs of words that mention cryptography.
const PAIRS: [(&str, &str); 6] = [
    ("private", "key"),
    ("secret", "key"),
    ("public", "key"),
    ("content", "key"),
    ("space", "key"),
    ("authentication", "tag"),
];

/// Returns the message, or the generic one if it mentions cryptography.
pub(crate) fn masked(message: String) -> String {
    if mentions_crypto(&message) {
        GENERIC.to_owned()
    } else {
        message
    }
}

/// Returns true if a text mentions cryptography.
pub(crate) fn mentions_crypto(message: &str) -> bool {
    let mut previous = String::new();
    let plain = without_quotes(message);
    for word in plain.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if word.is_empty() {
            continue;
        }
        let word = word.to_lowercase();
        let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let pair = |(first, second): &(&str, &str)| {
            previous == *first && bare.trim_end_matches('s') == *second
        };
        if STEMS.iter().any(|stem| word.starts_with(stem))
            || WORDS.contains(&bare)
            || PAIRS.iter().any(pair)
        {
            return true;
        }
        previous = word;
    }
    false
}

/// Returns the message without the parts in backticks or double quotes.
fn without_quotes(message: &str) -> String {
    let mut plain = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(['`', '"']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let quote = &from[..1];
        match from[1..].find(quote) {
            Some(end) => {
                plain.push(' ');
                rest = &from[end + 2..];
            }
            None => {
                rest = &from[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crypto_terms_are_masked_as_words_and_stems() {
        for secret in [
            "could not decrypt the chunk",
            "Decryption failed",
            "encrypted blob is short",
            "AES-256-GCM tag mismatch",
            "AES256 error",
            "bad RSA modulus",
            "PBKDF2 with 1000 rounds",
            "wrong private key",
            "ciphertext too short",
            "the content keys differ",
        ] {
            assert_eq!(masked(secret.to_owned()), GENERIC, "{secret}");
        }
    }

    #[test]
    fn other_words_and_names_are_not() {
        for plain in [
            "no conversation with this id",
            "the universal folder is gone",
            "a file called `AES notes.txt` is there already",
            "there is \"encrypted.zip\" in the folder",
            "traversal is not allowed",
            "the API key has expired",
            "usage of verify_encryption_status",
        ] {
            assert_eq!(masked(plain.to_owned()), plain);
        }
    }

    #[test]
    fn an_open_quote_hides_nothing() {
        assert_eq!(masked("it's ` decrypt".to_owned()), GENERIC);
    }
}
