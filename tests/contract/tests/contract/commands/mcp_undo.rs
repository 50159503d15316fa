//! Taking back what a process of `cairn mcp` changed that is gone: hosts restart it whenever they like.

use crate::commands::session::Session;
use crate::commands::world::World;
use serde_json::{Value, json};

fn folder(session: &mut Session, name: &str) -> Value {
    session.call("create_folder", json!({ "name": name }))["id"].clone()
}

fn state(session: &mut Session, id: &Value) -> Value {
    session.call("get_file_info", json!({ "file_uuid": id }))["state"].clone()
}

#[test]
fn another_process_takes_back_what_a_killed_one_changed() {
    let world = World::new();
    world.login("a");
    let mut first = Session::start(&world, "a", &[]);
    let made = folder(&mut first, "made");
    let kept = folder(&mut first, "kept");
    let describe = json!({ "file_uuid": made, "description": "x" });
    first.call("set_file_description", describe);

    // Nobody takes back what a process does that runs.
    let mut second = Session::start(&world, "a", &[]);
    let nothing = second.call("undo_session", json!({}));
    assert!(nothing.get("earlier_sessions").is_none(), "{nothing}");
    first.child.kill().expect("it runs");
    first.child.wait().expect("it ends");

    // Somebody else has worked on one of the folders.
    let rename = json!({ "file_uuid": kept, "new_name": "theirs" });
    second.call("rename_file", rename);
    assert_eq!(second.end(), Some(0));
    let mut third = Session::start(&world, "a", &[]);
    let listed = third.call("undo_session", json!({}));
    let earlier = listed["earlier_sessions"]
        .as_array()
        .expect("they are listed");
    let changes: Vec<_> = earlier.iter().map(|session| &session["changes"]).collect();
    assert_eq!(changes, [1, 3], "the newest first");
    let session = json!({ "session": earlier[1]["session"] });
    let undone = third.call("undo_session", session.clone());
    assert_eq!(undone["taken_back"], 2, "{undone}");
    let left = undone["left"].to_string();
    assert!(left.contains("`theirs` was worked on since"), "{undone}");
    assert_eq!(state(&mut third, &made), "trashed");
    assert_eq!(state(&mut third, &kept), Value::Null);

    // What was taken back is not offered again.
    let listed = third.call("undo_session", json!({}));
    assert_eq!(listed["earlier_sessions"][1]["changes"], 1, "{listed}");
}

#[test]
fn a_person_takes_back_what_an_assistant_did() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/mine"]);
    let mut assistant = Session::start(&world, "a", &[]);
    let made = folder(&mut assistant, "made");
    let listed = world.json("a", &["undo", "--list"]);
    let of_commands = listed["sessions"].as_array().expect("a list");
    assert_eq!(of_commands.len(), 1, "the assistant's still runs: {listed}");
    assert_eq!(assistant.end(), Some(0));

    let listed = world.json("a", &["undo", "--list"]);
    let newest = &listed["sessions"][0];
    assert_eq!(newest["by"], "assistant", "{listed}");
    assert_eq!(newest["changes"], 1, "{listed}");
    assert_eq!(listed["sessions"][1]["by"], "command", "{listed}");
    let id = newest["session"].as_str().expect("an id");
    world
        .run("a", &["undo", "--session", id])
        .assert_refused(5, &["--yes"]);
    let shown = world.json("a", &["undo", "--session", id, "--dry-run"]);
    let counts = &shown["counts"];
    assert_eq!(
        (&counts["trashed_items"], &counts["moved"]),
        (&json!(1), &json!(0)),
        "{shown}"
    );
    let undone = world.json("a", &["undo", "--session", &id[..8], "--yes"]);
    assert_eq!(undone["taken_back"].as_array().map(Vec::len), Some(1));
    assert_eq!(undone["left"], json!([]), "{undone}");
    let mut later = Session::start(&world, "a", &[]);
    assert_eq!(state(&mut later, &made), "trashed");

    world
        .run("a", &["undo", "--session", id, "--yes"])
        .assert_refused(2, &["undo --list"]);
    // The last command is one of a person.
    let undone = world.json("a", &["undo", "--last", "--yes"]);
    assert_eq!(undone["command"], "mkdir /mine", "{undone}");
}

#[test]
fn an_earlier_session_of_another_account_is_not_offered() {
    let world = World::new();
    world.login("a");
    let key = |key| {
        let variables = [
            ("SERVICE_API_KEY", key),
            ("SERVICE_API_URL", world.url.as_str()),
        ];
        Session::start(&world, "a", &variables)
    };
    let mut member = key("ck_dev_member");
    folder(&mut member, "of a member");
    assert_eq!(member.end(), Some(0));
    let mut owner = key("ck_dev_owner");
    let listed = owner.call("undo_session", json!({}));
    assert!(listed.get("earlier_sessions").is_none(), "{listed}");
    let mut member = key("ck_dev_member");
    let listed = member.call("undo_session", json!({}));
    assert_eq!(listed["earlier_sessions"][0]["changes"], 1, "{listed}");
}
