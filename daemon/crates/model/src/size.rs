//! Numbers of bytes as people read and write them.

const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Formats bytes with a binary unit and one decimal: `999 B`, `1.5 KiB`, `12.0 MiB`.
#[must_use]
pub fn binary(bytes: u64) -> String {
    match scale(bytes, 1023.95) {
        (_, 0) => format!("{bytes} B"),
        (value, unit) => format!("{value:.1} {}", BINARY[unit]),
    }
}

/// Formats bytes with a binary unit and a decimal below ten: `999 B`, `1.5 KiB`, `12 MiB`. The window's pages do the
/// same in `ui/src/i18n.ts`; `tests/vectors/sizes.json` holds both to it.
#[must_use]
pub fn binary_short(bytes: u64) -> String {
    match scale(bytes, 1023.5) {
        (_, 0) => format!("{bytes} B"),
        (value, unit) if value < 9.95 => format!("{value:.1} {}", BINARY[unit]),
        (value, unit) => format!("{value:.0} {}", BINARY[unit]),
    }
}

/// Returns the value in the largest unit that it reaches, and the index of that unit. From `limit` on the
/// rounded value would be 1024, and has the next unit.
fn scale(bytes: u64, limit: f64) -> (f64, usize) {
    let mut value = bytes as f64;
    if bytes < 1024 {
        return (value, 0);
    }
    let mut unit = 0;
    while unit == 0 || (value >= limit && unit + 1 < BINARY.len()) {
        value /= 1024.0;
        unit += 1;
    }
    (value, unit)
}

/// Reads a number of bytes such as `800000`, `500KB`, `2.5 MB` or `20GiB`: `K`, `M`, `G` and `T` alone or with `B`
/// are powers of 1,000, with `iB` of 1,024. A fraction of a byte is cut off. `None` if it is no such number, or more
/// than 10^15 bytes.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let factor = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        "tib" => 1_099_511_627_776.0,
        _ => return None,
    };
    let number: f64 = digits.parse().ok()?;
    let bytes = number * factor;
    (0.0..=1e15).contains(&bytes).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_the_unit_that_it_reaches() {
        for (bytes, exact) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_536, "1.5 KiB"),
            (12_582_912, "12.0 MiB"),
            (999_949, "976.5 KiB"),
            (1_048_575, "1.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(binary(bytes), exact);
        }
    }

    #[test]
    fn short_sizes_are_those_of_the_window() {
        let table = include_str!("../../../../tests/vectors/sizes.json");
        let table: Vec<(u64, String)> = serde_json::from_str(table).expect("the table is valid");
        assert!(table.len() > 10);
        for (bytes, text) in table {
            assert_eq!(binary_short(bytes), text, "{bytes}");
        }
    }

    #[test]
    fn a_written_size_is_read() {
        for (text, bytes) in [
            ("800000", Some(800_000)),
            ("500KB", Some(500_000)),
            ("2.5 MB", Some(2_500_000)),
            ("20GiB", Some(21_474_836_480)),
            ("1t", Some(1_000_000_000_000)),
            ("0", Some(0)),
            ("", None),
            ("KB", None),
            ("-1", None),
            ("10 parsecs", None),
            ("2000T", None),
            ("nan", None),
        ] {
            assert_eq!(parse(text), bytes, "{text}");
        }
    }
}
