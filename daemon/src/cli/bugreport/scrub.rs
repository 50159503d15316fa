//! Texts without the names of files, addresses and accounts: only plain words and numbers stay.

/// Stands for what is left out.
const HIDDEN: &str = "…";

/// A message, without names unless they are wanted.
pub(super) fn message(text: &str, names: bool) -> String {
    match names {
        true => text.to_owned(),
        false => words_only(text),
    }
}

/// A line of the log. Its fields may hold names, and so may quoted words of its message.
pub(super) fn log_line(line: &str, names: bool) -> String {
    if names {
        return line.to_owned();
    }
    // Time, level and target hold no names; a line without them goes on with another's message.
    let head = line.trim_start().split_once(' ');
    let head = head.and_then(|(time, rest)| {
        let (level, rest) = rest.trim_start().split_once(' ')?;
        Some((time, level, rest))
    });
    let Some((time, level, rest)) = head else {
        return HIDDEN.to_owned();
    };
    let is_head = time.starts_with("20") && time.contains('T');
    match rest.trim_start().split_once(": ") {
        Some((target, message)) if is_head => {
            format!("{time} {level} {target}: {}", words_only(message))
        }
        Some(_) | None => HIDDEN.to_owned(),
    }
}

/// Keeps the plain words and numbers of a text up to its first field.
fn words_only(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut quoted = false;
    for word in text.split_whitespace() {
        if word.contains('=') {
            kept.push(HIDDEN);
            break;
        }
        let quotes = word.matches(['"', '`']).count();
        let is_plain = !quoted
            && quotes == 0
            && word
                .trim_end_matches([':', ';', ',', '.', ')'])
                .trim_start_matches('(')
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '\'' | '-' | '%'));
        kept.push(if is_plain { word } else { HIDDEN });
        quoted ^= quotes % 2 == 1;
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_keeps_its_words_and_loses_its_names() {
        let line = "2026-03-01T10:00:00.000Z  WARN cairn_engine::feed: a node can't be taken; it is left alone node=1 path=\"secret plan.txt\"";
        assert_eq!(
            log_line(line, false),
            "2026-03-01T10:00:00.000Z WARN cairn_engine::feed: a node can't be taken; it is left alone …"
        );
        assert_eq!(log_line(line, true), line);
        assert_eq!(log_line("  secret plan.txt", false), "…");
        assert_eq!(log_line("secret plan of mine: in two lines", false), "…");
    }

    #[test]
    fn paths_addresses_and_quoted_words_are_left_out() {
        for (text, kept) in [
            ("can't read /home/me/a.txt: denied", "can't read … denied"),
            ("`my file` is gone", "… … is gone"),
            (
                "the server http://example.org:1/ answers",
                "the server … answers",
            ),
            ("me@example.org has no keys", "… has no keys"),
        ] {
            assert_eq!(message(text, false), kept);
            assert_eq!(message(text, true), text);
        }
    }
}
