//! Messages about JSON that can't be read, without the names that types have inside the server.

/// Kinds of types as the library calls them before a name, and what they are in JSON.
const KINDS: [(&str, &str); 12] = [
    (
        "did not match any variant of untagged enum",
        "has none of the forms that belong here",
    ),
    ("internally tagged enum", "an object"),
    ("adjacently tagged enum", "an object"),
    ("tuple variant", "an array"),
    ("struct variant", "an object"),
    ("newtype variant", "a value"),
    ("newtype struct", "a value"),
    ("tuple struct", "an array"),
    // Before the words that they begin with.
    ("expected unit struct", "expected null"),
    ("expected unit variant", "expected a text"),
    ("struct", "an object"),
    ("enum", "one of the known values"),
];

/// Words of the library, and those of JSON.
const WORDS: [(&str, &str); 8] = [
    ("expected variant identifier", "expected a text"),
    ("expected field identifier", "expected a text"),
    ("invalid type: map,", "invalid type: an object,"),
    ("invalid type: sequence,", "invalid type: an array,"),
    ("invalid type: unit,", "invalid type: null,"),
    ("expected a map", "expected an object"),
    ("expected a sequence", "expected an array"),
    ("expected unit", "expected null"),
];

/// The characters of a quoted part that are repeated to the client, who knows what it has sent.
const MAX_QUOTED: usize = 200;
/// Bytes: more than any list of the fields that belong somewhere.
const MAX_TEXT: usize = 4_000;

/// Returns the text of an error in terms of JSON. Quoted parts are words of the client, and stay as they are up to a
/// length. The text is read once, whatever it is: it may have a megabyte of the client's.
pub(super) fn plain_text(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut begins_word = true;
    while let Some(first) = rest.chars().next() {
        if out.len() > MAX_TEXT {
            out.push('…');
            break;
        }
        let length = if matches!(first, '"' | '`') {
            let length = quoted_length(rest, first);
            out.push_str(&shorten(&rest[..length]));
            length
        } else if let Some((length, plain)) = begins_word.then(|| known_words(rest)).flatten() {
            out.push_str(plain);
            length
        } else {
            out.push(first);
            first.len_utf8()
        };
        begins_word = matches!(first, ' ' | '(');
        rest = &rest[length..];
    }
    out
}

/// Returns the bytes of the quoted part that a text begins with.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return at + c.len_utf8();
        }
        // Between backticks, names stand as they are.
        is_escaped = c == '\\' && !is_escaped && quote == '"';
    }
    text.len()
}

/// Returns a quoted part, or its beginning if it is long.
pub(super) fn shorten(quoted: &str) -> String {
    let Some((end, _)) = quoted.char_indices().nth(MAX_QUOTED + 1) else {
        return quoted.to_owned();
    };
    let quote = quoted.chars().next().unwrap_or_default();
    match quoted[end..].chars().nth(1) {
        Some(_) => format!("{}…{quote}", &quoted[..end]),
        None => quoted.to_owned(),
    }
}

/// Returns the length of the library's words that a text begins with, and what they are in JSON.
fn known_words(text: &str) -> Option<(usize, &'static str)> {
    let kind = KINDS.iter().find_map(|(kind, plain)| {
        let name = text.strip_prefix(kind)?.strip_prefix(' ')?;
        // Names of types begin with a capital; other texts may have the same words.
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return None;
        }
        let length = name
            .find(|c: char| !c.is_ascii_alphanumeric() && !"_:".contains(c))
            .unwrap_or(name.len());
        Some((kind.len() + 1 + length, *plain))
    });
    kind.or_else(|| {
        let found = WORDS.iter().find(|(word, _)| text.starts_with(word));
        found.map(|(word, plain)| (word.len(), *plain))
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_TEXT, plain_text, shorten};

    #[test]
    fn names_of_types_are_no_part_of_a_message() {
        for (text, expected) in [
            (
                "invalid type: string \"x\", expected struct CreateNode at line 1 column 3",
                "invalid type: string \"x\", expected an object at line 1 column 3",
            ),
            (
                "data did not match any variant of untagged enum WrittenFile",
                "data has none of the forms that belong here",
            ),
            (
                "invalid type: sequence, expected internally tagged enum Change at line 1 column 9",
                "invalid type: an array, expected an object at line 1 column 9",
            ),
            (
                "invalid type: map, expected a sequence",
                "invalid type: an object, expected an array",
            ),
            (
                "invalid type: string \"enum\", expected u64",
                "invalid type: string \"enum\", expected u64",
            ),
            (
                "invalid type: unit, expected unit struct Nothing (unit struct nothing)",
                "invalid type: null, expected null (unit struct nothing)",
            ),
            (
                "invalid type: integer `1`, expected unit",
                "invalid type: integer `1`, expected null",
            ),
        ] {
            assert_eq!(plain_text(text), expected);
        }
    }

    #[test]
    fn words_of_the_client_stay_as_they_are() {
        for quoted in [
            "\"a struct Foo, expected a map\"",
            "\"\\\" enum A \\\\\"",
            "` enum A\\`",
        ] {
            let text = format!("invalid value: {quoted}, expected enum Kind");
            let expected = format!("invalid value: {quoted}, expected one of the known values");
            assert_eq!(plain_text(&text), expected);
        }
    }

    #[test]
    fn a_megabyte_of_the_client_costs_little_and_is_not_sent_back() {
        let long = " enum A".repeat(150_000);
        let text = format!("invalid type: string \"{long}\", expected struct OpenShare at line 1");
        let plain = plain_text(&text);
        assert!(
            plain.ends_with("…\", expected an object at line 1"),
            "{plain}"
        );
        assert!(plain.len() < 400, "{plain}");
        // Whatever is quoted, and whatever is not.
        for text in [long, "`".repeat(1_000_000), "é\"\\".repeat(300_000)] {
            assert!(plain_text(&text).len() < MAX_TEXT + 1_000);
        }
    }

    #[test]
    fn a_quoted_part_of_just_the_length_is_whole() {
        let quoted = |length: usize| format!("`{}`", "é".repeat(length));
        assert_eq!(shorten(&quoted(200)), quoted(200));
        assert_eq!(shorten(&quoted(201)), format!("`{}…`", "é".repeat(200)));
    }
}
