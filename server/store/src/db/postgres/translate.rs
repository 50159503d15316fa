//! Statements in the words of PostgreSQL. The store writes them in the common form of both databases; what remains is
//! of these few kinds, outside of texts in quotes:
//!
//! | SQLite | PostgreSQL |
//! |---|---|
//! | `?1` | `$1` |
//! | `x'00ff'` | `'\x00ff'::bytea` |
//! | `CAST(… AS BLOB)`, `CAST(… AS INTEGER)` | `CAST(… AS bytea)`, `CAST(… AS bigint)` |
//! | `INDEXED BY name` | nothing: its planner chooses |
//! | `CROSS JOIN … ON` | `JOIN … ON`: its planner orders |

use std::borrow::Cow;

const WORDS: [(&str, &str); 3] = [
    ("AS BLOB)", "AS bytea)"),
    ("AS INTEGER)", "AS bigint)"),
    ("CROSS JOIN ", "JOIN "),
];

/// Returns a statement as PostgreSQL has it.
pub(in crate::db) fn translate(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 16);
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (written, length) = one(rest, first, out.ends_with(is_word));
        out.push_str(&written);
        rest = &rest[length..];
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns what stands for the beginning of a statement, and the length of that beginning.
fn one(rest: &str, first: char, in_word: bool) -> (Cow<'_, str>, usize) {
    if matches!(first, '\'' | '"') {
        let length = quoted_length(rest, first);
        return (Cow::Borrowed(&rest[..length]), length);
    }
    if first == '?' {
        return (Cow::Borrowed("$"), 1);
    }
    if !in_word {
        if rest.starts_with("x'") {
            let length = 1 + quoted_length(&rest[1..], '\'');
            let hex = rest[2..length].trim_end_matches('\'');
            return (Cow::Owned(format!("'\\x{hex}'::bytea")), length);
        }
        if let Some(name) = rest.strip_prefix("INDEXED BY ") {
            let name = name.find(|c| !is_word(c)).unwrap_or(name.len());
            return (Cow::Borrowed(""), "INDEXED BY ".len() + name);
        }
        for (from, to) in WORDS {
            if rest.starts_with(from) {
                return (Cow::Borrowed(to), from.len());
            }
        }
    }
    (Cow::Borrowed(&rest[..first.len_utf8()]), first.len_utf8())
}

/// Returns the length of what is in quotes at the beginning, with its quotes.
fn quoted_length(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn only_what_differs_is_replaced_and_nothing_in_quotes() {
        for (sql, expected) in [
            ("a = ?1 AND b = ?12", "a = $1 AND b = $12"),
            (
                "b <> x'' AND c = x'0a'",
                "b <> '\\x'::bytea AND c = '\\x0a'::bytea",
            ),
            ("'?1 x'''", "'?1 x'''"),
            ("max'", "max'"),
            ("FROM n INDEXED BY n_name WHERE", "FROM n  WHERE"),
            ("s CROSS JOIN n ON", "s JOIN n ON"),
            ("CAST(?1 AS BLOB)", "CAST($1 AS bytea)"),
            ("\"user\" = ?1", "\"user\" = $1"),
        ] {
            assert_eq!(translate(sql), expected);
        }
    }
}
