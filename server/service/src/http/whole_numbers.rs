//! Whole numbers that a client writes with a fraction of zero. `1539.0` is an integer in JSON Schema, while the types that
//! bodies are read into take it as `1539` alone.

use bytes::Bytes;

/// Returns JSON in which whole numbers have no fraction; everything else stays as it is.
pub(super) fn without_fractions(json: Bytes) -> Bytes {
    if !json.windows(2).any(|pair| pair == b".0") {
        return json;
    }
    let mut plain = Vec::with_capacity(json.len());
    let mut rest = &json[..];
    while let Some(first) = rest.first() {
        let length = match first {
            b'"' => text_length(rest),
            b'-' | b'0'..=b'9' => number_length(rest),
            _ => 1,
        };
        let (token, after) = rest.split_at(length);
        plain.extend_from_slice(whole_part(token).unwrap_or(token));
        rest = after;
    }
    plain.into()
}

/// Returns the bytes of the text that JSON begins with.
fn text_length(json: &[u8]) -> usize {
    let mut is_escaped = false;
    for (at, byte) in json.iter().enumerate().skip(1) {
        if *byte == b'"' && !is_escaped {
            return at + 1;
        }
        is_escaped = *byte == b'\\' && !is_escaped;
    }
    json.len()
}

/// Returns the bytes of what could be a number that JSON begins with.
fn number_length(json: &[u8]) -> usize {
    let ends = |byte: &u8| !matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    json.iter().position(ends).unwrap_or(json.len())
}

/// Returns the digits of a number before its point, if nothing but zeros come after it.
fn whole_part(token: &[u8]) -> Option<&[u8]> {
    let point = token.iter().position(|byte| *byte == b'.')?;
    let (whole, fraction) = (&token[..point], &token[point + 1..]);
    let digits = whole.strip_prefix(b"-").unwrap_or(whole);
    let is_whole = !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
        && !fraction.is_empty()
        && fraction.iter().all(|byte| *byte == b'0');
    is_whole.then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_lose_their_fraction_and_nothing_else_changes() {
        for (json, plain) in [
            (r#"{"size": 1539.0}"#, r#"{"size": 1539}"#),
            (r#"[1.00,-2.0 , 0.0]"#, "[1,-2 , 0]"),
            (
                r#"{"a.0": "1.0\" 2.0", "b": 3.0}"#,
                r#"{"a.0": "1.0\" 2.0", "b": 3}"#,
            ),
            (r#"["\\", 1.0]"#, r#"["\\", 1]"#),
            ("[1.5, 10.05, 1.0e3]", "[1.5, 10.05, 1.0e3]"),
            // What is no JSON does not become any.
            ("[1.0.0, .0, 1., -.0]", "[1.0.0, .0, 1., -.0]"),
            (r#"{"open 1.0"#, r#"{"open 1.0"#),
        ] {
            let found = without_fractions(Bytes::from_static(json.as_bytes()));
            assert_eq!(found, plain.as_bytes(), "{json}");
        }
    }
}
