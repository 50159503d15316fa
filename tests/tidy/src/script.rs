//! The code of TypeScript and Svelte sources, without comments and literals.
//!
//! As simple as identifiers need it: a regular expression with a quote in it is not understood.

/// Returns the code of a script with comments and literals blanked out, with as many lines.
#[must_use]
pub fn code(path: &str, text: &str) -> String {
    if path.ends_with(".svelte") {
        return blank(&only_scripts(text));
    }
    blank(text)
}

/// Returns the text between `<script…>` and `</script>`, with the other lines empty.
fn only_scripts(text: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("</script") {
            inside = false;
        }
        if inside {
            out.push_str(line);
        }
        out.push('\n');
        if line.trim_start().starts_with("<script") {
            inside = true;
        }
    }
    out
}

fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if matches!(c, '"' | '\'' | '`') {
            literal_end(rest, c)
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        out.extend(
            rest[..end]
                .chars()
                .map(|c| if c == '\n' { '\n' } else { ' ' }),
        );
        rest = &rest[end..];
    }
    out
}

/// Returns the index after the closing quote; a quote that nothing closes ends with its line.
fn literal_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        } else if c == '\n' && quote != '`' {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        let code = code(
            "a.ts",
            "let a = 'told \\' x'; // told\n/* told\n*/ let b = `told\n${c}`;\n",
        );
        assert!(!code.contains("told"), "{code}");
        assert!(code.contains("let a") && code.contains("let b"), "{code}");
        assert_eq!(code.lines().count(), 4);
    }

    #[test]
    fn of_a_component_only_the_script_is_code() {
        let text = "<script lang=\"ts\">\n  let a = 1;\n</script>\n<p>it is told</p>\n";
        let code = code("a.svelte", text);
        assert!(code.contains("let a") && !code.contains("told"), "{code}");
        assert_eq!(code.lines().count(), 4);
    }
}
