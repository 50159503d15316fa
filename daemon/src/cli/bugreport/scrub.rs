//! Texts without the names of files, addresses and accounts: only plain words and numbers stay.

/// Stands for what is left out.
const HIDDEN: &str = "…";

/// Takes names out of texts, unless they are wanted.
pub(super) struct Scrub {
    /// The names that are known, the longest first; `None`: nothing is taken out.
    known: Option<Vec<String>>,
}

impl Scrub {
    /// Leaves everything as it is.
    pub(super) fn nothing() -> Self {
        Self { known: None }
    }

    /// Takes out names: these, and whatever else is no plain word.
    pub(super) fn names(mut known: Vec<String>) -> Self {
        known.retain(|name| name.chars().count() > 1);
        known.sort_by_key(|name| std::cmp::Reverse(name.len()));
        known.dedup();
        Self { known: Some(known) }
    }

    pub(super) fn keeps_names(&self) -> bool {
        self.known.is_none()
    }

    /// Returns a message without names.
    pub(super) fn message(&self, text: &str) -> String {
        match &self.known {
            None => text.to_owned(),
            Some(known) => words_only(&without(known, text)),
        }
    }

    /// Returns a line of the log. Its fields may hold names, and so may quoted words of its message.
    pub(super) fn log_line(&self, line: &str) -> String {
        if self.keeps_names() {
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
                format!("{time} {level} {target}: {}", self.message(message))
            }
            Some(_) | None => HIDDEN.to_owned(),
        }
    }
}

/// Takes known names out of a text, where they are not parts of other words.
fn without(known: &[String], text: &str) -> String {
    let mut text = text.to_owned();
    for name in known {
        let mut kept = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(name.as_str()) {
            let (before, after) = (&rest[..at], &rest[at + name.len()..]);
            let is_word = !before.ends_with(char::is_alphanumeric)
                && !after.starts_with(char::is_alphanumeric);
            kept.push_str(before);
            kept.push_str(if is_word { HIDDEN } else { name });
            rest = after;
        }
        kept.push_str(rest);
        text = kept;
    }
    text
}

/// Returns the number of the system's error at the end of a text.
fn system_error(text: &str) -> Option<&str> {
    let at = text.rfind("(os error ")?;
    let is_number = |c: char| c.is_ascii_digit() || c == ')';
    text[at + "(os error ".len()..]
        .chars()
        .all(is_number)
        .then_some(&text[at..])
}

/// Keeps the plain words and numbers of a text up to its first field, or the first path: nobody can tell where a name
/// with spaces ends.
fn words_only(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut quoted = false;
    for word in text.split_whitespace() {
        let is_path = word.contains(['/', '\\']) && !word.contains("://");
        if word.contains('=') || is_path {
            kept.push(HIDDEN);
            kept.extend(system_error(text));
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
        let scrub = Scrub::names(Vec::new());
        assert_eq!(
            scrub.log_line(line),
            "2026-03-01T10:00:00.000Z WARN cairn_engine::feed: a node can't be taken; it is left alone …"
        );
        assert_eq!(Scrub::nothing().log_line(line), line);
        assert_eq!(scrub.log_line("  secret plan.txt"), "…");
        assert_eq!(scrub.log_line("secret plan of mine: in two lines"), "…");
    }

    #[test]
    fn paths_addresses_and_quoted_words_are_left_out() {
        for (text, kept) in [
            ("can't read /home/me/a.txt: denied", "can't read …"),
            ("`my file` is gone", "… … is gone"),
            (
                "the server http://example.org:1/ answers",
                "the server … answers",
            ),
            ("me@example.org has no keys", "… has no keys"),
        ] {
            assert_eq!(Scrub::names(Vec::new()).message(text), kept);
            assert_eq!(Scrub::nothing().message(text), text);
        }
    }

    #[test]
    fn no_word_of_a_path_with_spaces_stays() {
        let text =
            "/home/me/HIV Diagnose: can't list /home/me/HIV Diagnose: No such file (os error 2)";
        let unknown = Scrub::names(Vec::new());
        assert_eq!(unknown.message(text), "… (os error 2)");
        let known = ["/home/me/HIV", "/home/me/HIV Diagnose", "/"].map(str::to_owned);
        let scrub = Scrub::names(known.to_vec());
        assert_eq!(
            scrub.message(text),
            "… can't list … No such file (os error 2)"
        );
        let below = "can't watch /home/me/HIV Diagnose/Alte Briefe any longer";
        assert_eq!(scrub.message(below), "can't watch …");
        assert_eq!(scrub.message("a /home/me/HIVer b"), "a …");
        let team = Scrub::names(vec!["Secret Plan".to_owned()]);
        assert_eq!(
            team.message("the team Secret Plan is gone"),
            "the team … is gone"
        );
    }
}
