//! Figures, times and names as people read them.

pub(crate) use cairn_model::size::binary_short as size;
use cairn_platform::Zone;
use cairn_wire::Timestamp;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

/// Bytes per second as limits are written, with a decimal unit: `500 KB/s`, `2.5 MB/s`.
pub(crate) fn rate(bytes: u64) -> String {
    let (value, unit) = match bytes {
        0..1_000 => (bytes as f64, "B"),
        1_000..1_000_000 => (bytes as f64 / 1e3, "KB"),
        1_000_000..1_000_000_000 => (bytes as f64 / 1e6, "MB"),
        1_000_000_000.. => (bytes as f64 / 1e9, "GB"),
    };
    let text = format!("{value:.1}");
    format!("{} {unit}/s", text.strip_suffix(".0").unwrap_or(&text))
}

/// A span of seconds: `45 s`, `12 min`, `3 h 20 min`.
pub(crate) fn span(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds) {
        (0, 0, s) => format!("{s} s"),
        (0, m, _) => format!("{m} min"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// A number with its thousands apart: `14,881`.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `2 files`, `14,881 files`.
pub(crate) fn count(files: u64, one: &str) -> String {
    if files == 1 {
        format!("1 {one}")
    } else {
        format!("{} {one}s", number(files))
    }
}

/// Returns a word for a POSIX shell: quoted if it would see more in it than one word.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~".contains(c);
    if !word.is_empty() && !word.starts_with('~') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A name or path from elsewhere, without anything that a terminal would obey.
pub(crate) fn clean(text: &str) -> String {
    let harmful =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| if harmful(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Returns a line of a text, without what would control a terminal; tabs stay.
pub(crate) fn clean_line(line: &str) -> String {
    let parts: Vec<_> = line.split('\t').map(clean).collect();
    parts.join("\t")
}

/// Returns the local time, as clocks showed it then, of milliseconds since 1970-01-01 UTC.
pub(crate) fn local_time(ms: i64, zone: &Zone) -> String {
    let layout = format_description!("[year]-[month]-[day] [hour]:[minute]");
    let offset = UtcOffset::from_whole_seconds(zone.offset_s(ms)).unwrap_or(UtcOffset::UTC);
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000)
        .ok()
        .and_then(|at| at.to_offset(offset).format(&layout).ok())
        .unwrap_or_default()
}

/// RFC 3339 as local time, or as it is if it is none.
pub(crate) fn local_rfc3339(text: &str, zone: &Zone) -> String {
    Timestamp::parse(text).map_or_else(|| clean(text), |at| local_time(at.0, zone))
}

/// Milliseconds since 1970-01-01 UTC.
pub(crate) fn now_ms() -> i64 {
    Timestamp::now().0
}

/// RFC 3339 in UTC with milliseconds.
pub(crate) fn rfc3339(ms: i64) -> String {
    Timestamp(ms).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_a_shell_stays_one_word() {
        for (word, expected) in [
            ("/home/a/Cairn", "/home/a/Cairn"),
            ("/home/a/My Files", "'/home/a/My Files'"),
            ("it's", r"'it'\''s'"),
            ("$x", "'$x'"),
            ("~", "'~'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }

    #[test]
    fn sizes_keep_two_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1536, "1.5 KiB"),
            (10 * 1024, "10 KiB"),
            (1024 * 1024 - 1, "1.0 MiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn large_numbers_have_their_thousands_apart() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (14_881, "14,881"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(27_138, "change"), "27,138 changes");
    }

    #[test]
    fn rates_are_shown_as_they_are_written() {
        for (bytes, text) in [
            (999, "999 B/s"),
            (500_000, "500 KB/s"),
            (2_500_000, "2.5 MB/s"),
            (3_000_000_000, "3 GB/s"),
        ] {
            assert_eq!(rate(bytes), text);
        }
    }

    #[test]
    fn a_name_can_not_steer_the_terminal() {
        assert_eq!(
            clean("a\x1b[31mb\n\u{202e}c"),
            "a\u{fffd}[31mb\u{fffd}\u{fffd}c"
        );
        assert_eq!(clean("測試 é"), "測試 é");
    }
}
