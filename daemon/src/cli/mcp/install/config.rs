//! Entries in the configurations of other programs. Everything else in them stays as it is.

use super::client::Format;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use cairn_platform::{FileMode, write_atomic};
use serde_json::{Map, Value, json};
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table};

const NAME: &str = "cairn";

/// Returns the entry of a configuration, as text and as JSON.
pub(super) fn entry_text(format: Format, entry: Value) -> CommandResult<(String, Value)> {
    let whole = match format {
        Format::Json(field) | Format::Toml(field) => json!({ field: { NAME: entry } }),
    };
    let text = match format {
        Format::Json(_) => {
            serde_json::to_string_pretty(&whole).map_err(|e| Failure::failed(e.to_string()))?
        }
        Format::Toml(field) => with_toml_entry("", field, &whole[field][NAME])?,
    };
    Ok((text.trim_end().to_owned(), whole))
}

/// Adds the entry to a configuration, which is replaced in one step.
pub(super) fn add(file: &Path, format: Format, entry: Value) -> CommandResult {
    let shown = file.display();
    let before = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(e).context(format_args!("read {shown}")),
    };
    let text = match format {
        Format::Json(field) => with_json_entry(&before, field, entry),
        Format::Toml(field) => with_toml_entry(&before, field, &entry),
    };
    let text = text.map_err(|failure| {
        let text = format!(
            "{shown} {}: add the entry that `cairn mcp install` prints by hand",
            failure.message
        );
        Failure::new(failure.exit, text)
    })?;
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir).context(format_args!("make {}", dir.display()))?;
    }
    // The mode of the program's file stays as it is.
    Ok(write_atomic(file, text.as_bytes(), FileMode::Inherit)?)
}

fn with_json_entry(before: &str, field: &str, entry: Value) -> CommandResult<String> {
    let mut whole = if before.trim().is_empty() {
        json!({})
    } else {
        serde_json::from_str(before)
            .map_err(|e| unusable_error(format!("is not plain JSON ({e})")))?
    };
    let servers = whole
        .as_object_mut()
        .map(|fields| {
            fields
                .entry(field)
                .or_insert_with(|| Value::Object(Map::new()))
        })
        .and_then(Value::as_object_mut)
        .ok_or_else(|| taken_error(field))?;
    servers.insert(NAME.to_owned(), entry);
    Ok(format!("{whole:#}\n"))
}

fn with_toml_entry(before: &str, field: &str, entry: &Value) -> CommandResult<String> {
    let mut whole: DocumentMut = before
        .parse()
        .map_err(|e| unusable_error(format!("isn't valid TOML ({e})")))?;
    let servers = whole.entry(field).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_mut().ok_or_else(|| taken_error(field))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut table = Table::new();
    table["command"] = toml_edit::value(text(&entry["command"]));
    let args = entry["args"].as_array().into_iter().flatten().map(text);
    table["args"] = toml_edit::value(args.collect::<toml_edit::Array>());
    servers.insert(NAME, Item::Table(table));
    Ok(whole.to_string())
}

fn unusable_error(message: String) -> Failure {
    Failure::new(Exit::Decision, message)
}

fn taken_error(field: &str) -> Failure {
    unusable_error(format!("has something else where `{field}` belongs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: Format = Format::Json("mcpServers");
    const TOML: Format = Format::Toml("mcp_servers");

    #[test]
    fn other_entries_stay() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new/mcp.json");
        add(&file, JSON, json!({ "command": "a" })).unwrap();
        let mut whole: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        whole["mcpServers"]["other"] = json!({ "command": "b" });
        whole["theme"] = json!("dark");
        std::fs::write(&file, whole.to_string()).unwrap();
        add(&file, JSON, json!({ "command": "c" })).unwrap();
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
    fn other_entries_and_comments_of_toml_stay() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        let before = "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"b\"\n";
        std::fs::write(&file, before).unwrap();
        for command in ["a", "c"] {
            let entry = json!({ "command": command, "args": ["--home", "h", "mcp"] });
            add(&file, TOML, entry).unwrap();
        }
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with(before), "{text}");
        let whole: DocumentMut = text.parse().unwrap();
        let entry = &whole["mcp_servers"]["cairn"];
        assert_eq!(entry["command"].as_str(), Some("c"));
        assert_eq!(entry["args"].as_array().unwrap().len(), 3);
        let (shown, _) = entry_text(TOML, json!({ "command": "a", "args": ["mcp"] })).unwrap();
        let expected = "[mcp_servers.cairn]\ncommand = \"a\"\nargs = [\"mcp\"]";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_is_not_understood_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        for (format, text) in [
            (Format::Json("servers"), "{ // a comment\n}"),
            (Format::Json("servers"), "[]"),
            (Format::Json("servers"), "{\"servers\": 1}"),
            (TOML, "{}"),
            (TOML, "mcp_servers = 1"),
        ] {
            std::fs::write(&file, text).unwrap();
            let failure = add(&file, format, json!({})).unwrap_err();
            assert_eq!(failure.exit, Exit::Decision, "{text}");
            assert!(failure.message.contains("by hand"), "{failure}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
