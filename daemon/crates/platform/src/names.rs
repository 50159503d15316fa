//! The names that a file system can have, and those that are one name to it.
//!
//! Decides about single names; which of two clashing nodes keeps its name, the planner decides.

use cairn_model::Name;
use std::io;
use std::path::Path;

/// The rules of a file system for names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameRules {
    /// Refuses the characters and names that Windows reserves.
    pub windows: bool,
    /// Treats `a` and `A` as one name.
    pub ignores_case: bool,
    /// Treats the composed and the decomposed form of a letter as one name.
    pub ignores_normal_form: bool,
}

/// The reason why a name can't exist on this disk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    #[error(
        "the name {name:?} contains {character:?}, which this disk doesn't allow; rename it elsewhere"
    )]
    Character { name: String, character: char },
    #[error("the name {name:?} is reserved for a device on Windows; rename it elsewhere")]
    Device { name: String },
    #[error(
        "the name {name:?} ends with a dot or a space, which Windows drops; rename it elsewhere"
    )]
    Ending { name: String },
    #[error(
        "the name {name:?} has {units} UTF-16 units, this disk allows 255; shorten it on another device"
    )]
    TooLong { name: String, units: usize },
}

impl Default for NameRules {
    /// Returns the usual rules of this system's disks.
    fn default() -> Self {
        let windows = cfg!(windows);
        let macos = cfg!(target_os = "macos");
        Self {
            windows,
            ignores_case: windows || macos,
            ignores_normal_form: macos,
        }
    }
}

impl NameRules {
    /// Finds out by making files in `dir`, which is created where it is missing and belongs to Cairn.
    ///
    /// # Errors
    /// Returns the error of the file system, with the path.
    pub fn probe(dir: &Path) -> io::Result<Self> {
        match std::fs::create_dir(dir) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                return Err(crate::disk::in_context("make the directory", dir, e));
            }
            _ => {}
        }
        let same = |made: &str, asked: &str| -> io::Result<bool> {
            let file = tempfile::Builder::new()
                .prefix(made)
                .suffix(".probe")
                .tempfile_in(dir)
                .map_err(|e| crate::disk::in_context("make a file in", dir, e))?;
            let path = file.path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .ok_or(io::ErrorKind::InvalidData)?;
            Ok(path.with_file_name(name.replacen(made, asked, 1)).exists())
        };
        let colon = tempfile::Builder::new().prefix("cairn:").tempfile_in(dir);
        Ok(Self {
            windows: cfg!(windows) || colon.is_err(),
            ignores_case: same("case-a", "CASE-A")?,
            ignores_normal_form: same("e\u{301}", "\u{e9}")?,
        })
    }

    /// Checks that a name can exist on this disk.
    ///
    /// # Errors
    /// [`NameProblem`] says why not.
    pub fn check_name(&self, name: &Name) -> Result<(), NameProblem> {
        if !self.windows {
            return Ok(());
        }
        let text = name.as_str();
        let owned = || text.to_owned();
        if let Some(character) = text.chars().find(|&c| is_reserved_character(c)) {
            return Err(NameProblem::Character {
                name: owned(),
                character,
            });
        }
        if text.ends_with(['.', ' ']) {
            return Err(NameProblem::Ending { name: owned() });
        }
        if is_device(text) {
            return Err(NameProblem::Device { name: owned() });
        }
        let units = text.encode_utf16().count();
        if units > 255 {
            return Err(NameProblem::TooLong {
                name: owned(),
                units,
            });
        }
        Ok(())
    }
}

/// Checks a name against the usual rules of this system's disks.
///
/// # Errors
/// [`NameProblem`] with the reason.
pub fn check_name(name: &Name) -> Result<(), NameProblem> {
    NameRules::default().check_name(name)
}

/// Returns whether `a` and `A` are one name on the file system of `dir`, a directory of Cairn's own.
///
/// # Errors
/// Returns the error of the file system, with the path.
pub fn probe_case(dir: &Path) -> io::Result<bool> {
    Ok(NameRules::probe(dir)?.ignores_case)
}

/// Returns whether Windows reserves the character ("Naming Files, Paths, and Namespaces").
fn is_reserved_character(c: char) -> bool {
    c < ' ' || matches!(c, '<' | '>' | ':' | '"' | '\\' | '|' | '?' | '*')
}

/// `CON`, `NUL.txt`, `com1 .log`, `LPT²`: the extension and spaces before it don't count.
fn is_device(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or(text).trim_end();
    let upper = stem.to_uppercase();
    if matches!(
        upper.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$"
    ) {
        return true;
    }
    let mut rest = match upper.strip_prefix("COM").or(upper.strip_prefix("LPT")) {
        Some(rest) => rest.chars(),
        None => return false,
    };
    matches!(
        (rest.next(), rest.next()),
        (Some('1'..='9' | '¹' | '²' | '³'), None)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWS: NameRules = NameRules {
        windows: true,
        ignores_case: true,
        ignores_normal_form: false,
    };

    fn check(text: &str) -> Result<(), NameProblem> {
        WINDOWS.check_name(&Name::new(text).unwrap())
    }

    #[test]
    fn windows_holds_ordinary_names() {
        for text in [
            "a.txt",
            ".hidden",
            "console.log",
            "com",
            "COM10",
            "nul-1",
            "é ü.tar.gz",
        ] {
            assert_eq!(check(text), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn windows_refuses_devices_with_any_extension() {
        for text in [
            "CON",
            "nul",
            "Aux.txt",
            "com1",
            "LPT9.tar.gz",
            "com² .x",
            "PRN ",
            "conin$",
        ] {
            let found = check(text);
            assert!(
                matches!(
                    found,
                    Err(NameProblem::Device { .. } | NameProblem::Ending { .. })
                ),
                "{text:?}: {found:?}"
            );
        }
    }

    #[test]
    fn windows_refuses_reserved_characters_and_endings() {
        for text in [
            "a:b",
            "what?",
            "tab\there",
            "back\\slash",
            "a|b",
            "\"q\"",
            "<",
            "*",
        ] {
            assert!(
                matches!(check(text), Err(NameProblem::Character { .. })),
                "{text:?}"
            );
        }
        for text in ["dot.", "space "] {
            assert!(
                matches!(check(text), Err(NameProblem::Ending { .. })),
                "{text:?}"
            );
        }
    }

    #[test]
    fn rules_of_a_unix_disk_accept_every_name() {
        let unix = NameRules {
            windows: false,
            ignores_case: false,
            ignores_normal_form: false,
        };
        for text in ["CON", "a:b", "dot.", "\u{1}"] {
            assert_eq!(unix.check_name(&Name::new(text).unwrap()), Ok(()));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn probing_an_ordinary_linux_disk_finds_that_case_counts() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own");
        let rules = NameRules::probe(&own).unwrap();
        assert!(!rules.ignores_case);
        assert!(!rules.ignores_normal_form);
        assert!(!rules.windows);
        let left = std::fs::read_dir(&own).unwrap().count();
        assert_eq!(left, 0, "the probe cleans up");
    }
}
