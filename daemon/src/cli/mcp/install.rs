//! `cairn mcp install`: the entry that makes an assistant's program start this server.

use crate::app::App;
use crate::failure::{Doing as _, Exit, Failure, Outcome};
use cairn_platform::{FileMode, write_atomic};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Show or write the configuration of an assistant's program
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The program
    #[arg(long, value_enum)]
    client: Client,
    /// Write it into the program's configuration file instead of printing it; other entries stay
    #[arg(long)]
    write: bool,
    /// Another configuration file than the program's own
    #[arg(long, value_name = "FILE", requires = "write")]
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Client {
    ClaudeDesktop,
    Vscode,
    Cursor,
}

impl Client {
    /// Under which field the servers stand.
    fn field(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::ClaudeDesktop | Self::Cursor => "mcpServers",
        }
    }

    /// Its own configuration file.
    fn file(self) -> Option<PathBuf> {
        use cairn_platform::dirs;
        match self {
            Self::ClaudeDesktop => {
                Some(dirs::user_config()?.join("Claude/claude_desktop_config.json"))
            }
            Self::Vscode => Some(dirs::user_config()?.join("Code/User/mcp.json")),
            Self::Cursor => Some(dirs::user_home()?.join(".cursor/mcp.json")),
        }
    }
}

pub(super) fn run(app: &App, args: Args) -> Outcome {
    let entry = entry(app, args.client)?;
    if !args.write {
        let whole = json!({ args.client.field(): { "cairn": entry } });
        let text =
            serde_json::to_string_pretty(&whole).map_err(|e| Failure::failed(e.to_string()))?;
        app.out.line(&text);
        app.out.json(&whole);
        return Ok(());
    }
    let file = args.file.or_else(|| args.client.file()).ok_or_else(|| {
        Failure::failed("this user has no home: name the program's configuration with --file")
    })?;
    add(&file, args.client.field(), entry)?;
    app.out.line(format_args!(
        "Wrote {}. Restart the program to see the tools.",
        file.display()
    ));
    app.out.json(&json!({ "written": file }));
    Ok(())
}

/// Returns the entry with which the program starts this server: as this very program, on this very
/// home. The account is the one that the home is logged in to; there is no secret in the entry.
fn entry(app: &App, client: Client) -> Outcome<Value> {
    let exe = std::env::current_exe().doing("find the program itself")?;
    let mut arguments = Vec::new();
    if !app.home.is_default() {
        arguments.push("--home".to_owned());
        arguments.push(app.home.data_dir().display().to_string());
    }
    arguments.push("mcp".to_owned());
    let mut entry = json!({ "command": exe, "args": arguments });
    if client == Client::Vscode {
        entry["type"] = json!("stdio");
    }
    Ok(entry)
}

/// Adds the entry to a configuration, which is replaced in one step.
fn add(file: &Path, field: &str, entry: Value) -> Outcome {
    let shown = file.display();
    let mut whole = match std::fs::read_to_string(file) {
        Ok(text) if text.trim().is_empty() => json!({}),
        Ok(text) => serde_json::from_str(&text).map_err(|e| {
            let text = format!("{shown} is no plain JSON ({e}): add the entry that `cairn mcp install` prints by hand");
            Failure::new(Exit::Decision, text)
        })?,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => json!({}),
        Err(e) => return Err(e).doing(format_args!("read {shown}")),
    };
    let servers = whole
        .as_object_mut()
        .map(|fields| {
            fields
                .entry(field)
                .or_insert_with(|| Value::Object(Map::new()))
        })
        .and_then(Value::as_object_mut)
        .ok_or_else(|| {
            Failure::new(
                Exit::Decision,
                format!(
                    "{shown} has something else where `{field}` belongs: add the entry by hand"
                ),
            )
        })?;
    servers.insert("cairn".to_owned(), entry);
    let text = format!("{whole:#}\n");
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir).doing(format_args!("make {}", dir.display()))?;
    }
    // The mode of the program's file stays as it is.
    Ok(write_atomic(file, text.as_bytes(), FileMode::Inherit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_entries_stay() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new/mcp.json");
        add(&file, "mcpServers", json!({ "command": "a" })).unwrap();
        let mut whole: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        whole["mcpServers"]["other"] = json!({ "command": "b" });
        whole["theme"] = json!("dark");
        std::fs::write(&file, whole.to_string()).unwrap();
        add(&file, "mcpServers", json!({ "command": "c" })).unwrap();
        let whole: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(
            whole,
            json!({
                "theme": "dark",
                "mcpServers": { "cairn": { "command": "c" }, "other": { "command": "b" } },
            })
        );
    }

    #[test]
    fn what_is_no_plain_json_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        for text in ["{ // a comment\n}", "[]", "{\"servers\": 1}"] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(
                add(&file, "servers", json!({})).unwrap_err().exit,
                Exit::Decision
            );
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
