//! The programs that assistants run in, and where each keeps its list of tool servers.

use cairn_platform::dirs;
use std::path::PathBuf;

/// A program that starts tool servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Vscode,
    Cursor,
    Codex,
    Gemini,
    Windsurf,
    Zed,
}

/// The form of a program's configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// JSON with the servers in this field.
    Json(&'static str),
    /// TOML with the servers in this table.
    Toml(&'static str),
}

impl Client {
    pub(super) fn format(self) -> Format {
        match self {
            Self::Vscode => Format::Json("servers"),
            Self::Zed => Format::Json("context_servers"),
            Self::Codex => Format::Toml("mcp_servers"),
            Self::ClaudeDesktop
            | Self::ClaudeCode
            | Self::Cursor
            | Self::Gemini
            | Self::Windsurf => Format::Json("mcpServers"),
        }
    }

    /// Returns true if its entries name the transport, standard input and output.
    pub(super) fn names_transport(self) -> bool {
        matches!(self, Self::Vscode | Self::ClaudeCode)
    }

    /// Returns its own configuration file; `None` for a user without a home.
    pub(super) fn file(self) -> Option<PathBuf> {
        let in_config = |path| Some(dirs::user_config()?.join(path));
        let in_home = |path| Some(dirs::user_home()?.join(path));
        match self {
            Self::ClaudeDesktop => in_config("Claude/claude_desktop_config.json"),
            Self::ClaudeCode => in_home(".claude.json"),
            Self::Vscode => in_config("Code/User/mcp.json"),
            Self::Cursor => in_home(".cursor/mcp.json"),
            Self::Codex => in_home(".codex/config.toml"),
            Self::Gemini => in_home(".gemini/settings.json"),
            Self::Windsurf => in_home(".codeium/windsurf/mcp_config.json"),
            Self::Zed => in_config("zed/settings.json"),
        }
    }
}
