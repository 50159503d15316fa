//! Tells code from comments and literals, so that a rule about code isn't broken by a sentence.
//!
//! Knows as much of Rust's lexical structure as that needs, and nothing of its grammar.

/// A source text, taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lexed {
    /// The source with comments and the insides of literals blanked out; it has as many lines.
    pub code: String,
    /// The insides of text literals, each with the line (from 1) where it starts.
    pub literals: Vec<(usize, String)>,
    /// Comments without their slashes, each with its line.
    pub comments: Vec<(usize, String)>,
}

/// Takes a source text apart.
#[must_use]
pub fn lex(source: &str) -> Lexed {
    let mut lexer = Lexer {
        rest: source,
        line: 1,
        out: Lexed::default(),
        after_word: false,
    };
    while !lexer.rest.is_empty() {
        lexer.step();
    }
    lexer.out
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    out: Lexed,
    /// The character before is part of a word, so that `bar"` isn't taken for a raw literal.
    after_word: bool,
}

impl Lexer<'_> {
    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            let text = self.rest[2..end].to_owned();
            self.out.comments.push((self.line, text));
            self.blank(end);
        } else if self.rest.starts_with("/*") {
            let end = block_comment_end(self.rest);
            let text = self.rest[2..end].trim_end_matches("*/").to_owned();
            self.out.comments.push((self.line, text));
            self.blank(end);
        } else if let Some((start, end)) = self.raw_literal() {
            self.literal(start, end);
        } else if self.rest.starts_with('"') {
            let end = 1 + quoted_end(&self.rest[1..], '"');
            self.literal(1, end);
        } else if let Some(end) = char_literal_end(self.rest) {
            self.keep(1);
            self.blank(end - 1);
            self.keep(1);
        } else {
            let first = self.rest.chars().next().map_or(0, char::len_utf8);
            self.keep(first);
        }
    }

    /// Returns the start and end of the inside of a raw literal, if one starts here.
    fn raw_literal(&self) -> Option<(usize, usize)> {
        if self.after_word {
            return None;
        }
        let prefix = ["r", "br", "cr"].into_iter().find(|p| {
            self.rest
                .strip_prefix(p)
                .is_some_and(|r| r.starts_with(['#', '"']))
        })?;
        let hashes = self.rest[prefix.len()..]
            .bytes()
            .take_while(|b| *b == b'#')
            .count();
        let start = prefix.len() + hashes + 1;
        // `r#type` is a word.
        self.rest[..start.min(self.rest.len())]
            .ends_with('"')
            .then_some(())?;
        let close = format!("\"{}", "#".repeat(hashes));
        let inside = self.rest[start..].find(&close)?;
        Some((start, start + inside))
    }

    fn literal(&mut self, start: usize, end: usize) {
        let text = self.rest[start..end].to_owned();
        self.out.literals.push((self.line, text));
        self.keep(start);
        self.blank(end - start);
        self.keep(1.min(self.rest.len()));
    }

    fn keep(&mut self, len: usize) {
        let text = &self.rest[..len];
        self.line += text.matches('\n').count();
        self.out.code.push_str(text);
        self.after_word = text.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        self.rest = &self.rest[len..];
    }

    fn blank(&mut self, len: usize) {
        for c in self.rest[..len].chars() {
            self.out.code.push(if c == '\n' { '\n' } else { ' ' });
        }
        self.line += self.rest[..len].matches('\n').count();
        self.after_word = false;
        self.rest = &self.rest[len..];
    }
}

fn block_comment_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// The index of the closing quote, or the end of the text.
fn quoted_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at;
        }
    }
    text.len()
}

/// The index of the closing quote of a character literal; `None` for a lifetime.
fn char_literal_end(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    if inside.starts_with('\\') {
        return Some(1 + quoted_end(inside, '\''));
    }
    let first = inside.chars().next()?.len_utf8();
    inside[first..].starts_with('\'').then_some(1 + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        let lexed =
            lex("let a = \"unsafe \\\" x\"; // unsafe\n/* a /* b */\nunsafe */ let b = 'u';\n");
        assert!(!lexed.code.contains("unsafe"), "{}", lexed.code);
        assert!(lexed.code.contains("let b = ' ';"), "{}", lexed.code);
        assert_eq!(lexed.literals, [(1, "unsafe \\\" x".to_owned())]);
        assert_eq!(lexed.comments[0], (1, " unsafe".to_owned()));
        assert_eq!(lexed.code.lines().count(), 3);
    }

    #[test]
    fn lifetimes_and_raw_words_are_code() {
        let lexed = lex("fn f<'a>(r#type: &'a str, c: char) { c == '\\'' || c == '\"' }");
        assert!(lexed.code.contains("fn f<'a>(r#type: &'a str, c: char)"));
        assert!(lexed.literals.is_empty(), "{:?}", lexed.literals);
    }

    #[test]
    fn raw_literals_end_at_their_own_mark() {
        let lexed = lex("x(r##\"a \"# b\"##, br\"c\", for\"d\")");
        let texts: Vec<_> = lexed.literals.iter().map(|(_, t)| t.as_str()).collect();
        assert_eq!(texts, ["a \"# b", "c", "d"]);
    }
}
