//! Figures on the command line.

/// Reads a number of at least one.
pub(super) fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number, 1 or more".to_owned()),
        Ok(number) => Ok(number),
    }
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
    }
}
