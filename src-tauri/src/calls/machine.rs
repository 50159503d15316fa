//! This machine: pausing, autostart, saving files, settings of the tray, AI assistants.

use crate::calls::{Desk, blocking};
use crate::controller::Input;
use crate::program::{Fault, Run};
use crate::settings::Settings;
use crate::strings::Language;
use crate::tray::PauseFor;
use cairn_control::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use ts_rs::TS;

/// What the window knows when it opens, besides the view.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct Start {
    pub version: String,
    pub language: Language,
    pub settings: Settings,
}

/// What starts when the person logs in to the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
pub struct AutostartView {
    pub tray: bool,
    pub daemon: bool,
}

/// A program that can use Cairn's tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Assistant {
    ClaudeDesktop,
    Vscode,
    Cursor,
}

/// What to paste into an assistant's configuration, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct AssistantConfig {
    /// The name of the file that it belongs in.
    pub file: String,
    pub text: String,
}

pub(super) fn start(desk: &Desk) -> Start {
    let settings = desk.settings();
    Start {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        language: settings.language(),
        settings,
    }
}

/// The request for a pause.
pub(crate) fn pause(span: PauseFor) -> Request {
    let now = OffsetDateTime::now_local().unwrap_or_else(|_| OffsetDateTime::now_utc());
    let until = match span {
        PauseFor::Hour => Some(now + Duration::HOUR),
        PauseFor::Tomorrow => now
            .date()
            .next_day()
            .map(|day| day.midnight().assume_offset(now.offset())),
        PauseFor::Resumed => None,
    };
    Request::Pause {
        folder: None,
        until: until.map(|at| at.unix_timestamp() * 1000),
    }
}

pub(super) async fn save(desk: &Desk, name: &str, text: String) -> Result<Value, Fault> {
    let Some(path) = desk.desktop.pick_save(name).await else {
        return Ok(Value::Bool(false));
    };
    blocking(move || {
        std::fs::write(&path, text)
            .map_err(|error| Fault::failed(format!("can't write {}: {error}", path.display())))
    })
    .await?;
    Ok(Value::Bool(true))
}

pub(super) async fn autostart(desk: &Desk) -> Result<AutostartView, Fault> {
    let document = desk.program.run(Run::of(["autostart"])).await?;
    Ok(AutostartView {
        tray: desk.desktop.autostarts(),
        daemon: document["enabled"].as_bool().unwrap_or(false),
    })
}

pub(super) async fn set_autostart(desk: &Desk, tray: bool, daemon: bool) -> Result<Value, Fault> {
    if desk.desktop.autostarts() != tray {
        desk.desktop.set_autostart(tray)?;
    }
    if autostart(desk).await?.daemon != daemon {
        let state = if daemon { "on" } else { "off" };
        desk.program.run(Run::of(["autostart", state])).await?;
    }
    Ok(Value::Null)
}

pub(super) async fn set_settings(desk: &Desk, settings: Settings) -> Result<Value, Fault> {
    let file = desk.file.clone();
    let kept = settings.clone();
    blocking(move || {
        file.save(&kept)
            .map_err(|error| Fault::failed(format!("can't keep the settings: {error}")))
    })
    .await?;
    *desk
        .settings
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner) = settings.clone();
    // If the controller has ended, so does the program.
    let _ = desk.inputs.send(Input::Settings(settings)).await;
    Ok(Value::Null)
}

/// The configuration that lets an assistant run `cairn mcp`.
pub(super) fn assistant(assistant: Assistant, cairn: &str) -> AssistantConfig {
    let server = json!({ "command": cairn, "args": ["mcp"] });
    let (file, document) = match assistant {
        Assistant::ClaudeDesktop => (
            "claude_desktop_config.json",
            json!({ "mcpServers": { "cairn": server } }),
        ),
        Assistant::Cursor => (
            "~/.cursor/mcp.json",
            json!({ "mcpServers": { "cairn": server } }),
        ),
        Assistant::Vscode => (
            ".vscode/mcp.json",
            json!({ "servers": { "cairn": { "type": "stdio", "command": cairn, "args": ["mcp"] } } }),
        ),
    };
    AssistantConfig {
        file: file.to_owned(),
        text: format!("{document:#}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_until_tomorrow_ends_within_a_day() {
        let now = OffsetDateTime::now_utc().unix_timestamp() * 1000;
        let until = |span| {
            let request = pause(span);
            let Request::Pause { until, .. } = request else {
                panic!("{request:?}");
            };
            until
        };
        let day = 24 * 3_600_000;
        assert!((now..=now + day + 3_600_000).contains(&until(PauseFor::Tomorrow).unwrap()));
        assert!((now..=now + 3_700_000).contains(&until(PauseFor::Hour).unwrap()));
        assert_eq!(until(PauseFor::Resumed), None);
    }

    #[test]
    fn each_assistant_has_its_own_form() {
        for (client, root) in [
            (Assistant::ClaudeDesktop, "mcpServers"),
            (Assistant::Vscode, "servers"),
            (Assistant::Cursor, "mcpServers"),
        ] {
            let config = assistant(client, "/usr/bin/cairn");
            let document: Value = serde_json::from_str(&config.text).unwrap();
            let server = &document[root]["cairn"];
            assert_eq!(server["command"], "/usr/bin/cairn");
            assert_eq!(server["args"], json!(["mcp"]));
        }
    }
}
