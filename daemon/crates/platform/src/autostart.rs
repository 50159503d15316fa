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
    /// The id of the home among several: `cairn` or `cairn-TAG`.
    id: String,
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
                format!("cairn-{}", home.tag())
            },
            exe: exe.to_path_buf(),
            home: (!default).then(|| home.data_dir().to_path_buf()),
        }
    }

    /// Makes the daemon start at login, and returns what was written where, for the user to read.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn enable(&self) -> io::Result<String> {
        sys::enable(self, &sys::locations()?)
    }

    /// Undoes [`Autostart::enable`]; does nothing if it isn't enabled.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn disable(&self) -> io::Result<()> {
        sys::disable(self, &sys::locations()?)
    }

    /// Returns whether the daemon starts at login.
    ///
    /// # Errors
    /// The system's, if the user's directories are unknown.
    pub fn is_enabled(&self) -> io::Result<bool> {
        Ok(sys::is_enabled(self, &sys::locations()?))
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
