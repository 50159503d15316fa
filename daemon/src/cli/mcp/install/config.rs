//! Entries in the configurations of other programs. Everything else in them stays as it is.

use super::client::Format;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use cairn_platform::{FileMode, write_atomic};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::{Value, json};
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
        Format::Json(field) => with_json_entry(&before, field, &entry),
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
    // A link to a file among somebody's own settings stays a link.
    let target = match std::fs::canonicalize(file) {
        Ok(target) => target,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && !file.is_symlink() => file.to_owned(),
        Err(e) => return Err(e).context(format_args!("find where {shown} leads")),
    };
    // The mode of the program's file stays as it is.
    Ok(write_atomic(&target, text.as_bytes(), FileMode::Inherit)?)
}

/// Comments and commas after the last field are kept: VS Code and Zed write both.
const JSON_WITH_COMMENTS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The mark of UTF-8 that some editors on Windows put before a text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

fn with_json_entry(before: &str, field: &str, entry: &Value) -> CommandResult<String> {
    let (mark, before) = match before.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (BYTE_ORDER_MARK, text),
        None => ("", before),
    };
    let root = CstRootNode::parse(before, &JSON_WITH_COMMENTS)
        .map_err(|e| unusable_error(format!("is not valid JSON ({e})")))?;
    let whole = root
        .object_value_or_create()
        .ok_or_else(|| unusable_error("is not a JSON object".to_owned()))?;
    let servers = whole
        .object_value_or_create(field)
        .ok_or_else(|| taken_error(field))?;
    match servers.get(NAME) {
        Some(property) => property.set_value(syntax(entry)),
        None => _ = servers.append(NAME, syntax(entry)),
    }
    Ok(format!("{mark}{}\n", root.to_string().trim_end()))
}

/// Converts a value for the syntax tree.
fn syntax(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(syntax).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), syntax(value)))
                .collect(),
        ),
    }
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
    fn comments_order_and_layout_of_json_stay() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        let before = "\u{feff}// mine\n{\n  \"theme\": \"One\", /* dark */\n  \"context_servers\": {\n    \"other\": { \"command\": \"b\" }, // works\n  },\n  \"autosave\": \"off\",\n}\n";
        std::fs::write(&file, before).unwrap();
        for command in ["a", "c"] {
            let entry = json!({ "command": command, "args": ["mcp"] });
            add(&file, Format::Json("context_servers"), entry).unwrap();
        }
        let after = std::fs::read_to_string(&file).unwrap();
        let mut lines = after.lines();
        for line in before.lines() {
            assert!(lines.any(|other| other == line), "{line} in {after}");
        }
        assert_eq!(after.matches("\"cairn\"").count(), 1, "{after}");
        assert!(after.contains("\"command\": \"c\""), "{after}");
    }

    #[test]
    fn a_file_with_nothing_but_a_comment_gets_the_entry() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        for before in ["", "\n", "// servers\n", "{}", "{ // none\n}"] {
            std::fs::write(&file, before).unwrap();
            add(&file, JSON, json!({ "command": "a" })).unwrap();
            let after = std::fs::read_to_string(&file).unwrap();
            let comment = before.lines().find(|line| line.contains("//"));
            assert!(comment.is_none_or(|line| after.contains(line)), "{after}");
            let again = with_json_entry(&after, "mcpServers", &json!({ "command": "a" })).unwrap();
            assert_eq!(after, again, "a second time changes nothing");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_the_configuration_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("dotfiles.json");
        std::fs::write(&file, "{}").unwrap();
        let link = dir.path().join("settings.json");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        add(&link, JSON, json!({ "command": "a" })).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(std::fs::read_to_string(&file).unwrap().contains("cairn"));
        std::fs::remove_file(&file).unwrap();
        let failure = add(&link, JSON, json!({ "command": "a" })).unwrap_err();
        assert!(failure.message.contains("leads"), "{failure}");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
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
            (Format::Json("servers"), "{ servers: {} }"),
            (Format::Json("servers"), "{ \"a\": 1"),
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
