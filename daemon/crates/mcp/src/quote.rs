//! Texts of others inside of messages: between two marks that they can't have, on one line, and not long.

use std::path::Path;

/// The longest shown text, in characters.
const MAX_SHOWN: usize = 120;

/// Returns a text between marks that it can't end.
pub(crate) fn quote(text: &str) -> String {
    format!("`{}`", shorten(&text.replace('`', "'")))
}

/// Returns a path on the service between marks that it can't end. Of a long one the end is kept, where its name is.
pub(crate) fn quote_end(path: &str) -> String {
    let clean = one_line(&path.replace('`', "'"));
    let length = clean.chars().count();
    if length <= MAX_SHOWN {
        return format!("`{clean}`");
    }
    let end: String = clean.chars().skip(length - MAX_SHOWN).collect();
    format!("`…{end}`")
}

/// Returns a local path, whole, between marks that it can't end.
pub(crate) fn quote_path(path: &Path) -> String {
    let path = path.to_string_lossy().replace('`', "'");
    format!("`{}`", one_line(&path))
}

/// Returns a text on one line, cut where it is long.
pub(crate) fn shorten(text: &str) -> String {
    let clean = one_line(text);
    if clean.chars().count() <= MAX_SHOWN {
        return clean;
    }
    let cut: String = clean.chars().take(MAX_SHOWN).collect();
    format!("{cut}…")
}

fn one_line(text: &str) -> String {
    crate::clean::text(text).replace(['\n', '\r', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_can_not_end_its_quotation() {
        assert_eq!(quote("a`: b\n\u{202e}c"), "`a': b c`");
        assert_eq!(quote(&"x".repeat(500)).chars().count(), MAX_SHOWN + 3);
        assert_eq!(quote_path(Path::new("/a/b")), "`/a/b`");
        assert_eq!(quote_end("/a`/b\u{200b}"), "`/a'/b`");
        let long = quote_end(&format!("/{}/name", "x".repeat(500)));
        assert!(
            long.starts_with("`…x") && long.ends_with("x/name`"),
            "{long}"
        );
    }
}
