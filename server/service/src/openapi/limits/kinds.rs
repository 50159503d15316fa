//! Kinds of constraints: texts, names, numbers and choices, as JSON Schema has them, with their words for messages.

use crate::bounds;
use crate::http::check::WORDS;
use cairn_model::name::{MAX_NAME_BYTES, MAX_SEALED_NAME_BYTES};
use serde_json::{Value, json};

/// A name of a node: a sealed one, or one of at most 255 characters that is not `.` or `..`, without `/` and NUL.
const NAME: &str = r"^(?:~[0-9A-Za-z_-]{86,427}|[^./\x00][^/\x00]{0,254}|\.[^./\x00][^/\x00]{0,253}|\.\.[^/\x00]{1,253})$";
/// With spaces around it, which are left out.
const EMAIL: &str =
    r#"^\s*[^\s@()<>\[\]:;\\,"\x00-\x1f\x7f-\x9f]+@[^\s@()<>\[\]:;\\,"\x00-\x1f\x7f-\x9f]+\s*$"#;
/// One line that says something, with space around it that is left out.
const LINE: &str = r"^\s*[^\s\x00-\x1f\x7f-\x9f](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\s\x00-\x1f\x7f-\x9f])?\s*$";
/// Lines without control characters but tabs.
const LINES: &str = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$";
/// Anything without a NUL, such as a password.
const NO_NUL: &str = r"^[^\x00]*$";
/// A path that names something.
const PATH: &str = r"^[^\x00]*[^/\x00][^\x00]*$";
pub(super) const HTTPS: &str = r"^(?:|https://[^\s\x00-\x1f\x7f-\x9f]+)$";
pub(super) const LOGO: &str =
    r#"^(?:|https://[^/\s"'<>;,\x00-\x1f\x7f-\x9f][^\s"'<>;,\x00-\x1f\x7f-\x9f]*)$"#;
const COLOUR: &str = "^(?:|#[0-9A-Fa-f]{6})$";
const HEX_32: &str = "^[0-9A-Fa-f]{64}$";
/// Lines with something to read in them.
const SAYS_SOMETHING: &str = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$";

/// Returns a regular expression for the whole numbers from 1 to `most`.
fn up_to(most: u64) -> String {
    let digits: Vec<u64> = most
        .to_string()
        .bytes()
        .map(|byte| u64::from(byte - b'0'))
        .collect();
    let mut choices = Vec::new();
    if digits.len() > 1 {
        choices.push(format!("[1-9][0-9]{{0,{}}}", digits.len() - 2));
    }
    let mut prefix = String::new();
    for (place, digit) in digits.iter().enumerate() {
        let least = u64::from(place == 0);
        if *digit > least {
            let rest = digits.len() - 1 - place;
            choices.push(format!("{prefix}[{least}-{}][0-9]{{{rest}}}", digit - 1));
        }
        prefix.push_str(&digit.to_string());
    }
    choices.push(prefix);
    format!("(?:{})", choices.join("|"))
}

/// An amount from 0.01 to a whole number of units, which are given in hundredths.
pub(super) fn amount(most: i64) -> Value {
    let most = most.unsigned_abs() / 100;
    let below = up_to(most - 1);
    let pattern =
        format!(r"^(?:0\.0[1-9]|0\.[1-9][0-9]?|{below}(?:\.[0-9]{{1,2}})?|{most}(?:\.0{{1,2}})?)$");
    json!({"pattern": pattern, WORDS: format!("it has to be 0.01 to {most}.00, such as `4.99`"), "example": "4.99"})
}

/// A duration of at most a hundred years.
pub(super) fn expires_in() -> Value {
    let days = 36_500;
    let units = [("d", 1), ("h", 24), ("m", 24 * 60), ("s", 24 * 3600)];
    let choices: Vec<String> = units
        .iter()
        .map(|(unit, each)| format!("{}{unit}", up_to(days * each)))
        .collect();
    let pattern = format!("^(?:{})$", choices.join("|"));
    json!({
        "pattern": pattern,
        WORDS: "it has to be such as `30d`, `12h`, `45m` or `90s`, and at most 100 years"
    })
}

/// A text that says something, of at most so many characters.
pub(super) fn text(most: usize) -> Value {
    json!({
        "minLength": 1, "maxLength": most, "pattern": SAYS_SOMETHING,
        WORDS: format!(
            "it has to have 1 to {most} characters, not only spaces, and of control characters only tabs and ends of lines"
        )
    })
}

/// A name: one line that says something, of at most so many characters.
pub(super) fn line(most: usize) -> Value {
    json!({
        "minLength": 1, "maxLength": most, "pattern": LINE,
        WORDS: format!("it has to have 1 to {most} characters, in one line and not only spaces")
    })
}

/// A text of at most so many characters, in as many lines as it likes.
pub(super) fn lines(most: usize) -> Value {
    json!({
        "maxLength": most, "pattern": LINES,
        WORDS: format!("it has to have at most {most} characters, and of control characters only tabs and ends of lines")
    })
}

/// A text of any length, in as many lines as it likes.
pub(super) fn plain_text() -> Value {
    json!({
        "pattern": LINES,
        WORDS: "of control characters it may have only tabs and ends of lines"
    })
}

/// A text that nobody reads, such as a password. The check of bodies words the refusal of a NUL itself.
pub(super) fn hidden_text() -> Value {
    json!({ "pattern": NO_NUL })
}

/// A hidden text of at most so many characters.
pub(super) fn up_to_characters(most: usize) -> Value {
    json!({ "maxLength": most, "pattern": NO_NUL })
}

pub(super) fn folder_path() -> Value {
    json!({"pattern": PATH, WORDS: "it names no folder"})
}

pub(super) fn name() -> Value {
    json!({
        "minLength": 1, "maxLength": MAX_SEALED_NAME_BYTES, "pattern": NAME,
        WORDS: format!(
            "a name has 1 to {MAX_NAME_BYTES} bytes (up to {MAX_SEALED_NAME_BYTES} if it is sealed, in a private space), is not `.` or `..`, and has no `/` or NUL"
        )
    })
}

pub(super) fn email() -> Value {
    json!({"maxLength": bounds::EMAIL, "pattern": EMAIL, WORDS: "it is not a valid e-mail address", "example": "owner@example.com"})
}

/// Base64 of so many bytes. A length of text is that of whole groups of three bytes, so `most` has to be
/// whole groups as well: what the text's length lets through, its reader must not refuse.
pub(super) fn sealed_limits(least: usize, most: usize) -> Value {
    json!({"minLength": least.div_ceil(3) * 4, "maxLength": most.div_ceil(3) * 4})
}

pub(super) fn hex_32() -> Value {
    json!({
        "pattern": HEX_32, WORDS: "it has to be 64 hexadecimal digits",
        "example": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    })
}

pub(super) fn handle(least: usize) -> Value {
    json!({
        "pattern": format!("^[A-Za-z0-9_-]{{{least},30}}$"), "example": "owner-1",
        WORDS: format!("it has to have {least} to 30 letters, digits, `-` or `_`")
    })
}

pub(super) fn items(least: usize, most: usize) -> Value {
    json!({"minItems": least, "maxItems": most})
}

pub(super) fn range(least: i64, most: i64) -> Value {
    json!({"minimum": least, "maximum": most})
}

/// The number of items on a page: 1 to `most`, and `default` where it is not given.
pub(super) fn page_limit(most: u64, default: u64) -> Value {
    json!({"minimum": 1, "maximum": most, "default": default})
}

pub(super) fn expiry_days() -> Value {
    json!({"minimum": bounds::LINK_LEAST_DAYS, "maximum": bounds::LINK_DAYS, "example": 30})
}

pub(super) fn https(most: usize, pattern: &str) -> Value {
    json!({
        "maxLength": most, "pattern": pattern, "example": "https://example.com/owner.png",
        WORDS: "it has to be an https:// address, or empty"
    })
}

pub(super) fn colour() -> Value {
    json!({"pattern": COLOUR, WORDS: "it has to be `#RRGGBB`, or empty", "example": "#336699"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn a_bound_of_numbers_is_exact() {
        for most in [1, 9, 10, 100, 365, 876_000, 36_499] {
            let pattern = Regex::new(&format!("^{}$", up_to(most))).unwrap();
            for number in [0, 1, most - 1, most, most + 1, most * 10] {
                let inside = (1..=most).contains(&number);
                assert_eq!(
                    pattern.is_match(&number.to_string()),
                    inside,
                    "{number} of {most}"
                );
            }
        }
        assert!(!Regex::new(&up_to(10)).unwrap().is_match("x"));
    }
}
