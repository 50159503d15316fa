//! Figures on the command line.

/// Reads a number of at least one.
pub(super) fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number, 1 or more".to_owned()),
        Ok(number) => Ok(number),
    }
}

/// Reads a number of events on a page.
pub(super) fn page_length(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|n| (1..=10_000).contains(n));
    number.ok_or_else(|| "give a whole number from 1 to 10000".to_owned())
}

/// Reads a number that may be nothing.
pub(super) fn whole_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "give a whole number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_from_one_on_are_taken() {
        assert_eq!(at_least_one("1"), Ok(1));
        assert_eq!(at_least_one("18446744073709551615"), Ok(u64::MAX));
        for text in ["0", "-1", "1.5", "many", ""] {
            let message = at_least_one(text).unwrap_err();
            assert!(message.contains("1 or more"), "{text}: {message}");
        }
        assert_eq!(
            (whole_number("0"), page_length("10000")),
            (Ok(0), Ok(10_000))
        );
        assert!(whole_number("-1").is_err() && page_length("0").is_err());
        assert!(page_length("10001").is_err());
    }
}
