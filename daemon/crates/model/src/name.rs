//! Names of nodes: which are valid, when two are equal, and the names of conflict copies.

mod sealed;
#[cfg(test)]
mod tests;

pub use sealed::MAX_SEALED_NAME_BYTES;

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
/// Stands for the device in the names of copies that are made after the service was restored from a backup:
/// all devices make them alike.
pub const RESTORED: &str = "restored";
/// The name of a rules file, in any directory of a folder; it syncs like any other file.
pub const IGNORE_FILE: &str = ".cairnignore";

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

/// Returns a text with its accents composed (NFC, Unicode Standard Annex 15).
#[must_use]
pub fn compose(text: &str) -> String {
    if text.is_ascii() {
        text.to_owned()
    } else {
        text.nfc().collect()
    }
}

/// Returns a text as a search compares it: two that differ in the case of letters, or in how accents are
/// composed, are the same.
#[must_use]
pub fn search_key(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Upper case first: it brings together letters that have two lower cases, such as ß and ss.
    text.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
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

    /// Returns the form under which names are compared ([`compose`]).
    #[must_use]
    pub fn key(&self) -> NameKey {
        NameKey(sealed::sealed_key(&self.0).map_or_else(|| compose(&self.0), str::to_owned))
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
        let device = Self::device_in_copy(device);
        let number = if attempt == 0 {
            String::new()
        } else {
            format!(" {}", attempt + 1)
        };
        self.with_mark(&format!("{MARK}{device} {stamp}{number})"))
    }

    /// Returns a device's name as the names of its conflict copies have it.
    #[must_use]
    pub fn device_in_copy(device: &str) -> String {
        let mut device: String = device
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
        device.truncate(device.floor_char_boundary(MAX_DEVICE_BYTES));
        device
    }

    /// Returns the name with a number: `stem (2).ext`, shortened as [`Name::conflict_copy`] does.
    #[must_use]
    pub fn with_number(&self, number: u32) -> Self {
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

    /// Returns whether the name is one that [`Name::conflict_copy`] makes. Those of other programs, which
    /// have no device or no time, are none.
    #[must_use]
    pub fn is_conflict_copy(&self) -> bool {
        self.copy_parts().is_some()
    }

    /// Returns the name of the file that a conflict copy was made of, shortened as in the copy's name.
    #[must_use]
    pub fn copied_from(&self) -> Option<Self> {
        let (stem, _, ext) = self.copy_parts()?;
        Self::new(format!("{stem}{ext}")).ok()
    }

    /// Returns the device that made a conflict copy, as in [`Name::device_in_copy`].
    #[must_use]
    pub fn copied_by(&self) -> Option<&str> {
        self.copy_parts().map(|(_, device, _)| device)
    }

    /// Returns the name without the words that mark a conflict copy: `stem (DEVICE STAMP).ext`. Any other name
    /// stays as it is.
    #[must_use]
    pub fn without_copy_mark(&self) -> Self {
        let mut plain = self.clone();
        // A copy of a copy has the words twice.
        while plain.is_conflict_copy()
            && let Some((stem, rest)) = plain.0.rsplit_once(MARK)
        {
            plain = Self(format!("{stem} ({rest}"));
        }
        plain
    }

    /// Splits a conflict copy's name into stem, device and extension.
    fn copy_parts(&self) -> Option<(&str, &str, &str)> {
        let (stem, rest) = self.0.rsplit_once(MARK)?;
        rest.match_indices(')').find_map(|(end, _)| {
            let ext = &rest[end + 1..];
            let device = device_of_mark(&rest[..end])?;
            (ext.is_empty() || ext.starts_with('.')).then_some((stem, device, ext))
        })
    }
}

/// Returns the device of `DEVICE STAMP`, with or without a number after it.
fn device_of_mark(mark: &str) -> Option<&str> {
    let numbered = mark
        .rsplit_once(' ')
        .filter(|(_, n)| is_pattern(n, &"0".repeat(n.len())));
    numbered
        .and_then(|(mark, _)| device_before_stamp(mark))
        .or_else(|| device_before_stamp(mark))
}

fn device_before_stamp(mark: &str) -> Option<&str> {
    // After a restore of the service all devices make the copy alike: the id of the history is the stamp.
    if let Some((RESTORED, history)) = mark.rsplit_once(' ') {
        let is_id = !history.is_empty() && history.chars().all(|c| c.is_ascii_alphanumeric());
        return is_id.then_some(RESTORED);
    }
    let (rest, time) = mark.rsplit_once(' ')?;
    let (device, date) = rest.rsplit_once(' ')?;
    let is_stamp = is_pattern(date, "0000-00-00") && is_pattern(time, "000000");
    (is_stamp && !device.is_empty()).then_some(device)
}

/// Returns whether a text has a digit wherever the pattern has one, and is equal to it elsewhere.
fn is_pattern(text: &str, pattern: &str) -> bool {
    let is_as = |(c, p): (u8, u8)| c == p || (p == b'0' && c.is_ascii_digit());
    !text.is_empty() && text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(is_as)
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
