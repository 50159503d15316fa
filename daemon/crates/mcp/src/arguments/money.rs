//! Money as decimal text, counted in minor units: floating point would lose cents.

/// Returns the amount with two decimals if it is between `min` and `max` minor units.
pub(super) fn check(text: &str, min: u64, max: u64) -> Result<String, String> {
    let units = units(text).ok_or("must be a decimal with at most two decimals, such as 4.99")?;
    if !(min..=max).contains(&units) {
        return Err(if max == u64::MAX {
            format!("must be at least {}", format_units(min))
        } else {
            format!(
                "must be from {} to {}",
                format_units(min),
                format_units(max)
            )
        });
    }
    Ok(format_units(units))
}

fn units(text: &str) -> Option<u64> {
    let (whole, part) = match text.split_once('.') {
        Some((whole, part)) if (1..=2).contains(&part.len()) => (whole, part),
        Some(_) => return None,
        None => (text, ""),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<2}").parse().ok()?;
    whole.checked_mul(100)?.checked_add(part)
}

fn format_units(units: u64) -> String {
    format!("{}.{:02}", units / 100, units % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        for (text, shown) in [("0.01", "0.01"), ("5", "5.00"), ("10000.0", "10000.00")] {
            assert_eq!(check(text, 1, 1_000_000).as_deref(), Ok(shown));
        }
        for bad in [
            "",
            ".5",
            "5.",
            "1.005",
            "-1",
            "+1",
            "1e3",
            "1,00",
            " 1",
            "0",
            "0.00",
            "10000.01",
            "99999999999999999999",
            "١",
        ] {
            assert!(check(bad, 1, 1_000_000).is_err(), "{bad}");
        }
    }
}
