//! Texts that people type: trimmed, and within their bounds.

use crate::bounds::EMAIL;
use crate::error::{Error, Result};
use cairn_model::address::normalize;
use std::ops::RangeInclusive;

/// The text without spaces around it, if it is one line of as many characters as it may have. Names are shown to
/// others, also in mails: one that begins a line of its own could pass for what the server says.
///
/// # Errors
/// 400 that names the field and the rule.
pub(crate) fn bounded_text(
    field: &str,
    text: &str,
    length: RangeInclusive<usize>,
) -> Result<String> {
    let text = check_length(field, text, length)?;
    if text.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(Error::invalid(format!(
            "`{field}` has to be one line, without control characters"
        )));
    }
    Ok(text)
}

/// The same for a text of several lines, such as a description.
///
/// # Errors
/// 400 that names the field and the rule.
pub(crate) fn bounded_lines(
    field: &str,
    text: &str,
    length: RangeInclusive<usize>,
) -> Result<String> {
    let text = check_length(field, text, length)?;
    if text.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
        return Err(Error::invalid(format!(
            "`{field}` must not have control characters but tabs and ends of lines"
        )));
    }
    Ok(text)
}

fn check_length(field: &str, text: &str, length: RangeInclusive<usize>) -> Result<String> {
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

/// Returns an e-mail address in the one form in which addresses are kept and compared; `None` for what is none.
pub(crate) fn email_address(text: &str) -> Option<String> {
    Some(normalize(text)).filter(|address| is_email(address))
}

/// Returns true if a text has the form of an e-mail address. Characters that stand around an address or between
/// two (RFC 5322, section 3.2.3) are no part of one.
fn is_email(text: &str) -> bool {
    let special = |c: char| r#"()<>[]:;\,""#.contains(c);
    text.len() <= EMAIL
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || special(c))
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
    fn a_name_is_one_line_and_a_description_may_have_more() {
        assert_eq!(bounded_text("n", "a b\n", 1..=5).unwrap(), "a b");
        for bad in [
            "a\nb",
            "a\rb",
            "a\tb",
            "a\0b",
            "a\u{1b}b",
            "a\u{85}b",
            "a\u{2028}b",
        ] {
            assert!(bounded_text("n", bad, 1..=5).is_err(), "{bad:?}");
        }
        assert_eq!(bounded_lines("n", "a\r\n\tb", 1..=5).unwrap(), "a\r\n\tb");
        for bad in ["a\0b", "a\u{1b}b", "a\u{7f}b"] {
            assert!(bounded_lines("n", bad, 1..=5).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn handles_and_addresses_have_a_form() {
        assert!(handle("u", "a-B_9", 1..=30).is_ok());
        for bad in ["", "a b", "é", "a.b", &"x".repeat(31)] {
            assert!(handle("u", bad, 1..=30).is_err(), "{bad}");
        }
        assert_eq!(email_address(" A+b@C\n").unwrap(), "a+b@c");
        assert_eq!(email_address("U\u{308}@x.org").unwrap(), "\u{fc}@x.org");
        for bad in [
            "", "a", "@b", "a@", "a@b@c", "a @b", "a\u{7}@b", "<a@b>", "x<a@b", "a@b,c", "\"a\"@b",
        ] {
            assert!(email_address(bad).is_none(), "{bad}");
        }
    }
}
