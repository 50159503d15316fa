//! Removes characters from other people's text (names, comments, profiles) that hide something from the
//! person who reads the conversation: invisible ones, and those that change the reading direction.

use serde_json::{Map, Value};

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
                *fields = clean_names(std::mem::take(fields));
            }
            fields.values_mut().for_each(self::value);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cleans the names of fields. Of two that become equal, the one stays that was clean: the other is made to
/// look like it.
fn clean_names(fields: Map<String, Value>) -> Map<String, Value> {
    let mut cleaned = Map::new();
    for (key, value) in fields {
        let name = text(&key);
        if name == key || !cleaned.contains_key(&name) {
            cleaned.insert(name, value);
        }
    }
    cleaned
}

/// Returns whether a text has characters that nobody sees, besides the mark at the begin of files of some systems.
pub(crate) fn hides_something(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.chars().any(is_suspect) && self::text(text) != text
}

/// Cleans one text.
pub(crate) fn text(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_far = |c: char| !c.is_ascii() && !is_suspect(c);
    // The characters before an index, the nearest first.
    let before = |at: usize| chars[..at].iter().rev().copied();
    let joins = |at: usize| {
        let mut left = before(at).skip_while(|c| is_selector(*c));
        left.next().is_some_and(is_far) && chars.get(at + 1).is_some_and(|c| is_far(*c))
    };
    // One of them, and only where it can change how something visible looks: emoji and keycaps.
    let selects = |at: usize| {
        let left = before(at).next();
        let is_keycap = |c: char| c.is_ascii_digit() || matches!(c, '#' | '*');
        left.is_some_and(|c| is_far(c) || (chars[at] == '\u{fe0f}' && is_keycap(c)))
    };
    let stays = |at: usize, c: char| {
        !is_suspect(c) || (is_joiner(c) && joins(at)) || (is_selector(c) && selects(at))
    };
    chars
        .iter()
        .enumerate()
        .filter(|(at, c)| stays(*at, **c))
        .map(|(_, c)| *c)
        .collect()
}

/// Recognizes joiners, which make one emoji of several and are part of writing in Persian and Hindi.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Recognizes variation selectors, which choose between the forms of the character before them.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

fn is_suspect(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
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
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
        ] {
            assert_eq!(text(whole), whole);
        }
        assert_eq!(text("a\u{200d}b"), "ab");
        assert_eq!(text("a\u{fe00}\u{fe07}\u{fe03}"), "a");
        assert_eq!(text("❤\u{fe0f}\u{fe07}"), "❤\u{fe0f}");
        assert_eq!(text("1\u{fe00}"), "1");
    }

    #[test]
    fn what_a_text_hides_is_found() {
        for hidden in ["a\u{e0041}b", "a\u{202e}b", "a\u{200b}"] {
            assert!(hides_something(hidden), "{hidden:?}");
        }
        for plain in ["a\r\n\tb", "\u{feff}a", "👩\u{200d}👧"] {
            assert!(!hides_something(plain), "{plain:?}");
        }
    }

    #[test]
    fn values_are_cleaned_to_their_depth() {
        let mut value_ = json!({ "a\u{200b}": ["x\u{202e}y", { "b": "c\u{1b}[31m" }], "n": 1 });
        value(&mut value_);
        assert_eq!(value_, json!({ "a": ["xy", { "b": "c[31m" }], "n": 1 }));
    }

    #[test]
    fn a_field_that_only_looks_like_another_does_not_replace_it() {
        for names in [["role", "role\u{200b}"], ["role\u{200b}", "role"]] {
            let fields = names.map(|name| (name.to_owned(), json!(name == "role")));
            let mut fields = Value::Object(fields.into_iter().collect());
            value(&mut fields);
            assert_eq!(fields, json!({ "role": true }));
        }
    }
}
