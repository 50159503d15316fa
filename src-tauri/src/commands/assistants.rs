//! The programs of AI assistants, and their configuration for Cairn's tools.

use super::context::Commands;
use crate::program::{ProgramError, ProgramErrorCode, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// A program that can use Cairn's tools: those that `cairn mcp install` knows, in its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Assistant {
    ClaudeDesktop,
    ClaudeCode,
    Vscode,
    Cursor,
    Codex,
    Gemini,
    Windsurf,
    Zed,
}

impl Assistant {
    fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Vscode => "vscode",
            Self::Cursor => "cursor",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
        }
    }

    /// Returns the name of its configuration file.
    fn file(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude_desktop_config.json",
            Self::ClaudeCode => "~/.claude.json",
            Self::Vscode => "mcp.json",
            Self::Cursor => "~/.cursor/mcp.json",
            Self::Codex => "~/.codex/config.toml",
            Self::Gemini => "~/.gemini/settings.json",
            Self::Windsurf => "~/.codeium/windsurf/mcp_config.json",
            Self::Zed => "settings.json",
        }
    }
}

/// A text for an assistant's configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct AssistantConfig {
    /// The name of the configuration file.
    pub file: String,
    pub text: String,
}

/// Returns the entry that lets an assistant run `cairn mcp`, as `cairn mcp install` makes it.
pub(super) async fn config(
    commands: &Commands,
    assistant: Assistant,
) -> Result<AssistantConfig, ProgramError> {
    let client = format!("--client={}", assistant.name());
    let entry: Value = commands
        .document(Run::of(["mcp", "install", &client]))
        .await?;
    Ok(AssistantConfig {
        file: assistant.file().to_owned(),
        text: match assistant {
            Assistant::Codex => toml::to_string(&entry)
                .map_err(|error| ProgramError::new(ProgramErrorCode::Failed, error.to_string()))?,
            Assistant::ClaudeDesktop
            | Assistant::ClaudeCode
            | Assistant::Vscode
            | Assistant::Cursor
            | Assistant::Gemini
            | Assistant::Windsurf
            | Assistant::Zed => format!("{entry:#}"),
        },
    })
}

/// Writes the entry into the program's configuration file, whose other entries stay. Returns the file's path.
pub(super) async fn install(
    commands: &Commands,
    assistant: Assistant,
) -> Result<String, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        written: String,
    }
    let client = format!("--client={}", assistant.name());
    let run = Run::of(["mcp", "install", &client, "--write"]);
    let done: Document = commands.document(run).await?;
    Ok(done.written)
}
