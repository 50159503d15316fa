//! Starts the daemon when the user logs in.
//!
//! Writes what the system reads at login (a systemd user unit or an autostart entry, a LaunchAgent, a
//! Run key) and removes it again; starts and stops nothing itself.

#[cfg(not(any(windows, target_os = "macos")))]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(not(any(windows, target_os = "macos")))]
use linux as sys;
#[cfg(target_os = "macos")]
use macos as sys;
#[cfg(windows)]
use windows as sys;

use crate::Home;
use std::io;
use std::path::{Path, PathBuf};

/// The daemon of one home, as something that starts at login.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Autostart {
    /// The id of the home among several: `cairn`, or with the name of its directory `cairn-NAME-TAG`.
    id: String,
    /// The id by which earlier versions went.
    former_id: Option<String>,
    exe: PathBuf,
    /// Given on the command line unless it is the default one.
    home: Option<PathBuf>,
}

impl Autostart {
    /// Describes the daemon of `home`, run by the program at `exe`.
    #[must_use]
    pub fn new(exe: &Path, home: &Home) -> Self {
        let default = home.is_default();
        Self {
            id: if default {
                "cairn".to_owned()
            } else {
                readable_id(home)
            },
            former_id: (!default).then(|| format!("cairn-{}", home.tag())),
            exe: exe.to_path_buf(),
            home: (!default).then(|| home.data_dir().to_path_buf()),
        }
    }

    /// Makes the daemon start at login, and returns what was written where, for the user to read.
    ///
    /// # Errors
    /// Returns the error of the system, with the path.
    pub fn enable(&self) -> io::Result<String> {
        self.enable_at(&sys::locations()?)
    }

    /// Undoes [`Autostart::enable`]; does nothing if it isn't enabled.
    ///
    /// # Errors
    /// Returns the error of the system, with the path.
    pub fn disable(&self) -> io::Result<()> {
        self.disable_at(&sys::locations()?)
    }

    /// Returns whether the daemon starts at login.
    ///
    /// # Errors
    /// Returns the error of the system if the user's directories are unknown.
    pub fn is_enabled(&self) -> io::Result<bool> {
        Ok(self.is_enabled_at(&sys::locations()?))
    }

    fn enable_at(&self, locations: &sys::Locations) -> io::Result<String> {
        let written = sys::enable(self, locations)?;
        if let Some(former) = self.former_autostart() {
            sys::disable(&former, locations)?;
        }
        Ok(written)
    }

    fn disable_at(&self, locations: &sys::Locations) -> io::Result<()> {
        if let Some(former) = self.former_autostart() {
            sys::disable(&former, locations)?;
        }
        sys::disable(self, locations)
    }

    fn is_enabled_at(&self, locations: &sys::Locations) -> bool {
        let former = self.former_autostart();
        sys::is_enabled(self, locations)
            || former.is_some_and(|former| sys::is_enabled(&former, locations))
    }

    /// The same daemon as an earlier version wrote it.
    fn former_autostart(&self) -> Option<Self> {
        let id = self.former_id.clone()?;
        Some(Self {
            id,
            former_id: None,
            ..self.clone()
        })
    }

    /// The command line, not yet quoted.
    fn command(&self) -> Vec<String> {
        let mut words = vec![self.exe.to_string_lossy().into_owned()];
        if let Some(home) = &self.home {
            words.push("--home".to_owned());
            words.push(home.to_string_lossy().into_owned());
        }
        words.push("daemon".to_owned());
        words
    }
}

/// Characters of a directory's name in an id.
const MAX_NAME: usize = 32;
/// Digits that distinguish installations whose directories have one name.
const TAG_DIGITS: usize = 8;

/// Returns the id of a home by which a person who finds it among others recognizes it.
fn readable_id(home: &Home) -> String {
    let name = home.data_dir().file_name().unwrap_or_default();
    let plain: String = name
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(MAX_NAME)
        .collect();
    let tag = home.tag();
    let tag = tag.get(..TAG_DIGITS).unwrap_or(&tag);
    match plain.trim_matches('-') {
        "" => format!("cairn-{tag}"),
        plain => format!("cairn-{plain}-{tag}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_name_of_the_home() {
        let id =
            |path: &str| Autostart::new(Path::new("/usr/bin/cairn"), &Home::at(Path::new(path))).id;
        assert!(id("/srv/work laptop").starts_with("cairn-work-laptop-"));
        assert!(id("/srv/.cairn").starts_with("cairn-cairn-"));
        assert_ne!(id("/one/work"), id("/two/work"));
        let odd = id("/srv/...");
        assert_eq!(odd.len(), "cairn-".len() + TAG_DIGITS, "{odd}");
    }
}
