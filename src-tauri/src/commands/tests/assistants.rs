//! The configuration of assistants' programs.

use super::{arguments, call, world};
use serde_json::json;

#[tokio::test]
async fn each_assistant_has_the_entry_that_the_program_makes() {
    for (assistant, file) in [
        ("claude-desktop", "claude_desktop_config.json"),
        ("claude-code", "~/.claude.json"),
        ("vscode", "mcp.json"),
        ("cursor", "~/.cursor/mcp.json"),
        ("gemini", "~/.gemini/settings.json"),
        ("windsurf", "~/.codeium/windsurf/mcp_config.json"),
        ("zed", "settings.json"),
    ] {
        let entry = json!({"servers": {"cairn": {"command": "/usr/bin/cairn", "args": ["mcp"]}}});
        let world = world(vec![Ok(entry.clone())]);
        let asked = call(json!({"op": "assistant_config", "assistant": assistant}));
        let config = world.commands.handle(asked).await.unwrap();
        assert_eq!(
            arguments(&world),
            ["mcp", "install", &format!("--client={assistant}")]
        );
        assert_eq!(config["file"], file);
        let text = config["text"].as_str().unwrap();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(text).unwrap(),
            entry
        );
    }
}

#[tokio::test]
async fn the_entry_of_codex_is_toml() {
    let entry = json!({"mcp_servers": {"cairn": {"command": "C:\\a\\cairn", "args": ["--home", "/h", "mcp"]}}});
    let world = world(vec![Ok(entry.clone())]);
    let asked = call(json!({"op": "assistant_config", "assistant": "codex"}));
    let config = world.commands.handle(asked).await.unwrap();
    let text = config["text"].as_str().unwrap();
    assert!(text.starts_with("[mcp_servers.cairn]\n"), "{text}");
    assert_eq!(toml::from_str::<serde_json::Value>(text).unwrap(), entry);
}

#[tokio::test]
async fn an_entry_is_written_into_the_program_s_own_file() {
    let world = world(vec![Ok(json!({"written": "/home/a/.cursor/mcp.json"}))]);
    let asked = call(json!({"op": "install_assistant", "assistant": "cursor"}));
    let written = world.commands.handle(asked).await.unwrap();
    assert_eq!(written, json!("/home/a/.cursor/mcp.json"));
    assert_eq!(
        arguments(&world),
        ["mcp", "install", "--client=cursor", "--write"]
    );
}
