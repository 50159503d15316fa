//! Words for a POSIX shell: one word stays one word, whatever is in it.

use crate::failure::{Outcome, ToolError};

/// The word, quoted if a shell would see more in it than a word.
///
/// # Errors
/// A text with control characters: nobody could read what is run.
pub(super) fn quoted(word: &str) -> Outcome<String> {
    if word.chars().any(char::is_control) {
        return Err(ToolError::argument(
            "a text with line breaks or control characters can't stand in a command",
        ));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Ok(word.to_owned());
    }
    Ok(format!("'{}'", word.replace('\'', r"'\''")))
}
