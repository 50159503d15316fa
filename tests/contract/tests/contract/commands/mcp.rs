//! `cairn mcp` as a client starts it: a real process, its streams, its end.

use crate::commands::session::Session;
use crate::commands::world::{PASSPHRASE, Stopping, World};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// The number of tools in the service's reference.
fn catalogue() -> usize {
    let reference = include_str!("../mcp/catalogue.json");
    let reference: Vec<Value> = serde_json::from_str(reference).expect("the reference is JSON");
    reference.len()
}

fn by_key<'a>(world: &'a World, more: &[(&'a str, &'a str)]) -> Session {
    let own = [
        ("SERVICE_API_KEY", "ck_dev_owner"),
        ("SERVICE_API_URL", world.url.as_str()),
    ];
    Session::start(world, "none", &[&own[..], more].concat())
}

#[test]
fn a_session_speaks_only_the_protocol_and_ends_with_its_input() {
    let world = World::new();
    let mut session = by_key(&world, &[]);
    let list = session.ask("tools/list", json!({}));
    assert_eq!(
        list["result"]["tools"].as_array().map(Vec::len),
        Some(catalogue())
    );
    let made = session.call("create_folder", json!({ "name": "f" }));
    assert_eq!(made["name"], "f");
    session.send(&json!("rubbish"));
    assert!(
        session
            .line()
            .is_some_and(|line| line["error"]["code"] == -32600)
    );
    assert_eq!(session.end(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_termination_signal_ends_it_cleanly() {
    let world = World::new();
    let mut session = by_key(&world, &[]);
    let pid = session.child.id().to_string();
    let kill = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    assert!(session.line().is_none());
    assert_eq!(session.child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn what_the_tools_upload_the_command_line_reads_and_the_reverse() {
    let world = World::new();
    world.login("a");
    world.write("up.txt", "from the tools");
    world.write("cli.txt", "from the command line");
    world.json("a", &["upload", "cli.txt"]);
    let mut session = by_key(&world, &[("SERVICE_PASSPHRASE", PASSPHRASE)]);
    let up = session.call("upload_file", json!({ "local_path": "up.txt" }));
    world.json("a", &["download", "/up.txt", "--out", "back.txt"]);
    let back = std::fs::read_to_string(world.path("back.txt")).expect("it is there");
    assert_eq!(back, "from the tools");
    let id = up["file_uuid"].as_str().expect("an id");
    assert_eq!(
        world.json("a", &["info", id])["verified"],
        true,
        "it is sealed"
    );
    let list = session.call("list_files", json!({}));
    let cli = list["content"]
        .as_array()
        .and_then(|nodes| nodes.iter().find(|node| node["name"] == "cli.txt"))
        .expect("it is listed");
    let read = session.call("read_file_content", json!({ "file_uuid": cli["id"] }));
    assert_eq!(read["content"], "from the command line");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn without_variables_it_is_the_account_of_this_machine() {
    let world = World::new();
    world
        .run("a", &["mcp"])
        .assert_refused(3, &["SERVICE_API_KEY is not set", "cairn login"]);
    world.login("a");
    world.write("x", "content");
    let mut session = Session::start(&world, "a", &[("CAIRN_MCP_TOOLSETS", "content,files")]);
    let list = session.ask("tools/list", json!({}));
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(13));
    let up = session.call("upload_file", json!({ "local_path": "x" }));
    assert_eq!(up["size"], 7);
    assert_eq!(session.end(), Some(0));
}

#[test]
fn an_unset_key_of_a_bundle_means_the_account_of_this_machine() {
    let world = World::new();
    for unset in ["", "${user_config.api_key}"] {
        let key = [("SERVICE_API_KEY", unset)];
        let response = world.run_with("none", &["mcp"], &key);
        response.assert_refused(2, &["SERVICE_API_KEY is empty"]);
    }
    world.login("a");
    for unset in ["", "${user_config.api_key}"] {
        let mut session = Session::start(&world, "a", &[("SERVICE_API_KEY", unset)]);
        let account = session.call("get_account_info", json!({}));
        assert!(account["email"].is_string(), "{account}");
        assert_eq!(session.end(), Some(0));
    }
    let blank = world.run_with("a", &["mcp"], &[("SERVICE_API_KEY", " ")]);
    blank.assert_refused(2, &["SERVICE_API_KEY is empty"]);
}

#[test]
fn an_address_may_end_with_the_path_of_the_interface() {
    let world = World::new();
    let url = format!("{}/api/v1/", world.url);
    let variables = [
        ("SERVICE_API_KEY", "ck_dev_owner"),
        ("SERVICE_API_URL", url.as_str()),
    ];
    let mut session = Session::start(&world, "none", &variables);
    let list = session.call("list_files", json!({}));
    assert_eq!(list["totalElements"], 0, "{list}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn wrong_settings_are_reported_before_anything_is_served() {
    let world = World::new();
    for (variables, words) in [
        (vec![("SERVICE_API_KEY", "  ")], "SERVICE_API_KEY is empty"),
        (
            vec![("SERVICE_API_KEY", "k"), ("SERVICE_API_URL", "nowhere")],
            "is not a server address",
        ),
        (
            vec![("SERVICE_API_KEY", "k"), ("SERVICE_API_URL", "ftp://x")],
            "SERVICE_API_URL: `ftp://x` is not a server address",
        ),
        (
            vec![
                ("SERVICE_API_KEY", "k"),
                ("SERVICE_API_URL", "http://example.com"),
            ],
            "SERVICE_API_URL: http://example.com is not encrypted",
        ),
        (
            vec![
                ("SERVICE_API_KEY", "k"),
                ("SERVICE_FILE_SERVER_URL", "http://192.0.2.1"),
            ],
            "SERVICE_FILE_SERVER_URL: http://192.0.2.1 is not encrypted",
        ),
        (
            vec![("SERVICE_API_KEY", "k"), ("CAIRN_MCP_TOOLSETS", "nope")],
            "no toolset `nope`",
        ),
        (
            vec![("SERVICE_API_KEY", "k"), ("CAIRN_MCP_CONFIRM", "perhaps")],
            "always, risky or never",
        ),
    ] {
        let response = world.run_with("none", &["mcp"], &variables);
        response.assert_refused(2, &[words]);
        assert_eq!(response.stdout, "");
    }
}

/// Splits a command as a shell does that knows nothing but single quotes and backslashes.
fn words(command: &str) -> Vec<String> {
    let output = Command::new("sh")
        .args([
            "-c",
            &format!("for word in {command}; do printf '%s\\n' \"$word\"; done"),
        ])
        .output()
        .expect("there is a shell");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_that_is_written_runs() {
    let world = World::new();
    world.login("a");
    world.write("it's a file.txt", "content");
    world.json("a", &["mkdir", "/docs"]);
    world.json("a", &["upload", "it's a file.txt", "--to", "/docs"]);
    let mut session = by_key(&world, &[]);
    let docs = world.json("a", &["info", "/docs"])["id"].clone();
    let file = "/docs/it's a file.txt";
    for (operation, arguments) in [
        (
            "upload",
            json!({ "file_path": "it's a file.txt", "target_folder_uuid": docs, "options": { "name": "two.txt" } }),
        ),
        (
            "download",
            json!({ "file_path": file, "options": { "out": "out.txt", "force": true } }),
        ),
        (
            "download_folder",
            json!({ "target_folder_uuid": docs, "options": { "out": "out", "limit": 1 } }),
        ),
        (
            "download_folder",
            json!({ "target_folder_uuid": docs, "file_path": "out by id" }),
        ),
        ("list", json!({ "target_folder_uuid": docs })),
        ("list", json!({})),
        ("tree", json!({ "options": { "depth": 2 } })),
        (
            "search",
            json!({ "query": "it's", "options": { "limit": 5 } }),
        ),
        (
            "share",
            json!({ "file_path": file, "options": { "expires": "7d", "limit": 3, "view_only": true } }),
        ),
        (
            "share",
            json!({ "file_path": file, "options": { "expires": 7 } }),
        ),
        ("mkdir", json!({ "query": "/new folder" })),
        (
            "mkdir",
            json!({ "file_path": "/x/y z", "options": { "parents": true } }),
        ),
        ("verify", json!({ "file_path": file })),
        ("verify", json!({})),
        ("info", json!({ "file_path": file })),
        ("versions", json!({ "file_path": file })),
        (
            "move",
            json!({ "file_path": file, "query": "/docs/moved $HOME.txt" }),
        ),
        ("delete", json!({ "file_path": "/docs/moved $HOME.txt" })),
        ("recovery_key", json!({})),
        ("tokens", json!({})),
        ("teams", json!({})),
        ("config", json!({})),
    ] {
        let mut given = arguments.clone();
        given["operation"] = json!(operation);
        let written = session.call("generate_cli_command", given);
        let command = written["command"].as_str().expect("a command");
        let words = words(command);
        assert_eq!(words[0], "cairn");
        let arguments: Vec<_> = words[1..].iter().map(String::as_str).collect();
        let response = world.run("a", &arguments);
        assert_eq!(response.code, 0, "{command}: {response:?}");
    }
}

#[test]
fn a_client_is_reported_how_to_start_it() {
    let world = World::new();
    let printed = world.json("a", &["mcp", "install", "--client", "claude-desktop"]);
    let entry = &printed["mcpServers"]["cairn"];
    assert_eq!(
        entry["args"].as_array().and_then(|args| args.last()),
        Some(&json!("mcp"))
    );
    let file = world.text("conf/mcp.json");
    let install = [
        "mcp", "install", "--client", "vscode", "--write", "--file", &file,
    ];
    world.json("a", &install);
    let whole: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("written")).expect("JSON");
    assert_eq!(whole["servers"]["cairn"]["type"], "stdio");
    let printed = world.run("a", &["mcp", "install", "--client", "codex"]);
    assert!(
        printed.stdout.starts_with("[mcp_servers.cairn]"),
        "{printed:?}"
    );
}

#[test]
fn reading_only_can_be_asked_for_in_any_usual_way() {
    let world = World::new();
    for (value, all) in [
        ("1", false),
        ("yes", false),
        ("true", false),
        ("", true),
        ("0", true),
        ("${user_config.read_only}", true),
    ] {
        let mut session = by_key(&world, &[("CAIRN_MCP_READ_ONLY", value)]);
        let list = session.ask("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().map_or(0, Vec::len);
        assert_eq!(tools == catalogue(), all, "`{value}` gives {tools} tools");
        assert_eq!(session.end(), Some(0));
    }
}

/// Returns a tool's error message.
fn refusal(session: &mut Session, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    let response = session.ask("tools/call", params);
    assert_eq!(response["result"]["isError"], true, "{tool}: {response}");
    let text = &response["result"]["content"][0]["text"];
    text.as_str().expect("text").to_owned()
}

#[test]
fn a_conflict_is_resolved_as_it_was_listed() {
    let world = World::new();
    for home in ["a", "b"] {
        world.login(home);
        world.json(home, &["add", &format!("folder-{home}")]);
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    let wait = |home| world.json(home, &["status", "--wait", "--timeout", "60"]);
    world.write("folder-a/f.txt", "base");
    wait("a");
    wait("b");
    let mut session = Session::start(&world, "b", &[]);
    let folder = world.path("folder-b/");
    world.json("a", &["pause"]);
    // A trailing slash, as people and shells write folders.
    session.call("sync_pause", json!({ "folder": folder }));
    assert_eq!(session.call("sync_status", json!({}))["state"], "paused");
    world.write("folder-a/f.txt", "edited on a");
    world.write("folder-b/f.txt", "and otherwise on b");
    world.json("a", &["resume"]);
    wait("a");
    session.call("sync_resume", json!({ "folder": "folder-b" }));
    wait("b");
    let status = session.call("sync_status", json!({}));
    assert_eq!(
        (&status["open_conflicts"], &status["running"]),
        (&json!(1), &json!(true)),
        "{status}"
    );
    assert_ne!(status["state"], "idle", "{status}");
    let conflict = session.call("sync_conflicts", json!({}))["conflicts"][0].clone();
    assert_eq!(conflict["path"], "f.txt");
    for field in ["local_path", "local_copy"] {
        let path = conflict[field].as_str().expect("a path");
        assert!(std::path::Path::new(path).is_file(), "{conflict}");
    }
    let nothing = refusal(
        &mut session,
        "sync_resolve_conflict",
        json!({ "path": "none", "keep": "mine" }),
    );
    assert!(nothing.contains("sync_conflicts"), "{nothing}");
    let resolve = json!({ "path": conflict["path"], "keep": "mine" });
    session.call("sync_resolve_conflict", resolve);
    wait("b");
    let status = session.call("sync_status", json!({}));
    assert_eq!(
        (&status["open_conflicts"], &status["state"]),
        (&json!(0), &json!("idle")),
        "{status}"
    );
    let kept = std::fs::read_to_string(world.path("folder-b/f.txt")).expect("it is there");
    assert_eq!(kept, "and otherwise on b");
    let unknown = refusal(&mut session, "sync_pause", json!({ "folder": "nowhere" }));
    assert!(unknown.contains("folder-b"), "{unknown}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn the_state_of_sync_names_account_device_and_what_happened() {
    let world = World::new();
    for home in ["a", "b"] {
        let passphrase = world.text("passphrase");
        let login = world.login_args("ck_dev_owner", &passphrase);
        let name = format!("laptop {home}");
        world.json(home, &[&login[..], &["--device-name", &name]].concat());
        world.json(home, &["add", &format!("folder-{home}")]);
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    world.write("folder-a/f.txt", "from a");
    let mut session = Session::start(&world, "b", &[]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    world.json("b", &["start"]);
    let synced = session.call("sync_now", json!({ "wait_seconds": 50 }));
    assert_eq!(synced["in_sync"], true, "{synced}");
    assert!(world.path("folder-b/f.txt").exists());

    let me = world.json("b", &["whoami"]);
    let status = session.call("sync_status", json!({}));
    assert_eq!(status["account"], me["email"], "{status}");
    assert_eq!(status["device"], me["device_name"], "{status}");
    assert_eq!(status["last_activity"]["path"], "f.txt", "{status}");
    assert!(status.get("note").is_none(), "{status}");
    let devices = session.call("sync_devices", json!({}))["devices"].clone();
    let devices = devices.as_array().expect("a list");
    let this: Vec<_> = devices
        .iter()
        .filter(|one| one["this_device"] == true)
        .collect();
    assert_eq!((devices.len(), this.len()), (2, 1), "{devices:?}");
    assert_eq!(this[0]["name"], me["device_name"]);
    let other = world.json("a", &["whoami"])["device_name"].clone();
    let activity = session.call("sync_activity", json!({ "device": other }));
    let events = activity["events"].as_array().expect("a list");
    // Several events of one device name it once.
    let device = |event: &Value| event.get("device").unwrap_or(&activity["device"]) == &other;
    assert!(
        !events.is_empty() && events.iter().all(device),
        "{activity}"
    );
    let later = session.call("sync_activity", json!({ "since": "2200-01-01" }));
    assert_eq!(later["events"], json!([]), "{later}");
    let local = world.path("folder-b/f.txt");
    let found = session.call("sync_locate", json!({ "path": local }));
    assert_eq!(found["path"], "/f.txt", "{found}");
    assert_eq!(found["local_paths"], json!([local]), "{found}");
    let info = session.call("get_file_info", json!({ "file_uuid": local }));
    assert_eq!(info["id"], found["node"]["id"], "{info}");
    let read = json!({ "file_uuid": found["node"]["id"] });
    assert_eq!(session.call("read_file_content", read)["content"], "from a");
    let why = session.call("sync_why", json!({ "path": "f.txt" }));
    assert_eq!(
        (&why["state"], &why["remote"]),
        (&json!("synced"), &json!("/f.txt")),
        "{why}"
    );
    session.call("sync_pause", json!({}));
    world.write("folder-b/.cairnignore", "*.log\n");
    world.write("folder-b/later.txt", "x");
    world.write("folder-b/x.log", "x");
    let why = session.call("sync_why", json!({ "path": world.path("folder-b/x.log") }));
    assert_eq!(why["state"], "ignored", "{why}");
    let why = session.call("sync_why", json!({ "path": "/later.txt" }));
    assert_eq!(why["state"], "waiting", "{why}");
    session.call("sync_resume", json!({}));
    let doctor = session.call("sync_doctor", json!({}));
    assert_eq!(
        (&doctor["online"], &doctor["account"]),
        (&json!(true), &me["email"])
    );
    assert_eq!(session.end(), Some(0));

    // With the key of somebody else the tools of the service are another account's.
    let variables = [
        ("SERVICE_API_KEY", "ck_dev_member"),
        ("SERVICE_API_URL", world.url.as_str()),
    ];
    let mut session = Session::start(&world, "b", &variables);
    let status = session.call("sync_status", json!({}));
    assert!(
        status["note"]
            .as_str()
            .is_some_and(|note| note.contains("other tools")),
        "{status}"
    );
    assert_eq!(session.end(), Some(0));
}

#[test]
fn a_client_hears_of_changes_of_sync_that_it_subscribed_to() {
    const UPDATED: &str = "notifications/resources/updated";
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "folder-a"]);
    let _stopping = Stopping(&world, "a");
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    let mut session = Session::start(&world, "a", &[]);
    let uri = json!({ "uri": "service://sync" });
    let nothing = session.ask("resources/subscribe", json!({ "uri": "service://files" }));
    assert_eq!(nothing["error"]["code"], -32602, "{nothing}");
    let begun = session.ask("resources/subscribe", uri.clone());
    assert!(begun["result"].is_object(), "{begun}");
    // The subscription connects by itself; a change of sync follows until it has.
    world.write("folder-a/f.txt", "content");
    assert_eq!(session.notification(UPDATED)["uri"], "service://sync");
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    world.json("a", &["stop"]);
    loop {
        session.notification(UPDATED);
        if session.call("sync_status", json!({}))["running"] == false {
            break;
        }
    }
    let ended = session.ask("resources/unsubscribe", uri);
    assert!(ended["result"].is_object(), "{ended}");
    assert_eq!(session.end(), Some(0));
}

/// The bound is generous, because it is a build for tests that runs beside others; the time is printed.
#[test]
fn a_client_hears_of_a_change_on_another_device() {
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "folder-a"]);
    let _stopping = Stopping(&world, "a");
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    let mut session = Session::start(&world, "a", &[]);
    session.ask("resources/subscribe", json!({ "uri": "service://sync" }));
    // The subscription connects by itself; a change of sync follows until it has.
    world.write("folder-a/own.txt", "content");
    session.notification("notifications/resources/updated");
    world.json("a", &["status", "--wait", "--timeout", "60"]);

    let begun = Instant::now();
    world.make_folder_without_keys("from another device");
    // Others may still be on their way that tell of the change before.
    while !world.path("folder-a/from another device").exists() {
        session.notification("notifications/resources/updated");
    }
    let took = begun.elapsed();
    println!("told after {} ms", took.as_millis());
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn a_daemon_that_starts_later_is_found() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    let mut session = Session::start(&world, "a", &[]);
    assert_eq!(session.call("sync_status", json!({}))["running"], false);
    world.json("a", &["start"]);
    let status = session.call("sync_status", json!({}));
    assert_eq!(status["running"], true, "{status}");
    world.json("a", &["stop"]);
    assert_eq!(session.call("sync_status", json!({}))["running"], false);
    assert_eq!(session.end(), Some(0));
}

#[test]
fn the_tools_keep_out_of_cairns_own_home_and_of_unnamed_folders() {
    let world = World::new();
    world.login("a");
    world.write("x", "content");
    let dir = world.dir.path().display().to_string();
    let mut session = Session::start(&world, "a", &[("CAIRN_MCP_ALLOW_DIRS", dir.as_str())]);
    for name in ["a/secrets.json", "a/account.json"] {
        let message = refusal(
            &mut session,
            "upload_file",
            json!({ "local_path": world.path(name) }),
        );
        assert!(message.contains("belongs to Cairn"), "{name}: {message}");
    }
    session.call("upload_file", json!({ "local_path": world.path("x") }));
    assert_eq!(session.end(), Some(0));
    let elsewhere = world.text("elsewhere");
    let mut session = Session::start(&world, "a", &[("CAIRN_MCP_ALLOW_DIRS", elsewhere.as_str())]);
    let message = refusal(
        &mut session,
        "upload_file",
        json!({ "local_path": world.path("x") }),
    );
    assert!(message.contains("--allow-dir"), "{message}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn a_folder_is_brought_back_to_a_time_after_its_plan_and_old_versions_are_read() {
    let world = World::new();
    world.login("a");
    world.write("report.txt", "first");
    world.json("a", &["mkdir", "/docs"]);
    let uploaded = world.json("a", &["upload", "report.txt", "--to", "/docs"]);
    let id = uploaded["node"]["id"].as_str().expect("an id");
    let then = world.json("a", &["history", "/docs"])["events"][0]["at"].clone();
    world.write("report.txt", "second");
    world.json("a", &["upload", "report.txt", "--to", "/docs"]);

    let mut session = Session::start(&world, "a", &[]);
    let version = |session: &mut Session, version: &str| {
        let wanted = json!({ "file_uuid": id, "version_id": version });
        session.call("read_file_version", wanted)
    };
    let first = version(&mut session, "1");
    assert_eq!(
        (&first["content"], &first["version"], &first["verified"]),
        (&json!("first"), &json!(1), &json!(true))
    );
    let versions = session.call("get_file_versions", json!({ "file_uuid": id }));
    let newest = versions["content"]
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["number"] == 2))
        .expect("the second version");
    let by_id = version(&mut session, newest["id"].as_str().expect("an id"));
    assert_eq!(by_id["content"], "second");
    let none = json!({ "file_uuid": id, "version_id": "9" });
    let message = refusal(&mut session, "read_file_version", none);
    assert!(message.contains("get_file_versions"), "{message}");

    let back = json!({ "path": "/docs", "to": then });
    let planned = session.call("sync_rewind", back.clone());
    assert_eq!(planned["plan"]["files_changed"], 1, "{planned}");
    let content = |world: &World| world.json("a", &["cat", "/docs/report.txt"])["text"].clone();
    assert_eq!(content(&world), "second", "a plan changes nothing");
    let mut carried_out = back;
    carried_out["carry_out"] = json!(true);
    let done = session.call("sync_rewind", carried_out);
    assert_eq!(content(&world), "first");
    // A person can take it back, too.
    let session_id = done["session"].as_str().expect("the session of the rewind");
    world.json("a", &["undo", "--session", session_id, "--yes"]);
    assert_eq!(content(&world), "second");
    let future = json!({ "path": "/docs", "to": "2999-01-01" });
    let message = refusal(&mut session, "sync_rewind", future);
    assert!(message.contains("not a time in the past"), "{message}");
    assert_eq!(session.end(), Some(0));
}
