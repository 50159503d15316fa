//! Keeps cryptographic details out of messages: one that mentions them becomes a generic one.
//!
//! Names and arguments are data and do not count: in this program's own texts they are quoted; in those of the
//! service they are found by what the caller gave, by their form, or by the word before them.

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

/// Words before a quoted single word that make it a name.
const NAMED: [&str; 10] = [
    "called", "file", "folder", "label", "link", "name", "named", "plan", "tag", "team",
];

/// The author of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Author {
    /// The program itself: what is quoted is a name or an argument.
    Ourselves,
    /// The service: a quoted single word may be a field of a cryptographic record.
    Service,
}

/// Returns the message, or the generic one if it mentions cryptography other than in names and in the texts
/// that the caller gave.
pub(crate) fn mask_crypto(message: String, author: Author, given: &[&str]) -> String {
    let mut plain = without_quoted_names(&message, author);
    let mut given: Vec<_> = given
        .iter()
        .flat_map(|text| [*text].into_iter().chain(text.split(['/', '\\'])))
        .filter(|text| mentions_crypto(text))
        .collect();
    given.sort_by_key(|text| std::cmp::Reverse(text.len()));
    for text in given {
        plain = without_word(&plain, text);
    }
    if mentions_crypto(&plain) {
        GENERIC.to_owned()
    } else {
        message
    }
}

/// Returns true if a text mentions cryptography.
pub(crate) fn mentions_crypto(message: &str) -> bool {
    let mut text = message.to_owned();
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

/// Returns the text without a word or phrase, where it is not a part of a longer one such as `AES-256`.
fn without_word(text: &str, word: &str) -> String {
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, from) = rest.split_at(at);
        let after = &from[word.len()..];
        let last = before.chars().next_back().or(plain.chars().next_back());
        let is_part = last.is_some_and(joins) || after.chars().next().is_some_and(joins);
        plain.push_str(before);
        plain.push_str(if is_part { word } else { " " });
        rest = after;
    }
    plain.push_str(rest);
    plain
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

/// Returns the message without the names in backticks or double quotes. In a text of the service these are
/// the texts with a dot, a slash or a space in them, and those after a word such as `name`.
fn without_quoted_names(message: &str, author: Author) -> String {
    let mut plain = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(['`', '"']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let quote = &from[..1];
        match from[1..].find(quote) {
            Some(end) => {
                let quoted = &from[1..=end];
                let word_before = before.split_whitespace().next_back();
                let is_name = author == Author::Ourselves
                    || quoted.contains(['.', '/', '\\', ' '])
                    || word_before.is_some_and(|word| NAMED.contains(&word));
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

    fn mask_service_text(message: &str) -> String {
        mask_crypto(message.to_owned(), Author::Service, &[])
    }

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
            assert_eq!(mask_service_text(secret), GENERIC, "{secret}");
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
            "the name \"Digest\" is taken in this folder",
            "there is a folder `Crypto` already",
        ] {
            assert_eq!(mask_service_text(plain), plain);
        }
    }

    #[test]
    fn an_open_quote_hides_nothing() {
        for author in [Author::Service, Author::Ourselves] {
            let message = "it's ` decrypt".to_owned();
            assert_eq!(mask_crypto(message, author, &[]), GENERIC);
        }
    }

    #[test]
    fn texts_of_the_caller_do_not_count() {
        for (message, given) in [
            (
                "aes@example.com has an invitation already",
                "aes@example.com",
            ),
            ("the username salt is taken", "salt"),
            ("there is no coupon SALT", "SALT"),
            ("no folder pair at Crypto", "/home/ada/Crypto"),
            ("can't sync ~/RSA keys/Digest now", "~/RSA keys/Digest"),
        ] {
            let masked = mask_crypto(message.to_owned(), Author::Service, &[given]);
            assert_eq!(masked, message, "{given}");
        }
        for (message, given) in [
            ("AES-256 failed", "AES"),
            ("the content key differs", "content"),
            ("bad salt and `nonce`", "salt"),
            ("reencrypt failed", "encrypt"),
        ] {
            let masked = mask_crypto(message.to_owned(), Author::Service, &[given]);
            assert_eq!(masked, GENERIC, "{message}");
        }
    }

    #[test]
    fn what_this_program_quotes_is_a_name() {
        let text = "`salt` is not text: use download_file";
        let own = |text: &str| mask_crypto(text.to_owned(), Author::Ourselves, &[]);
        assert_eq!(own(text), text);
        assert_eq!(own("the salt of `salt` is short"), GENERIC);
    }
}
