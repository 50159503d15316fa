//! Passphrases: estimates how hard one is to guess, and generates one that is hard enough.
//!
//! The server has values against which it, or whoever steals them, can test guesses without end. Key
//! derivation makes each guess slow; only the passphrase itself makes guessing hopeless.

use crate::random::{self, Random};
use bip39::Language;
use std::fmt;
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;
use zxcvbn::zxcvbn;

/// The lowest acceptable strength, as the decimal logarithm of the number of guesses. 10^12 guesses at
/// 256 MiB and three passes each take one graphics card more than ten years.
pub const MIN_GUESSES_LOG10: f64 = 12.0;

/// The number of generated words: each has 11 random bits (a list of 2,048), together 77 bits.
pub const GENERATED_WORDS: usize = 7;

/// The longest part of a passphrase that is judged, in characters; the rest only makes it stronger.
const MAX_ESTIMATED: usize = 100;

/// The estimated strength of a passphrase.
#[derive(Clone, PartialEq)]
pub struct Strength {
    guesses_log10: f64,
    advice: Vec<String>,
}

impl Strength {
    /// Returns the decimal logarithm of the estimated number of guesses; 0 for an empty passphrase.
    #[must_use]
    pub fn guesses_log10(&self) -> f64 {
        self.guesses_log10
    }

    /// Returns whether the passphrase reaches [`MIN_GUESSES_LOG10`].
    #[must_use]
    pub fn is_sufficient(&self) -> bool {
        self.guesses_log10 >= MIN_GUESSES_LOG10
    }

    /// Returns English sentences that name the weakness and how to avoid it. Empty for a strong passphrase. They
    /// contain no part of the passphrase.
    #[must_use]
    pub fn advice(&self) -> &[String] {
        &self.advice
    }
}

/// The strength narrows down the passphrase, so it isn't printed.
impl fmt::Debug for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Strength(…)")
    }
}

/// Estimates the strength of a passphrase, in the form in which a key is derived from it (NFKC).
///
/// `known` are words that a guesser would try first, such as the account's address and the names of
/// its devices. The estimate is that of zxcvbn (Wheeler, "zxcvbn: Low-Budget Password Strength
/// Estimation", USENIX Security 2016): dictionaries, names, dates, keyboard patterns, repetitions.
#[must_use]
pub fn estimate_strength(passphrase: &str, known: &[&str]) -> Strength {
    let normal: Zeroizing<String> = Zeroizing::new(passphrase.nfkc().take(MAX_ESTIMATED).collect());
    let found = zxcvbn(&normal, known);
    let mut advice = Vec::new();
    if let Some(feedback) = found.feedback() {
        advice.extend(feedback.warning().map(|warning| warning.to_string()));
        advice.extend(feedback.suggestions().iter().map(ToString::to_string));
    }
    Strength {
        guesses_log10: if normal.is_empty() {
            0.0
        } else {
            found.guesses_log10()
        },
        advice,
    }
}

/// Generates a passphrase of [`GENERATED_WORDS`] English words with dashes between them, from the list
/// of BIP-39: short common words, of which no two have the same first four letters.
#[must_use]
pub fn generate(rng: &mut dyn Random) -> Zeroizing<String> {
    let list = Language::English.word_list();
    // The longest word has eight letters.
    let mut text = Zeroizing::new(String::with_capacity(GENERATED_WORDS * 9));
    for _ in 0..GENERATED_WORDS {
        // The list has a power of two of words, so each is equally likely.
        let index = usize::from(u16::from_be_bytes(random::array(rng))) % list.len();
        if !text.is_empty() {
            text.push('-');
        }
        text.push_str(list[index]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SystemRandom;

    struct Constant(u8);
    impl Random for Constant {
        fn fill(&mut self, out: &mut [u8]) {
            out.fill(self.0);
        }
    }

    #[test]
    fn what_everybody_tries_first_is_too_weak() {
        for weak in [
            "",
            "x",
            "password",
            "Passw0rd!",
            "qwertyuiop",
            "aaaaaaaaaaaaaaaaaaaa",
            "1987-06-05",
            "letmein123",
            "ｐａｓｓｗｏｒｄ",
        ] {
            assert!(!estimate_strength(weak, &[]).is_sufficient(), "{weak:?}");
        }
        assert!(!estimate_strength("password", &[]).advice().is_empty());
    }

    #[test]
    fn known_words_count_as_guessed() {
        let address = "margarethe.oberhuber";
        let alone = estimate_strength(address, &[]).guesses_log10();
        assert!(estimate_strength(address, &[address]).guesses_log10() < alone);
        assert!(!estimate_strength(address, &[address]).is_sufficient());
    }

    #[test]
    fn random_and_long_passphrases_are_sufficient() {
        for strong in [
            "vK7#pq2!Lm9zXw4T",
            "marsupial tungsten quorum ziplock fjord",
        ] {
            let strength = estimate_strength(strong, &[]);
            assert!(strength.is_sufficient(), "{strong:?}");
            assert!(strength.guesses_log10() > MIN_GUESSES_LOG10);
        }
    }

    #[test]
    fn generated_passphrases_are_sufficient_and_differ() {
        let (first, second) = (generate(&mut SystemRandom), generate(&mut SystemRandom));
        assert_ne!(*first, *second);
        for text in [first, second] {
            assert_eq!(text.split('-').count(), GENERATED_WORDS, "{}", *text);
            assert!(estimate_strength(&text, &[]).is_sufficient(), "{}", *text);
        }
    }

    #[test]
    fn the_words_follow_from_the_random_bytes() {
        assert_eq!(*generate(&mut Constant(0)), ["abandon"; 7].join("-"));
        // 0xffff modulo 2,048 is the last word, 0x0101 the 258th.
        assert_eq!(*generate(&mut Constant(0xff)), ["zoo"; 7].join("-"));
        assert_eq!(*generate(&mut Constant(1)), ["cage"; 7].join("-"));
    }

    #[test]
    fn a_strength_is_not_printed() {
        assert_eq!(
            format!("{:?}", estimate_strength("secret", &[])),
            "Strength(…)"
        );
    }
}
