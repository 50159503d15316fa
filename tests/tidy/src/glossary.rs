//! The table of `docs/glossary.md`: each word with its one meaning and the words not used for it.
//!
//! A word in backquotes in the third column is refused in identifiers; the others are refused by
//! people only, because a library or the language has them too.

/// The file's path from the workspace's root.
pub const FILE: &str = "docs/glossary.md";

/// A word that no identifier contains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// In small letters, its parts separated by `_`.
    pub word: String,
    /// The word to use instead.
    pub instead: String,
}

/// Returns the words that identifiers may not contain.
#[must_use]
pub fn refused_words(glossary: &str) -> Vec<Refused> {
    let mut refused = Vec::new();
    for line in glossary.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [word, _, unused] = cells[..] else {
            continue;
        };
        for code in unused.split('`').skip(1).step_by(2) {
            refused.push(Refused {
                word: code.to_lowercase(),
                instead: word.replace("**", ""),
            });
        }
    }
    refused
}

/// Splits an identifier at its underscores and capitals, into small letters: `inTrouble` is
/// `["in", "trouble"]`.
#[must_use]
pub fn parts(identifier: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut after_small = false;
    for c in identifier.chars() {
        if c == '_' || (c.is_uppercase() && after_small) {
            parts.push(std::mem::take(&mut part));
        }
        if c != '_' {
            part.extend(c.to_lowercase());
        }
        after_small = !c.is_uppercase();
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the identifiers and keywords of a line of code.
pub fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

impl Refused {
    /// Returns `true` if the identifier contains the word, as whole parts.
    #[must_use]
    pub fn is_in(&self, parts: &[String]) -> bool {
        let wanted: Vec<&str> = self.word.split('_').collect();
        parts
            .windows(wanted.len())
            .any(|window| window.iter().zip(&wanted).all(|(part, word)| part == word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_backquotes_are_refused() {
        let table = "| word | meaning | not used |\n|---|---|---|\n\
                     | **step** | one operation of a plan | `doing`, job |\n\
                     | **trash** | what was removed | |\n";
        let refused = refused_words(table);
        assert_eq!(refused.len(), 1);
        assert_eq!((&*refused[0].word, &*refused[0].instead), ("doing", "step"));
    }

    #[test]
    fn identifiers_are_split_by_case() {
        assert_eq!(parts("in_trouble"), ["in", "trouble"]);
        assert_eq!(parts("TroubleKind"), ["trouble", "kind"]);
        assert_eq!(parts("MAX_TROUBLE"), ["max", "trouble"]);
        assert_eq!(parts("_x9"), ["x9"]);
        let line = identifiers("let a_b = c.dE(0x1f, 7);");
        assert_eq!(line.collect::<Vec<_>>(), ["let", "a_b", "c", "dE"]);
    }

    #[test]
    fn a_word_is_found_as_whole_parts() {
        let refused = Refused {
            word: "take_in".into(),
            instead: "add_folder".into(),
        };
        assert!(refused.is_in(&parts("takeInFolder")));
        assert!(!refused.is_in(&parts("take_inner")));
        assert!(!refused.is_in(&parts("take")));
    }
}
