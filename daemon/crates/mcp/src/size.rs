//! Sizes as people read them.

/// Formats a size in binary units, with one decimal from KiB on.
pub(crate) fn binary(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = bytes;
    let mut unit = 0;
    // What would be shown as 1024.0 is the next unit.
    while size >= 1023.95 && unit < UNITS.len() - 1 {
        if unit == 0 && size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{size} {}", UNITS[unit])
    } else {
        format!("{size:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary() {
        for (bytes, text) in [
            (0.0, "0 B"),
            (1023.0, "1023 B"),
            (1024.0, "1.0 KiB"),
            (1536.0, "1.5 KiB"),
            (1_048_575.0, "1.0 MiB"),
            (5_368_709_120.0, "5.0 GiB"),
        ] {
            assert_eq!(binary(bytes), text);
        }
    }
}
