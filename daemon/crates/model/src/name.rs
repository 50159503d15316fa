//! Names of nodes: which are valid, when two are equal, and the names of conflict copies.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// The longest name in bytes of UTF-8: the limit of ext4, and within those of APFS and NTFS (255
/// UTF-16 units).
pub const MAX_NAME_BYTES: usize = 255;
/// The part of a device's name that a conflict copy has, in bytes: 40 characters of most scripts. With
/// the longest extension, at least 20 bytes stay for the stem.
const MAX_DEVICE_BYTES: usize = 120;
/// Longer extensions are taken for a part of the name, in bytes.
const MAX_EXTENSION_BYTES: usize = 64;
/// The part of a name that marks a conflict copy.
const MARK: &str = " (conflicted copy ";

/// One component of a path: not empty, not `.` or `..`, no `/`, no NUL, at most 255 bytes of UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Name(String);

/// A name after NFC normalisation: two nodes of one folder never share it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameKey(String);

/// The reason why a text isn't a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    #[error("a name can't be empty")]
    Empty,
    #[error("a name can't be `.` or `..`")]
    Dots,
    #[error("a name can't contain `/` or a NUL character")]
    Separator,
    #[error("a name has at most {MAX_NAME_BYTES} bytes, this one has {0}")]
    TooLong(usize),
}

impl Name {
    /// Makes a name of a text, byte for byte.
    ///
    /// # Errors
    /// [`InvalidName`] with the rule that is broken.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidName> {
        let text = text.into();
        match text.as_str() {
            "" => Err(InvalidName::Empty),
            "." | ".." => Err(InvalidName::Dots),
            t if t.contains(['/', '\0']) => Err(InvalidName::Separator),
            t if t.len() > MAX_NAME_BYTES => Err(InvalidName::TooLong(t.len())),
            _ => Ok(Self(text)),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the form under which names are compared (NFC, Unicode Standard Annex 15).
    #[must_use]
    pub fn key(&self) -> NameKey {
        if self.0.is_ascii() {
            NameKey(self.0.clone())
        } else {
            NameKey(self.0.nfc().collect())
        }
    }

    /// Splits into stem and extension with its dot; a leading dot belongs to the stem.
    #[must_use]
    pub fn split_extension(&self) -> (&str, &str) {
        match self.0.rfind('.') {
            Some(dot) if dot > 0 && self.0[..dot].chars().any(|c| c != '.') => self.0.split_at(dot),
            _ => (&self.0, ""),
        }
    }

    /// Returns the name of a conflict copy: `stem (conflicted copy DEVICE STAMP).ext`.
    ///
    /// `stamp` is `YYYY-MM-DD HHMMSS`; `attempt` 0 is the plain form, later ones add a number.
    /// The stem is shortened at a character boundary where the whole would be too long.
    #[must_use]
    pub fn conflict_copy(&self, device: &str, stamp: &str, attempt: u32) -> Self {
        let device: String = device
            .chars()
            .map(|c| {
                if c == '/' || c == '\0' || c.is_control() {
                    '-'
                } else {
                    c
                }
            })
            .take(40)
            .collect();
        let device = &device[..device.floor_char_boundary(MAX_DEVICE_BYTES)];
        let number = if attempt == 0 {
            String::new()
        } else {
            format!(" {}", attempt + 1)
        };
        self.with_mark(&format!("{MARK}{device} {stamp}{number})"))
    }

    /// Returns the name with a number: `stem (2).ext`, shortened as [`Name::conflict_copy`] does.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Self {
        self.with_mark(&format!(" ({number})"))
    }

    /// Puts a mark between stem and extension.
    fn with_mark(&self, mark: &str) -> Self {
        let (stem, ext) = self.split_extension();
        let ext = if ext.len() > MAX_EXTENSION_BYTES {
            ""
        } else {
            ext
        };
        let room = MAX_NAME_BYTES.saturating_sub(mark.len() + ext.len());
        let stem = &stem[..stem.floor_char_boundary(room)];
        Self(format!("{stem}{mark}{ext}"))
    }

    /// Returns whether the name is one that [`Name::conflict_copy`] makes.
    #[must_use]
    pub fn is_conflict_copy(&self) -> bool {
        let (stem, _) = self.split_extension();
        stem.ends_with(')') && stem.contains(MARK)
    }

    /// Returns the name of the file that a conflict copy was made of, shortened as in the copy's name.
    #[must_use]
    pub fn copied_from(&self) -> Option<Self> {
        let (stem, ext) = self.split_extension();
        let (stem, _) = stem.split_once(MARK).filter(|_| self.is_conflict_copy())?;
        Self::new(format!("{stem}{ext}")).ok()
    }
}

impl NameKey {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(d)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn names_that_could_leave_the_folder_are_refused() {
        for bad in ["", ".", "..", "a/b", "/etc", "a\0b"] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Name::new("x".repeat(256)), Err(InvalidName::TooLong(256)));
        assert!(Name::new("x".repeat(255)).is_ok());
    }

    #[test]
    fn composed_and_decomposed_spellings_share_a_key() {
        assert_eq!(name("\u{e9}.txt").key(), name("e\u{301}.txt").key());
        assert_ne!(name("a").key(), name("A").key());
    }

    #[test]
    fn a_conflict_copy_keeps_the_extension() {
        let copy = name("f.txt").conflict_copy("laptop", "2026-01-02 030405", 0);
        assert_eq!(
            copy.as_str(),
            "f (conflicted copy laptop 2026-01-02 030405).txt"
        );
        assert!(copy.is_conflict_copy());
        assert_eq!(copy.copied_from(), Some(name("f.txt")));
        assert_eq!(name("f (conflicted copy.txt").copied_from(), None);
        let second = name(".hidden").conflict_copy("a/b", "2026-01-02 030405", 1);
        assert_eq!(
            second.as_str(),
            ".hidden (conflicted copy a-b 2026-01-02 030405 2)"
        );
    }

    #[test]
    fn a_conflict_copy_of_a_long_name_stays_a_name() {
        let long = name(&format!("{}.txt", "é".repeat(125)));
        let copy = long.conflict_copy("d", "2026-01-02 030405", 0);
        assert!(Name::new(copy.as_str()).is_ok());
        assert!(copy.as_str().ends_with(").txt"));
    }

    #[test]
    fn a_numbered_name_stays_a_name() {
        assert_eq!(name("a.txt").numbered(2).as_str(), "a (2).txt");
        let long = name(&"é".repeat(127)).numbered(12);
        assert!(Name::new(long.as_str()).is_ok(), "{long}");
        assert!(long.as_str().ends_with("é (12)"));
    }

    #[test]
    fn a_conflict_copy_with_a_long_device_and_extension_stays_a_name() {
        let long = name(&format!("{}.{}", "s".repeat(150), "e".repeat(63)));
        let device = "\u{1f9ed}".repeat(40);
        let copy = long.conflict_copy(&device, "2026-01-02 030405", 4_000_000_000);
        assert!(Name::new(copy.as_str()).is_ok(), "{copy}");
        assert!(copy.is_conflict_copy());
        assert!(copy.as_str().ends_with("eee"));
    }
}
