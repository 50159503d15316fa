//! Messages about JSON that can't be read, without the names that types have inside the server.

/// Kinds of types as the library calls them before a name, and what they are in JSON.
const KINDS: [(&str, &str); 12] = [
    ("variant of untagged enum", "of the forms that belong here"),
    ("internally tagged enum", "an object"),
    ("adjacently tagged enum", "an object"),
    ("tuple variant", "an array"),
    ("struct variant", "an object"),
    ("newtype variant", "a value"),
    ("newtype struct", "a value"),
    ("tuple struct", "an array"),
    ("unit struct", "null"),
    ("unit variant", "a text"),
    ("struct", "an object"),
    ("enum", "one of the known values"),
];

/// Words of the library, and those of JSON.
const WORDS: [(&str, &str); 9] = [
    ("expected variant identifier", "expected a text"),
    ("expected field identifier", "expected a text"),
    ("invalid type: map,", "invalid type: an object,"),
    ("invalid type: sequence,", "invalid type: an array,"),
    ("invalid type: unit,", "invalid type: null,"),
    ("expected a map", "expected an object"),
    ("expected a sequence", "expected an array"),
    ("expected unit", "expected null"),
    ("did not match any of the forms", "has none of the forms"),
];

/// Returns the text of an error in terms of JSON.
pub(super) fn plain_text(text: &str) -> String {
    let mut out = text.to_owned();
    for (kind, plain) in KINDS {
        while let Some(replaced) = without_name(&out, kind, plain) {
            out = replaced;
        }
    }
    for (word, plain) in WORDS {
        out = out.replace(word, plain);
    }
    out
}

/// Replaces the first kind with a name behind it, if there is one.
fn without_name(text: &str, kind: &str, plain: &str) -> Option<String> {
    let pattern = format!("{kind} ");
    let (start, name) = text.match_indices(&pattern).find_map(|(start, _)| {
        let rest = &text[start + pattern.len()..];
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !"_:".contains(c))
            .unwrap_or(rest.len());
        let name = &rest[..length];
        // Names of types begin with a capital; a field's text may have the same words.
        let is_type = name.starts_with(|c: char| c.is_ascii_uppercase());
        let begins_word = text[..start].ends_with([' ', '(']);
        (is_type && begins_word).then_some((start, name))
    })?;
    let end = start + pattern.len() + name.len();
    Some(format!("{}{plain}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::plain_text;

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
        ] {
            assert_eq!(plain_text(text), expected);
        }
    }
}
