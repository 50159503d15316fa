//! `cairn mcp bundle`: the bundle follows the published rules, and what it says to start serves the account of this
//! machine.

use crate::commands::world::World;
use crate::mcp::bundle_rules::broken_rules;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

/// Returns the content and the mode of a file in the bundle.
fn part(world: &World, name: &str) -> (Vec<u8>, Option<u32>) {
    let file = File::open(world.path("cairn.mcpb")).expect("it was written");
    let mut bundle = zip::ZipArchive::new(file).expect("it is a zip archive");
    let mut part = bundle.by_name(name).expect("it is in the bundle");
    let mut content = Vec::new();
    part.read_to_end(&mut content).expect("it is whole");
    (content, part.unix_mode())
}

/// Starts what a manifest names, with the settings as they are offered, and asks for the account.
fn start(manifest: &Value) -> String {
    let config = &manifest["server"]["mcp_config"];
    let arguments = config["args"].as_array().expect("a list").iter();
    let mut command = Command::new(config["command"].as_str().expect("a program"));
    command.args(arguments.map(|argument| argument.as_str().expect("a text")));
    for (name, value) in config["env"].as_object().expect("variables") {
        let setting = value.as_str().expect("a text");
        let setting = setting
            .trim_start_matches("${user_config.")
            .trim_end_matches('}');
        let default = &manifest["user_config"][setting]["default"];
        let text = default
            .as_str()
            .map_or_else(|| default.to_string(), str::to_owned);
        command.env(name, text);
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "get_account_info", "arguments": {} },
    });
    let mut input = child.stdin.take().expect("it is piped");
    write!(input, "{hello}\n{ready}\n{call}\n").expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_bundle_follows_the_published_rules_and_serves_the_account_of_this_machine() {
    let world = World::new();
    world.login("a");
    let written = world.json("a", &["mcp", "bundle", "cairn.mcpb"]);
    assert_eq!(written["written"], "cairn.mcpb");
    let (manifest, _) = part(&world, "manifest.json");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(broken_rules(&manifest), Vec::<String>::new());
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let entry_point = manifest["server"]["entry_point"].as_str().expect("a text");
    let (_, mode) = part(&world, entry_point);
    assert!(mode.is_some_and(|mode| mode & 0o100 != 0), "{mode:?}");
    let (icon, _) = part(&world, "icon.png");
    assert!(icon.starts_with(b"\x89PNG"));
    let answers = start(&manifest);
    assert!(answers.contains("owner@example.com"), "{answers}");

    // A bundle of somebody is not replaced unasked.
    world
        .run("a", &["mcp", "bundle", "cairn.mcpb"])
        .assert_refused(5, &["--force"]);
    world.json("a", &["mcp", "bundle", "cairn.mcpb", "--force"]);
}
