//! One rules file: its patterns, and their decision about a path.

use super::pattern::translate;
use super::read::{IGNORE_FILE, MAX_RULES_LEN};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;

/// The most lines of patterns in one set: a set of too many is refused.
const SET_LINES: usize = 500;
/// The most bytes of patterns in one set.
const SET_BYTES: usize = 32 * 1024;
/// The most invalid lines that are named.
const SHOWN_ERRORS: usize = 3;

/// Stands for the pattern where a rules file can't be used, so that everything in its directory is ignored.
pub(crate) const UNUSABLE_RULES: &str = "rules that can't be read";

/// A line of a rules file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    /// From 1.
    number: u64,
    pattern: String,
}

/// The rules of one file.
#[derive(Debug, Default)]
pub(crate) struct RulesFile {
    text: Option<String>,
    /// The file can't be used: what it forbids is unknown.
    is_unusable: bool,
    /// The sets of patterns, and the lines that they are from, in the order of the file.
    sets: Vec<(Gitignore, BTreeMap<String, Line>)>,
    errors: Vec<String>,
}

/// The decision of a rules file about a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decision<'a> {
    pub(crate) is_ignored: bool,
    pub(crate) pattern: &'a str,
    pub(crate) line: Option<u64>,
}

impl RulesFile {
    /// Makes the rules of a text.
    pub(crate) fn new(text: &str) -> Self {
        let mut file = Self {
            text: Some(text.to_owned()),
            ..Self::default()
        };
        let mut batch = Batch::default();
        // As git does, because some editors begin a file so.
        let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
        for (line, number) in lines.zip(1..) {
            match translate(line) {
                Ok(None) => {}
                Ok(Some(translated)) => {
                    let pattern = line.trim_end().to_owned();
                    batch.add(translated, Line { number, pattern }, &mut file.errors);
                }
                Err(reason) => file.errors.push(invalid(number, line, reason)),
            }
            if batch.lines.len() >= SET_LINES || batch.bytes >= SET_BYTES {
                file.finish(&mut batch);
            }
        }
        file.finish(&mut batch);
        file
    }

    /// Makes rules that ignore everything but the rules file itself, for a file of which nothing is known.
    pub(crate) fn without_text() -> Self {
        Self {
            is_unusable: true,
            ..Self::default()
        }
    }

    /// Returns the text; none if it could not be had.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Returns the reasons why lines of it don't count, shortened where there are many.
    pub(crate) fn errors(&self) -> Vec<String> {
        let mut shown: Vec<String> = self.errors.iter().take(SHOWN_ERRORS).cloned().collect();
        if self.errors.len() > SHOWN_ERRORS {
            shown.push(format!("and {} more", self.errors.len() - SHOWN_ERRORS));
        }
        if self
            .text
            .as_ref()
            .is_some_and(|text| text.len() >= MAX_RULES_LEN)
        {
            shown.push("only its first mebibyte counts".to_owned());
        }
        shown
    }

    /// Returns whether it has no pattern.
    pub(crate) fn is_empty(&self) -> bool {
        self.sets.is_empty() && !self.is_unusable
    }

    /// Returns the decision about a path relative to the directory of the file, if a pattern matches it.
    pub(crate) fn decide(&self, path: &str, is_dir: bool) -> Option<Decision<'_>> {
        if self.is_unusable && path != IGNORE_FILE {
            return Some(Decision {
                is_ignored: true,
                pattern: UNUSABLE_RULES,
                line: None,
            });
        }
        self.sets.iter().rev().find_map(|(set, lines)| {
            let (glob, is_ignored) = match set.matched(path, is_dir) {
                Match::None => return None,
                Match::Ignore(glob) => (glob, true),
                Match::Whitelist(glob) => (glob, false),
            };
            let line = lines.get(glob.original());
            Some(Decision {
                is_ignored,
                pattern: line.map_or(glob.original(), |line| &line.pattern),
                line: line.map(|line| line.number),
            })
        })
    }

    /// Makes a set of the lines that were collected. Without it nobody knows what the file forbids.
    fn finish(&mut self, batch: &mut Batch) {
        let Batch { builder, lines, .. } = std::mem::take(batch);
        let Some(builder) = builder else { return };
        match builder.build() {
            Ok(set) => self.sets.push((set, lines)),
            Err(error) => {
                self.errors.push(error.to_string());
                self.is_unusable = true;
            }
        }
    }
}

/// The lines of the next set.
#[derive(Default)]
struct Batch {
    builder: Option<GitignoreBuilder>,
    lines: BTreeMap<String, Line>,
    bytes: usize,
}

impl Batch {
    /// Adds a line as the `ignore` crate takes it. Of two alike the last one is named.
    fn add(&mut self, translated: String, line: Line, errors: &mut Vec<String>) {
        let builder = self
            .builder
            .get_or_insert_with(|| GitignoreBuilder::new(""));
        match builder.add_line(None, &translated) {
            Ok(_) => {
                self.bytes += translated.len();
                self.lines.insert(translated, line);
            }
            Err(error) => errors.push(invalid(line.number, &line.pattern, &error.to_string())),
        }
    }
}

/// Checks a pattern that a person wants to add: one line that can match something.
///
/// # Errors
/// Returns the reason why it never would.
pub fn check_pattern(pattern: &str) -> Result<(), String> {
    if pattern.contains(['\n', '\r']) {
        return Err("it has more than one line".to_owned());
    }
    if pattern.starts_with('#') {
        return Err("it is a comment; a name that begins with `#` is written `\\#`".to_owned());
    }
    match translate(pattern) {
        Ok(None) if pattern.trim().is_empty() => Err("it is empty".to_owned()),
        Ok(None) => Err("it matches nothing".to_owned()),
        Ok(Some(_)) => match RulesFile::new(pattern).errors.first() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        },
        Err(reason) => Err(reason.to_owned()),
    }
}

fn invalid(number: u64, line: &str, reason: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = line.chars().take(SHOWN).collect();
    format!("line {number}, `{shown}`, is not a valid pattern: {reason}")
}
