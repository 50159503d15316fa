//! Numbers of bytes as people read and write them.

const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const DECIMAL: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

/// Formats bytes with a binary unit and one decimal: `999 B`, `1.5 KiB`, `12.0 MiB`.
#[must_use]
pub fn binary(bytes: u64) -> String {
    // A value that would be shown as 1024.0 has the next unit.
    match scale(bytes, 1024.0, 1023.95) {
        (_, 0) => format!("{bytes} B"),
        (value, unit) => format!("{value:.1} {}", BINARY[unit]),
    }
}

/// Formats bytes with a binary unit and a decimal below ten: `999 B`, `1.5 KiB`, `12 MiB`.
#[must_use]
pub fn binary_short(bytes: u64) -> String {
    match scale(bytes, 1024.0, 1023.95) {
        (_, 0) => format!("{bytes} B"),
        (value, unit) if value < 9.995 => format!("{value:.1} {}", BINARY[unit]),
        (value, unit) => format!("{value:.0} {}", BINARY[unit]),
    }
}

/// Formats bytes with a decimal unit and a decimal below a hundred: `999 B`, `1.5 kB`, `120 MB`.
#[must_use]
pub fn decimal(bytes: u64) -> String {
    match scale(bytes, 1000.0, 999.5) {
        (_, 0) => format!("{bytes} B"),
        (value, unit) if value < 99.95 => format!("{value:.1} {}", DECIMAL[unit]),
        (value, unit) => format!("{value:.0} {}", DECIMAL[unit]),
    }
}

/// Returns the value in the largest unit that it reaches, and the index of that unit. From `limit` on the rounded
/// value would need the next unit.
fn scale(bytes: u64, base: f64, limit: f64) -> (f64, usize) {
    let mut value = bytes as f64;
    if value < base {
        return (value, 0);
    }
    let mut unit = 0;
    while unit == 0 || (value >= limit && unit + 1 < BINARY.len()) {
        value /= base;
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
        for (bytes, exact, short, tens) in [
            (0, "0 B", "0 B", "0 B"),
            (999, "999 B", "999 B", "999 B"),
            (1_000, "1000 B", "1000 B", "1.0 kB"),
            (1_023, "1023 B", "1023 B", "1.0 kB"),
            (1_024, "1.0 KiB", "1.0 KiB", "1.0 kB"),
            (1_536, "1.5 KiB", "1.5 KiB", "1.5 kB"),
            (12_582_912, "12.0 MiB", "12 MiB", "12.6 MB"),
            (999_949, "976.5 KiB", "977 KiB", "1.0 MB"),
            (1_048_575, "1.0 MiB", "1.0 MiB", "1.0 MB"),
            (5_368_709_120, "5.0 GiB", "5.0 GiB", "5.4 GB"),
            (u64::MAX, "16.0 EiB", "16 EiB", "18.4 EB"),
        ] {
            assert_eq!(binary(bytes), exact);
            assert_eq!(binary_short(bytes), short);
            assert_eq!(decimal(bytes), tens);
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
