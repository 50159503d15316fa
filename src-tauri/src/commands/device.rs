//! The device itself: settings of the tray and the daemon, autostart, files, bug reports.

use super::context::{Commands, path_below, run_blocking};
use crate::input::Input;
use crate::program::{ProgramError, Run};
use crate::settings::Settings;
use crate::strings::Language;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use ts_rs::TS;

/// Constants and settings for a window that opens.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct StartInfo {
    pub version: String,
    pub language: Language,
    pub settings: Settings,
}

/// The programs that start when the person logs in to the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
pub struct AutostartView {
    pub tray: bool,
    pub daemon: bool,
}

/// A setting of the daemon that the window can change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub enum ConfigKey {
    #[serde(rename = "limits.up")]
    LimitUp,
    #[serde(rename = "limits.down")]
    LimitDown,
    #[serde(rename = "pause.on_metered")]
    PauseOnMetered,
    #[serde(rename = "pause.on_battery")]
    PauseOnBattery,
}

impl ConfigKey {
    /// Returns the key in the configuration file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LimitUp => "limits.up",
            Self::LimitDown => "limits.down",
            Self::PauseOnMetered => "pause.on_metered",
            Self::PauseOnBattery => "pause.on_battery",
        }
    }
}

/// The daemon's settings that the window shows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct DaemonConfig {
    /// Bytes per second, or `off`.
    pub limit_up: String,
    pub limit_down: String,
    pub pause_on_metered: bool,
    pub pause_on_battery: bool,
}

pub(super) async fn start(commands: &Commands) -> Result<StartInfo, ProgramError> {
    // If the controller has ended, so does the program.
    let _ = commands.inputs.send(Input::WindowReady).await;
    let settings = commands.settings();
    Ok(StartInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        language: settings.language(),
        settings,
    })
}

pub(super) async fn reveal(
    commands: &Commands,
    folder: String,
    path: String,
) -> Result<(), ProgramError> {
    commands.desktop.reveal(path_below(&folder, &path)?)
}

pub(super) async fn open_folder(commands: &Commands, folder: String) -> Result<(), ProgramError> {
    commands.desktop.open(folder.into())
}

pub(super) async fn pick_folder(commands: &Commands) -> Result<Option<PathBuf>, ProgramError> {
    Ok(commands.desktop.pick_folder().await)
}

pub(super) async fn save_text(
    commands: &Commands,
    name: String,
    text: String,
) -> Result<bool, ProgramError> {
    let Some(path) = commands.desktop.pick_save(&name).await else {
        return Ok(false);
    };
    run_blocking(move || {
        std::fs::write(&path, text).map_err(|error| {
            ProgramError::failed(format!("can't write {}: {error}", path.display()))
        })
    })
    .await?;
    Ok(true)
}

pub(super) async fn config(commands: &Commands) -> Result<DaemonConfig, ProgramError> {
    let document: Value = commands.document(Run::of(["config", "get"])).await?;
    let limit = |key: ConfigKey| match &document[key.name()] {
        Value::String(text) => text.clone(),
        Value::Number(bytes) => bytes.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => "off".to_owned(),
    };
    let flag = |key: ConfigKey| document[key.name()].as_bool().unwrap_or(false);
    Ok(DaemonConfig {
        limit_up: limit(ConfigKey::LimitUp),
        limit_down: limit(ConfigKey::LimitDown),
        pause_on_metered: flag(ConfigKey::PauseOnMetered),
        pause_on_battery: flag(ConfigKey::PauseOnBattery),
    })
}

pub(super) async fn set_config(
    commands: &Commands,
    key: ConfigKey,
    value: String,
) -> Result<(), ProgramError> {
    let run = Run::of(["config", "set", key.name(), &value]);
    commands.run(run).await
}

pub(super) async fn autostart(commands: &Commands) -> Result<AutostartView, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        enabled: bool,
    }
    let found: Document = commands.document(Run::of(["autostart"])).await?;
    Ok(AutostartView {
        tray: commands.desktop.autostarts(),
        daemon: found.enabled,
    })
}

pub(super) async fn set_autostart(
    commands: &Commands,
    tray: bool,
    daemon: bool,
) -> Result<(), ProgramError> {
    if commands.desktop.autostarts() != tray {
        commands.desktop.set_autostart(tray)?;
    }
    if autostart(commands).await?.daemon != daemon {
        let state = if daemon { "on" } else { "off" };
        commands.run(Run::of(["autostart", state])).await?;
    }
    Ok(())
}

pub(super) async fn set_settings(
    commands: &Commands,
    settings: Settings,
) -> Result<(), ProgramError> {
    let file = commands.file.clone();
    let saved = settings.clone();
    run_blocking(move || {
        file.save(&saved)
            .map_err(|error| ProgramError::failed(format!("can't save the settings: {error}")))
    })
    .await?;
    *commands.settings.lock() = settings.clone();
    // If the controller has ended, so does the program.
    let _ = commands.inputs.send(Input::Settings(settings)).await;
    Ok(())
}

/// Packs versions, settings, state and logs where the person chooses. Returns the archive's path; none if the person
/// cancelled.
pub(super) async fn bug_report(
    commands: &Commands,
    name: String,
    names: bool,
) -> Result<Option<PathBuf>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        path: PathBuf,
    }
    let Some(path) = commands.desktop.pick_save(&name).await else {
        return Ok(None);
    };
    let mut arguments = vec!["bugreport".to_owned()];
    arguments.extend(names.then(|| "--names".to_owned()));
    arguments.push(format!("--out={}", path.display()));
    let made: Document = commands.document(Run::of(arguments)).await?;
    Ok(Some(made.path))
}
