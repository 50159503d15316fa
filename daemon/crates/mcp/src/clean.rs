//! Removes characters from other people's text (names, comments, profiles) that hide something from the
//! person who reads along: invisible ones, and those that change the reading direction.

use serde_json::Value;

/// Cleans every text in a value, field names included.
pub(crate) fn value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if text.chars().any(is_suspect) {
                *text = self::text(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(self::value),
        Value::Object(fields) => {
            if fields.keys().any(|key| key.chars().any(is_suspect)) {
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(|(key, value)| (text(&key), value))
                    .collect();
            }
            fields.values_mut().for_each(self::value);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cleans one text.
pub(crate) fn text(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let joins = |at: usize| {
        let far = |c: Option<&char>| c.is_some_and(|c| !c.is_ascii() && !is_suspect(*c));
        at > 0 && far(chars.get(at - 1)) && far(chars.get(at + 1))
    };
    chars
        .iter()
        .enumerate()
        .filter(|(at, c)| !is_suspect(**c) || (is_joiner(**c) && joins(*at)))
        .map(|(_, c)| *c)
        .collect()
}

/// Recognizes joiners, which make one emoji of several and are part of writing in Persian and Hindi.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

fn is_suspect(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hidden_text_disappears_and_visible_text_stays() {
        let smuggled = "in\u{200b}voice\u{202e}fdp.exe\u{e0041}\u{e0042}\u{feff}";
        assert_eq!(text(smuggled), "invoicefdp.exe");
        for whole in [
            "naïve",
            "日本語",
            "👩\u{200d}👩\u{200d}👧",
            "می\u{200c}خواهم",
            "a\n\tb",
            "❤\u{fe0f}",
        ] {
            assert_eq!(text(whole), whole);
        }
        assert_eq!(text("a\u{200d}b"), "ab");
    }

    #[test]
    fn values_are_cleaned_to_their_depth() {
        let mut value_ = json!({ "a\u{200b}": ["x\u{202e}y", { "b": "c\u{1b}[31m" }], "n": 1 });
        value(&mut value_);
        assert_eq!(value_, json!({ "a": ["xy", { "b": "c[31m" }], "n": 1 }));
    }
}
