//! Keeps the inside of the cryptography out of messages: one that speaks of it becomes a generic one.
//!
//! What is quoted is data, such as a file's name, and does not count.

/// What stands for a message that may not be shown.
pub(crate) const GENERIC: &str = "Encryption operation failed";

/// A word that begins like this speaks of cryptography.
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
/// These do as whole words, with or without digits after them.
const WORDS: [&str; 12] = [
    "aes", "rsa", "gcm", "oaep", "hmac", "nonce", "scrypt", "bcrypt", "blake", "curve", "sha",
    "crypto",
];
/// These do as two words in a row.
const PAIRS: [(&str, &str); 6] = [
    ("private", "key"),
    ("secret", "key"),
    ("public", "key"),
    ("content", "key"),
    ("space", "key"),
    ("authentication", "tag"),
];

/// The message, or the generic one if it speaks of cryptography.
pub(crate) fn masked(message: String) -> String {
    if speaks_of_it(&message) {
        GENERIC.to_owned()
    } else {
        message
    }
}

/// Tells whether a text speaks of cryptography.
pub(crate) fn speaks_of_it(message: &str) -> bool {
    let mut previous = String::new();
    let said = unquoted(message);
    for word in said.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
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

/// The message without what stands in backticks or double quotes.
fn unquoted(message: &str) -> String {
    let mut said = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(['`', '"']) {
        let (before, from) = rest.split_at(at);
        said.push_str(before);
        let quote = &from[..1];
        match from[1..].find(quote) {
            Some(end) => {
                said.push(' ');
                rest = &from[end + 2..];
            }
            None => {
                rest = &from[1..];
            }
        }
    }
    said.push_str(rest);
    said
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
