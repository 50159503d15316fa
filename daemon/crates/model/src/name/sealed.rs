//! The names of a private space as the server has them: `~` and base64url of what only key holders open.

use super::Name;

/// The longest sealed name in bytes: that of a name of 255.
pub const MAX_SEALED_NAME_BYTES: usize = 428;
/// The shortest one: that of a name of up to 31 bytes.
const MIN_SEALED_NAME_BYTES: usize = 87;

/// The beginning in which two names that are one in a folder agree: `~`, and digits of nothing but their tag.
const KEY_BYTES: usize = 22;

/// Returns the beginning of a sealed name by which it is compared; `None` for any other name.
pub(super) fn sealed_key(name: &str) -> Option<&str> {
    Name::of_sealed(name).and_then(|_| name.get(..KEY_BYTES))
}

impl Name {
    /// Takes over the sealed name of a node in a private space; `None` for a text that can't be one.
    #[must_use]
    pub fn of_sealed(text: &str) -> Option<Self> {
        let is_digit = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        let digits = text.strip_prefix('~')?;
        let fits = (MIN_SEALED_NAME_BYTES..=MAX_SEALED_NAME_BYTES).contains(&text.len());
        (fits && digits.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sealed_name_is_taken_for_one() {
        let sealed = |digits: usize| format!("~{}", "a".repeat(digits));
        for good in [sealed(86), sealed(427), format!("~{}-_9Z", "a".repeat(82))] {
            assert_eq!(Name::of_sealed(&good).unwrap().as_str(), good);
        }
        for bad in [
            "diary.txt".to_owned(),
            sealed(85),
            sealed(428),
            "a".repeat(87),
            format!("~{}.txt", "a".repeat(90)),
            format!("~{}/a", "a".repeat(90)),
        ] {
            assert_eq!(Name::of_sealed(&bad), None, "{bad}");
        }
    }

    #[test]
    fn sealed_names_are_compared_by_their_tag() {
        let key = |end: &str| {
            let name = format!("~{}{end}{}", "a".repeat(21), "b".repeat(70));
            Name::of_sealed(&name).unwrap().key()
        };
        assert_eq!(key("x"), key("y"));
        assert_ne!(key("x"), Name::of_sealed(&sealed("c")).unwrap().key());
    }

    fn sealed(digit: &str) -> String {
        format!("~{}", digit.repeat(90))
    }
}
