//! Keeps cryptographic details out of messages: one that mentions them becomes a generic one.
//!
//! Quoted names of files are data and do not count.

/// The generic message.
pub(crate) const GENERIC: &str = "Encryption operation failed";

/// Parts of words that mention cryptography wherever they stand.
const PARTS: [&str; 18] = [
    "decrypt",
    "encrypt",
    "decipher",
    "cipher",
    "pbkdf",
    "hkdf",
    "cryptograph",
    "keypair",
    "plaintext",
    "argon2",
    "chacha",
    "poly1305",
    "ed25519",
    "x25519",
    "aesgcm",
    "aes256",
    "aes128",
    "rsaes",
];
/// Whole words that mention cryptography, with or without digits after them.
const WORDS: [&str; 19] = [
    "aes", "rsa", "gcm", "oaep", "hmac", "nonce", "scrypt", "bcrypt", "blake", "curve", "sha",
    "crypto", "argon", "kdf", "salt", "digest", "ecdh", "ecdsa", "padding",
];
/// Whole words that mention cryptography only in capitals.
const CAPITALS: [&str; 2] = ["IV", "MAC"];
/// Pairs of words that mention cryptography.
const PAIRS: [(&str, &str); 10] = [
    ("private", "key"),
    ("secret", "key"),
    ("public", "key"),
    ("content", "key"),
    ("space", "key"),
    ("master", "key"),
    ("symmetric", "key"),
    ("wrapped", "key"),
    ("key", "derivation"),
    ("authentication", "tag"),
];
/// Names of tools, which messages may recommend.
const TOOLS: [&str; 2] = ["verify_encryption_status", "get_encryption_audit_log"];

/// Returns the message, or the generic one if it mentions cryptography.
pub(crate) fn mask_crypto(message: String) -> String {
    if mentions_crypto(&message) {
        GENERIC.to_owned()
    } else {
        message
    }
}

/// Returns true if a text mentions cryptography.
pub(crate) fn mentions_crypto(message: &str) -> bool {
    let mut text = without_quoted_names(message);
    for tool in TOOLS {
        text = text.replace(tool, " ");
    }
    let mut previous = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let whole = word.to_lowercase();
        if PARTS.iter().any(|part| whole.contains(part)) {
            return true;
        }
        for part in camel_parts(word) {
            let lower = part.to_lowercase();
            let bare = lower.trim_end_matches(|c: char| c.is_ascii_digit());
            let pair = |(first, second): &(&str, &str)| {
                previous == *first && bare.trim_end_matches('s') == *second
            };
            if WORDS.contains(&bare) || CAPITALS.contains(&part) || PAIRS.iter().any(pair) {
                return true;
            }
            previous = lower;
        }
    }
    false
}

/// Splits `AesGcmError` into its words, and leaves `PBKDF2` whole.
fn camel_parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before_is_lower = false;
    for (at, c) in word.char_indices() {
        if c.is_uppercase() && before_is_lower {
            parts.push(&word[start..at]);
            start = at;
        }
        before_is_lower = c.is_lowercase();
    }
    if start < word.len() {
        parts.push(&word[start..]);
    }
    parts
}

/// Returns the message without what looks like a name in backticks or double quotes: with a dot, a slash or
/// a space in it. A quoted single word counts.
fn without_quoted_names(message: &str) -> String {
    let mut plain = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(['`', '"']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let quote = &from[..1];
        match from[1..].find(quote) {
            Some(end) => {
                let quoted = &from[1..=end];
                let is_name = quoted.contains(['.', '/', '\\', ' ']);
                plain.push(' ');
                plain.push_str(if is_name { "" } else { quoted });
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
            "undecryptable",
            "reencrypt failed",
            "chunk_decrypt failed",
            "chunkDecrypt",
            "InvalidCiphertext",
            "AesGcmError",
            "RsaError",
            "AESGCM",
            "aes256gcm",
            "\"AES\" failed",
            "`decrypt` failed",
            "KDF parameters",
            "key derivation failed",
            "bad salt",
            "the IV is short",
            "wrong MAC",
            "the digest differs",
            "ChaCha20Poly1305",
            "ed25519 signature",
            "the master key is missing",
            "padding error",
        ] {
            assert_eq!(mask_crypto(secret.to_owned()), GENERIC, "{secret}");
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
            "see get_encryption_audit_log",
            "the page works on a Mac",
            "the address is given",
        ] {
            assert_eq!(mask_crypto(plain.to_owned()), plain);
        }
    }

    #[test]
    fn an_open_quote_hides_nothing() {
        assert_eq!(mask_crypto("it's ` decrypt".to_owned()), GENERIC);
    }
}
