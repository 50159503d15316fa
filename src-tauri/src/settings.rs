//! The settings of the tray itself: `tray.json` in the home.
//!
//! Everything about syncing is in the daemon's configuration instead.

use crate::strings::Language;
use cairn_platform::{FileMode, write_atomic};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use ts_rs::TS;

/// The notifications that are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Notify {
    pub conflict: bool,
    pub question: bool,
    pub error: bool,
    /// Something big has been synced.
    pub done: bool,
}

impl Default for Notify {
    fn default() -> Self {
        Self {
            conflict: true,
            question: true,
            error: true,
            done: true,
        }
    }
}

/// The colour of the tray's icon: panels don't report theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum IconScheme {
    /// Light strokes, for a dark panel: what most desktops have.
    #[default]
    Light,
    /// Dark strokes, for a light panel.
    Dark,
}

/// The tray's own settings.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Settings {
    /// The language of the window; none: the system's.
    #[ts(optional = nullable)]
    pub language: Option<Language>,
    pub icon: IconScheme,
    pub notify: Notify,
    /// Onboarding was left for later; it can be taken up again.
    pub setup_left: bool,
}

impl Settings {
    /// Returns the language of the texts.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language.unwrap_or_else(Language::of_system)
    }
}

/// The file of the settings.
#[derive(Clone, Debug)]
pub struct SettingsFile(PathBuf);

impl SettingsFile {
    /// Returns the file in the data directory of a home.
    #[must_use]
    pub fn in_dir(dir: &Path) -> Self {
        Self(dir.join("tray.json"))
    }

    /// Reads the settings; defaults replace what is missing or damaged.
    #[must_use]
    pub fn load(&self) -> Settings {
        std::fs::read(&self.0)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default()
    }

    /// Replaces the file in one step.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn save(&self, settings: &Settings) -> io::Result<()> {
        if let Some(dir) = self.0.parent() {
            std::fs::create_dir_all(dir)?;
        }
        write_atomic(
            &self.0,
            &serde_json::to_vec_pretty(settings)?,
            FileMode::Inherit,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_and_a_damaged_file_gives_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let file = SettingsFile::in_dir(&dir.path().join("new"));
        assert_eq!(file.load(), Settings::default());
        let mut settings = file.load();
        settings.language = Some(Language::De);
        settings.notify.done = false;
        file.save(&settings).unwrap();
        assert_eq!(file.load(), settings);
        std::fs::write(dir.path().join("new/tray.json"), "{\"icon\": 7").unwrap();
        assert_eq!(file.load(), Settings::default());
        std::fs::write(
            dir.path().join("new/tray.json"),
            "{\"language\":\"de\",\"later\":1}",
        )
        .unwrap();
        assert_eq!(file.load().language(), Language::De);
    }
}
