//! Words for a POSIX shell: one word stays one word, whatever is in it.

use crate::error::{ToolError, ToolResult};

/// Quotes the word if a shell would see more in it than one word.
///
/// # Errors
/// A text with control characters, which a person couldn't review.
pub(super) fn quote_word(word: &str) -> ToolResult<String> {
    if word.chars().any(char::is_control) {
        return Err(ToolError::argument(
            "a command can't contain line breaks or control characters",
        ));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    // A shell puts the home directory in its place only where it stands without quotes.
    if let Some(below) = word.strip_prefix("~/") {
        return Ok(match below {
            "" => "~/".to_owned(),
            below => format!("~/{}", quote_word(below)?),
        });
    }
    if !word.is_empty() && word.chars().all(plain) {
        return Ok(word.to_owned());
    }
    Ok(format!("'{}'", word.replace('\'', r"'\''")))
}
