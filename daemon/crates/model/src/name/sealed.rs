//! The names of a private space as the server has them: `~` and base64url of what only key holders open.

use super::Name;

/// The longest sealed name in bytes: that of a name of 255.
pub const MAX_SEALED_NAME_BYTES: usize = 417;
/// The shortest one: that of a name of up to 31 bytes.
const MIN_SEALED_NAME_BYTES: usize = 76;

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
        for good in [sealed(75), sealed(416), format!("~{}-_9Z", "a".repeat(71))] {
            assert_eq!(Name::of_sealed(&good).unwrap().as_str(), good);
        }
        for bad in [
            "diary.txt".to_owned(),
            sealed(74),
            sealed(417),
            "a".repeat(76),
            format!("~{}.txt", "a".repeat(80)),
            format!("~{}/a", "a".repeat(80)),
        ] {
            assert_eq!(Name::of_sealed(&bad), None, "{bad}");
        }
    }
}
