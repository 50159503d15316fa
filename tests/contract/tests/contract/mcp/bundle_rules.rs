//! The rules of the published schema of bundles' manifests (MCP Bundle, manifest version 0.3): which fields there are,
//! which have to be there, and what they hold.

use serde_json::Value;

/// The fields of a manifest that are texts, and those that are yes or no.
const TEXTS: [&str; 10] = [
    "description",
    "display_name",
    "documentation",
    "homepage",
    "icon",
    "license",
    "long_description",
    "name",
    "support",
    "version",
];
const FLAGS: [&str; 2] = ["prompts_generated", "tools_generated"];
const REQUIRED: [&str; 6] = [
    "author",
    "description",
    "manifest_version",
    "name",
    "server",
    "version",
];

/// Returns what a manifest breaks of the rules.
pub(crate) fn broken_rules(manifest: &Value) -> Vec<String> {
    let mut broken = Vec::new();
    let Some(fields) = manifest.as_object() else {
        return vec!["it is no object".to_owned()];
    };
    for name in REQUIRED {
        if !fields.contains_key(name) {
            broken.push(format!("{name} is missing"));
        }
    }
    for (name, value) in fields {
        let fits = match name.as_str() {
            "manifest_version" => value == "0.3",
            "author" => has_only(value, &["email", "name", "url"], &["name"]),
            "server" => is_server(value),
            "compatibility" => is_compatibility(value),
            "user_config" => all_values(value, is_setting),
            name if TEXTS.contains(&name) => value.is_string(),
            name if FLAGS.contains(&name) => value.is_boolean(),
            _ => false,
        };
        if !fits {
            broken.push(format!("{name} can't be {value}"));
        }
    }
    broken
}

fn has_only(value: &Value, known: &[&str], required: &[&str]) -> bool {
    value.as_object().is_some_and(|fields| {
        fields.keys().all(|name| known.contains(&name.as_str()))
            && required.iter().all(|name| fields.contains_key(*name))
    })
}

fn all_values(value: &Value, fits: fn(&Value) -> bool) -> bool {
    value
        .as_object()
        .is_some_and(|fields| fields.values().all(fits))
}

fn is_text_or_missing(value: &Value) -> bool {
    value.is_null() || value.is_string()
}

fn is_server(server: &Value) -> bool {
    let parts = ["entry_point", "mcp_config", "type"];
    let kinds = ["binary", "node", "python"];
    let config = &server["mcp_config"];
    let known = ["args", "command", "env", "platform_overrides"];
    let overrides = &config["platform_overrides"];
    has_only(server, &parts, &parts)
        && server["entry_point"].is_string()
        && kinds.iter().any(|kind| server["type"] == *kind)
        && has_only(config, &known, &["command"])
        && is_start(config)
        && (overrides.is_null() || all_values(overrides, is_start))
}

/// Checks how a program is started.
fn is_start(start: &Value) -> bool {
    let args = start["args"].as_array();
    is_text_or_missing(&start["command"])
        && (start["args"].is_null() || args.is_some_and(|args| args.iter().all(Value::is_string)))
        && (start["env"].is_null() || all_values(&start["env"], Value::is_string))
}

fn is_compatibility(compatibility: &Value) -> bool {
    let platforms = ["darwin", "linux", "win32"];
    let named = compatibility["platforms"].as_array();
    has_only(
        compatibility,
        &["claude_desktop", "platforms", "runtimes"],
        &[],
    ) && named.is_none_or(|named| {
        named
            .iter()
            .all(|one| platforms.iter().any(|platform| one == platform))
    })
}

fn is_setting(setting: &Value) -> bool {
    let known = [
        "default",
        "description",
        "max",
        "min",
        "multiple",
        "required",
        "sensitive",
        "title",
        "type",
    ];
    let kinds = ["boolean", "directory", "file", "number", "string"];
    let is_flag = |name: &str| setting[name].is_null() || setting[name].is_boolean();
    has_only(setting, &known, &["description", "title", "type"])
        && setting["title"].is_string()
        && setting["description"].is_string()
        && kinds.iter().any(|kind| setting["type"] == *kind)
        && ["multiple", "required", "sensitive"]
            .into_iter()
            .all(is_flag)
        && !setting["default"].is_object()
}
