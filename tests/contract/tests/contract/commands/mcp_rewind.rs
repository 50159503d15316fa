//! `sync_rewind` of `cairn mcp`: whose folders it brings back, and those of teams.

use crate::commands::session::Session;
use crate::commands::world::World;
use serde_json::{Value, json};

fn refusal(session: &mut Session, arguments: Value) -> String {
    let params = json!({ "name": "sync_rewind", "arguments": arguments });
    let response = session.ask("tools/call", params);
    assert_eq!(response["result"]["isError"], true, "{response}");
    let text = &response["result"]["content"][0]["text"];
    text.as_str().expect("text").to_owned()
}

/// Makes a file in two versions, and returns its folder and the time of the first one.
fn two_versions(world: &World, within: &[&str]) -> (Value, Value) {
    two_versions_of(world, "report.txt", within)
}

fn two_versions_of(world: &World, name: &str, within: &[&str]) -> (Value, Value) {
    world.write(name, "first");
    let run = |arguments: &[&str]| world.json("a", &[arguments, within].concat());
    let folder = run(&["mkdir", "/docs"]);
    run(&["upload", name, "--to", "/docs"]);
    let then = run(&["history", "/docs"])["events"][0]["at"].clone();
    world.write(name, "second");
    run(&["upload", name, "--to", "/docs"]);
    (folder, then)
}

#[test]
fn a_key_of_the_account_of_this_machine_brings_its_folders_back() {
    let world = World::new();
    world.login("a");
    let (_, then) = two_versions(&world, &[]);
    let by_key = |key| {
        let variables = [
            ("SERVICE_API_KEY", key),
            ("SERVICE_API_URL", world.url.as_str()),
        ];
        Session::start(&world, "a", &variables)
    };
    let mut session = by_key("ck_dev_owner");
    let planned = session.call("sync_rewind", json!({ "path": "/docs", "to": then }));
    assert_eq!(planned["plan"]["files_changed"], 1, "{planned}");
    let none = refusal(&mut session, json!({ "path": "/nothing", "to": then }));
    assert!(none.contains("there is no"), "{none}");
    assert_eq!(session.end(), Some(0));

    let mut session = by_key("ck_dev_member");
    let other = refusal(&mut session, json!({ "path": "/docs", "to": then }));
    assert!(other.contains("use another one"), "{other}");
    let time = refusal(&mut session, json!({ "path": "/docs", "to": "2999-01-01" }));
    assert!(time.contains("not a time in the past"), "{time}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn a_folder_of_a_team_is_brought_back_by_its_path_and_by_its_id() {
    let world = World::new();
    world.login("a");
    world.json("a", &["teams", "create", "Crew"]);
    world.json("a", &["teams", "grant", "Crew"]);
    let (folder, then) = two_versions(&world, &["--team", "Crew"]);
    let mut session = Session::start(&world, "a", &[]);
    for path in [
        json!("Crew/docs"),
        json!("Crew"),
        folder["node"]["id"].clone(),
    ] {
        let planned = session.call("sync_rewind", json!({ "path": path, "to": then }));
        assert_eq!(planned["plan"]["files_changed"], 1, "{path}: {planned}");
        assert_eq!(planned["team"], "Crew", "{planned}");
    }
    let back = json!({ "path": "Crew/docs", "to": then, "carry_out": true });
    let done = session.call("sync_rewind", back);
    let content = || {
        let read = ["cat", "/docs/report.txt", "--team", "Crew"];
        world.json("a", &read)["text"].clone()
    };
    assert_eq!(content(), "first", "{done}");
    let offered = session.call("undo_session", json!({}));
    assert_eq!(
        offered["rewinds"][0]["session"], done["session"],
        "{offered}"
    );
    let undo = json!({ "session": done["session"] });
    let undone = session.call("undo_session", undo.clone());
    assert_eq!(undone["taken_back"], 1, "{undone}");
    assert_eq!(content(), "second");
    let again = json!({ "name": "undo_session", "arguments": undo });
    let again = session.ask("tools/call", again);
    assert_eq!(again["result"]["isError"], true, "{again}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn hidden_files_are_not_brought_back_where_nobody_can_be_asked() {
    let world = World::new();
    world.login("a");
    let (_, then) = two_versions_of(&world, ".bashrc", &[]);
    let mut session = Session::start(&world, "a", &[]);
    let mut back = json!({ "path": "/docs", "to": then });
    let planned = session.call("sync_rewind", back.clone());
    assert_eq!(planned["plan"]["files_changed"], 1, "{planned}");
    back["carry_out"] = json!(true);
    let refused = refusal(&mut session, back);
    assert!(refused.contains("nobody can be asked"), "{refused}");
    let read = world.json("a", &["cat", "/docs/.bashrc"]);
    assert_eq!(read["text"], "second");
    assert_eq!(session.end(), Some(0));
}
