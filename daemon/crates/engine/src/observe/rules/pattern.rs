//! Lines of a rules file, read as git reads them and written as the `ignore` crate takes them: the two differ in
//! escapes, classes of characters, braces and blanks.

use std::collections::BTreeSet;

/// Longer patterns are not taken: no path is as long.
const MAX_PATTERN: usize = 4096;

/// One element of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Literal(char),
    /// `?`: any character but a slash.
    Any,
    /// Some `*` in a row, with their number.
    Stars(usize),
    /// A class in the notation of the `ignore` crate.
    Class(String),
    Slash,
}

/// Returns a line of a rules file as a line of the `ignore` crate; none for a comment, an empty line, or a pattern
/// that is valid but can match nothing.
///
/// # Errors
/// The reason why the line is no valid pattern: it matches nothing.
pub(super) fn translate(line: &str) -> Result<Option<String>, &'static str> {
    if line.starts_with('#') {
        return Ok(None);
    }
    let line = without_trailing_blanks(line);
    let (sign, line) = match line.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", line),
    };
    let (line, only_dirs) = match line.strip_suffix('/') {
        Some(rest) => (rest, "/"),
        None => (line, ""),
    };
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() > MAX_PATTERN {
        return Err("it is too long");
    }
    let Some(tokens) = read_tokens(line)? else {
        return Ok(None);
    };
    let glob = match line.contains('/') {
        true => path_glob(&tokens),
        false => Some(name_glob(&tokens)),
    };
    Ok(glob.map(|glob| format!("{sign}/{glob}{only_dirs}")))
}

/// Returns a line without the blanks at its end, but for one that is escaped.
fn without_trailing_blanks(line: &str) -> &str {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut end = 0;
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ' ' => {}
            '\\' => match chars.next() {
                Some((at, escaped)) => end = at + escaped.len_utf8(),
                None => return line,
            },
            _ => end = at + c.len_utf8(),
        }
    }
    &line[..end]
}

/// Returns the elements of a pattern; none if it can match nothing.
fn read_tokens(line: &str) -> Result<Option<Vec<Token>>, &'static str> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        let token = match c {
            '/' => Token::Slash,
            '?' => Token::Any,
            '*' => match tokens.pop() {
                Some(Token::Stars(before)) => Token::Stars(before + 1),
                other => {
                    tokens.extend(other);
                    Token::Stars(1)
                }
            },
            '[' => match read_class(&mut rest)? {
                Some(class) => class,
                None => return Ok(None),
            },
            '\\' => match rest.next() {
                Some('/') => Token::Slash,
                Some(escaped) => Token::Literal(escaped),
                None => return Err("it ends with a backslash"),
            },
            literal => Token::Literal(literal),
        };
        tokens.push(token);
    }
    Ok(Some(tokens))
}

/// Returns the glob of a pattern without a slash: it matches names in any directory.
fn name_glob(tokens: &[Token]) -> String {
    let mut glob = "**/".to_owned();
    for token in tokens {
        write_token(&mut glob, token);
    }
    glob
}

/// Returns the glob of a pattern with a slash: it matches whole paths. None for one with an empty name in it.
fn path_glob(tokens: &[Token]) -> Option<String> {
    let tokens = tokens.strip_prefix(&[Token::Slash]).unwrap_or(tokens);
    let mut parts: Vec<String> = Vec::new();
    for part in tokens.split(|token| *token == Token::Slash) {
        let text = match part {
            [] => return None,
            [Token::Stars(2..)] => "**".to_owned(),
            part => part.iter().fold(String::new(), |mut text, token| {
                write_token(&mut text, token);
                text
            }),
        };
        // Two in a row are as one.
        if text != "**" || parts.last().is_none_or(|last| last != "**") {
            parts.push(text);
        }
    }
    if parts == ["**"] {
        parts.push("*".to_owned());
    }
    Some(parts.join("/"))
}

fn write_token(glob: &mut String, token: &Token) {
    match token {
        Token::Literal(c) if "*?[]{}\\,".contains(*c) || c.is_whitespace() => {
            glob.extend(['[', *c, ']']);
        }
        Token::Literal(c) => glob.push(*c),
        Token::Any => glob.push('?'),
        Token::Stars(_) => glob.push('*'),
        Token::Class(class) => glob.push_str(class),
        Token::Slash => glob.push('/'),
    }
}

/// The characters of a class: those of ASCII one by one, the others as ranges.
#[derive(Default)]
struct Members {
    ascii: BTreeSet<char>,
    others: Vec<(char, char)>,
}

impl Members {
    fn add(&mut self, first: char, last: char) {
        let end = last.min('\x7f');
        self.ascii.extend(first..=end);
        if !last.is_ascii() && first <= last {
            self.others.push((first.max('\u{80}'), last));
        }
    }

    /// Adds the characters of a class that has a name, such as `alpha`. Returns false if there is none of it.
    fn add_named(&mut self, name: &str) -> bool {
        let is_member: fn(&char) -> bool = match name {
            "alnum" => char::is_ascii_alphanumeric,
            "alpha" => char::is_ascii_alphabetic,
            "blank" => |c| matches!(c, ' ' | '\t'),
            "cntrl" => char::is_ascii_control,
            "digit" => char::is_ascii_digit,
            "graph" => char::is_ascii_graphic,
            "lower" => char::is_ascii_lowercase,
            "print" => |c| *c == ' ' || c.is_ascii_graphic(),
            "punct" => char::is_ascii_punctuation,
            "space" => |c| matches!(c, ' ' | '\t' | '\n' | '\r'),
            "upper" => char::is_ascii_uppercase,
            "xdigit" => char::is_ascii_hexdigit,
            _ => return false,
        };
        self.ascii.extend(('\0'..='\x7f').filter(is_member));
        true
    }

    /// Returns the class; none if no character is in it.
    fn into_token(mut self, is_negated: bool) -> Option<Token> {
        // No class matches a slash.
        if is_negated {
            self.ascii.insert('/');
        } else {
            self.ascii.remove(&'/');
        }
        let mut ascii: Vec<char> = self.ascii.into_iter().collect();
        match ascii.as_slice() {
            [] if self.others.is_empty() => return None,
            [only] if !is_negated && self.others.is_empty() => return Some(Token::Literal(*only)),
            ['!', '^'] if !is_negated && self.others.is_empty() => {
                return Some(Token::Class("{!,^}".to_owned()));
            }
            _ => {}
        }
        // Where each of them stands for itself: `]` first, `!` and `^` not first, `-` last or alone at the front.
        let has_bracket = ascii.contains(&']');
        ascii.sort_by_key(|c| match c {
            ']' => 0,
            '-' if has_bracket => 4,
            '-' => 1,
            '!' | '^' => 3,
            _ => 2,
        });
        let is_last_dash = has_bracket && ascii.last() == Some(&'-');
        let mut class = if is_negated { "[!" } else { "[" }.to_owned();
        let (early, late) = ascii.split_at(ascii.len() - usize::from(is_last_dash));
        let begins_with_sign = matches!(early.first(), Some('!' | '^'));
        if begins_with_sign {
            write_ranges(&mut class, &self.others);
        }
        class.extend(early);
        if !begins_with_sign {
            write_ranges(&mut class, &self.others);
        }
        class.extend(late);
        class.push(']');
        Some(Token::Class(class))
    }
}

fn write_ranges(class: &mut String, ranges: &[(char, char)]) {
    for (first, last) in ranges {
        match first == last {
            true => class.push(*first),
            false => class.extend([*first, '-', *last]),
        }
    }
}

const UNCLOSED: &str = "a `[` in it has no `]`";

fn next(rest: &mut std::str::Chars<'_>) -> Result<char, &'static str> {
    rest.next().ok_or(UNCLOSED)
}

/// Reads a class up to its `]`, as git's `wildmatch` does; none if it matches nothing.
fn read_class(rest: &mut std::str::Chars<'_>) -> Result<Option<Token>, &'static str> {
    let mut members = Members::default();
    let mut c = next(rest)?;
    let is_negated = c == '!' || c == '^';
    if is_negated {
        c = next(rest)?;
    }
    // The character before, from which a `-` goes on.
    let mut before = None;
    loop {
        before = match c {
            '\\' => {
                let escaped = next(rest)?;
                members.add(escaped, escaped);
                Some(escaped)
            }
            '-' if before.is_some()
                && !rest.as_str().is_empty()
                && !rest.as_str().starts_with(']') =>
            {
                let mut last = next(rest)?;
                if last == '\\' {
                    last = next(rest)?;
                }
                members.add(before.unwrap_or(last), last);
                None
            }
            '[' if rest.as_str().starts_with(':') => {
                let (named, after) = rest.as_str()[1..].split_once(']').ok_or(UNCLOSED)?;
                match named.strip_suffix(':') {
                    Some(name) => {
                        if !members.add_named(name) {
                            return Err("a class in it has a name that is not known");
                        }
                        *rest = after.chars();
                        None
                    }
                    None => {
                        members.add('[', '[');
                        Some('[')
                    }
                }
            }
            single => {
                members.add(single, single);
                Some(single)
            }
        };
        c = next(rest)?;
        if c == ']' {
            break;
        }
    }
    Ok(members.into_token(is_negated))
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn lines_become_those_of_the_crate() {
        for (line, expected) in [
            ("*.log", "/**/*.log"),
            ("build/", "/**/build/"),
            ("/build", "/build"),
            ("a/b", "/a/b"),
            ("!keep.log", "!/**/keep.log"),
            ("a/**/b", "/a/**/b"),
            ("a/**/**/b", "/a/**/b"),
            ("a/***", "/a/**"),
            ("x/a**b", "/x/a*b"),
            ("/**", "/**/*"),
            ("**/", "/**/*/"),
            ("{a,b}", "/**/[{]a[,]b[}]"),
            ("\\#a", "/**/#a"),
            ("\\!a", "/**/!a"),
            ("a\\ ", "/**/a[ ]"),
            ("a b  ", "/**/a[ ]b"),
            ("[[:digit:]]x", "/**/[0123456789]x"),
            ("[!a]", "/**/[!/a]"),
            ("[]-]", "/**/[]-]"),
            ("[a]", "/**/a"),
            ("[!!]", "/**/[!/!]"),
            ("[\\]]", "/**/[]]"),
            ("a\r", "/**/a"),
            ("é", "/**/é"),
        ] {
            assert_eq!(translate(line), Ok(Some(expected.to_owned())), "{line}");
        }
    }

    #[test]
    fn lines_without_a_pattern_and_those_that_match_nothing_are_left_out() {
        for line in ["", "  ", "# x", "!", "/", "//", "a//b", "!/"] {
            assert_eq!(translate(line), Ok(None), "{line}");
        }
    }

    #[test]
    fn invalid_patterns_are_refused() {
        for line in [
            "[a",
            "[",
            "a\\",
            "[[:none:]]",
            "[[:alpha:]",
            &"a".repeat(5_000),
        ] {
            assert!(translate(line).is_err(), "{line}");
        }
    }
}
