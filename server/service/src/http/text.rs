//! Texts that people type: trimmed, and within their bounds.

use crate::bounds::EMAIL;
use crate::error::{Error, Result};
use std::ops::RangeInclusive;

/// The text without spaces around it, if it has as many characters as it may.
///
/// # Errors
/// 400 that names the field and the bounds.
pub(crate) fn bounded_text(
    field: &str,
    text: &str,
    length: RangeInclusive<usize>,
) -> Result<String> {
    let text = text.trim();
    if length.contains(&text.chars().count()) {
        return Ok(text.to_owned());
    }
    Err(Error::invalid(if *length.start() == 0 {
        format!("`{field}` has to have at most {} characters", length.end())
    } else {
        format!(
            "`{field}` has to have {} to {} characters",
            length.start(),
            length.end()
        )
    }))
}

/// A handle: letters, digits, `-` and `_` of ASCII.
///
/// # Errors
/// 400 that names the field and the rule.
pub(crate) fn handle(field: &str, text: &str, length: RangeInclusive<usize>) -> Result<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if length.contains(&text.len()) && text.chars().all(allowed) {
        return Ok(text.to_owned());
    }
    Err(Error::invalid(format!(
        "`{field}` has to have {} to {} letters, digits, `-` or `_`",
        length.start(),
        length.end()
    )))
}

/// Returns true if a text has the form of an e-mail address.
pub(crate) fn is_email(text: &str) -> bool {
    text.len() <= EMAIL
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
        && text.split_once('@').is_some_and(|(who, place)| {
            !who.is_empty() && !place.is_empty() && !place.contains('@')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_count_characters_after_trimming() {
        assert_eq!(bounded_text("n", " é ", 1..=1).unwrap(), "é");
        assert!(bounded_text("n", "  ", 1..=5).is_err());
        assert_eq!(bounded_text("n", "  ", 0..=5).unwrap(), "");
        assert!(bounded_text("n", "abcdef", 0..=5).is_err());
    }

    #[test]
    fn handles_and_addresses_have_a_form() {
        assert!(handle("u", "a-B_9", 1..=30).is_ok());
        for bad in ["", "a b", "é", "a.b", &"x".repeat(31)] {
            assert!(handle("u", bad, 1..=30).is_err(), "{bad}");
        }
        assert!(is_email("a@b"));
        for bad in ["", "a", "@b", "a@", "a@b@c", "a @b", "a@b\n"] {
            assert!(!is_email(bad), "{bad}");
        }
    }
}
