//! `cairn mcp install --write`: the configuration of each assistant's program, in its own file and form.

use crate::commands::world::World;
use serde_json::{Value, json};
use std::path::Path;

/// The program, its file below the home or the configuration directory, and the field with the servers.
const CLIENTS: [(&str, &str, &str); 8] = [
    (
        "claude-desktop",
        "config/Claude/claude_desktop_config.json",
        "mcpServers",
    ),
    ("claude-code", "home/.claude.json", "mcpServers"),
    ("vscode", "config/Code/User/mcp.json", "servers"),
    ("cursor", "home/.cursor/mcp.json", "mcpServers"),
    ("codex", "home/.codex/config.toml", "mcp_servers"),
    ("gemini", "home/.gemini/settings.json", "mcpServers"),
    (
        "windsurf",
        "home/.codeium/windsurf/mcp_config.json",
        "mcpServers",
    ),
    ("zed", "config/zed/settings.json", "context_servers"),
];

/// A configuration with another server, something else, and comments where the program allows them.
fn configuration(file: &str, field: &str) -> String {
    if file.ends_with(".toml") {
        return format!("# mine\nmodel = \"x\"\n\n[{field}.other]\ncommand = \"b\"\n");
    }
    format!(
        "{{\n  // mine\n  \"theme\": \"dark\",\n  \"{field}\": {{\n    \"other\": {{ \"command\": \"b\" }}\n  }}\n}}\n"
    )
}

/// Returns the entry of a server in a configuration.
fn entry(file: &str, field: &str, server: &str, text: &str) -> Value {
    if !file.ends_with(".toml") {
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let whole: Value =
            serde_json::from_str(&lines.collect::<Vec<_>>().join("\n")).expect("it is JSON");
        return whole[field][server].clone();
    }
    // Texts and lists of texts are written in TOML as in JSON.
    let table = format!("[{field}.{server}]");
    let lines = text.lines().skip_while(|line| *line != table).skip(1);
    let pairs = lines.map_while(|line| line.split_once(" = "));
    pairs
        .map(|(name, value)| {
            let value: Value = serde_json::from_str(value).expect("it is a text or a list");
            (name.to_owned(), value)
        })
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn every_program_gets_the_entry_in_its_own_file() {
    for begins_empty in [true, false] {
        let world = World::new();
        let (user, config) = (world.text("home"), world.text("config"));
        let variables = [("HOME", &*user), ("XDG_CONFIG_HOME", &*config)];
        for (client, file, field) in CLIENTS {
            let path = world.path(file);
            if !begins_empty {
                std::fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
                std::fs::write(&path, configuration(file, field)).expect("it is written");
            }
            let install = ["--json", "mcp", "install", "--client", client, "--write"];
            let run = world.run_with("a", &install, &variables);
            assert_eq!(run.code, 0, "{client}: {run:?}");
            let written: Value = serde_json::from_str(&run.stdout).expect("a document");
            assert_eq!(written["written"], json!(world.text(file)), "{client}");

            let text = std::fs::read_to_string(&path).expect("it is there");
            let own = entry(file, field, "cairn", &text);
            let command = own["command"].as_str().expect("a command");
            assert!(Path::new(command).is_absolute(), "{own}");
            assert_eq!(own["args"], json!(["--home", world.text("a"), "mcp"]));
            let is_named = ["vscode", "claude-code"].contains(&client);
            assert_eq!(own["type"], json!(is_named.then_some("stdio")), "{client}");
            if !begins_empty {
                let other = entry(file, field, "other", &text);
                assert_eq!(other["command"], "b", "{client}: {text}");
                assert!(text.contains("mine"), "{client}: {text}");
            }
            // A second time changes nothing.
            assert_eq!(world.run_with("a", &install, &variables).code, 0);
            let again = std::fs::read_to_string(&path).expect("it is there");
            assert_eq!(again, text, "{client}");
        }
    }
}
