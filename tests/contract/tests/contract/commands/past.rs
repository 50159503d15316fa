//! Back in time: history, restore, rewind and undo.

use crate::commands::world::{Stopping, World, names};
use serde_json::{Value, json};

pub(crate) fn settle(world: &World, home: &str) {
    world.json(home, &["status", "--wait", "--timeout", "60"]);
}

fn listed_names(world: &World, folder: &str) -> Vec<String> {
    let list = world.json("a", &["ls", folder]);
    let nodes = list["nodes"].as_array().expect("a list").iter();
    nodes
        .map(|n| n["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// A time after everything that was done so far: the server's clock, of which nothing is the same again.
pub(crate) fn now(world: &World) -> String {
    let at = world.json("a", &["history"])["events"][0]["at"].clone();
    loop {
        let now = std::time::SystemTime::now();
        let ms = now
            .duration_since(std::time::UNIX_EPOCH)
            .expect("it is later")
            .as_millis();
        let text =
            cairn_wire::Timestamp(i64::try_from(ms).expect("a year that can be")).to_string();
        if text.as_str() > at.as_str().unwrap_or_default() {
            return text;
        }
    }
}

#[test]
fn a_version_comes_back_by_number_id_and_time_and_stays_verified() {
    let world = World::new();
    world.login("a");
    for text in ["one", "two two", "three three three"] {
        world.write("f", text);
        world.json("a", &["upload", "f"]);
    }
    let versions = world.json("a", &["versions", "/f"])["versions"].clone();
    let second = versions[1].clone();
    let id = second["id"].as_str().unwrap();
    let content = |world: &World| world.json("a", &["cat", "/f"])["text"].clone();
    assert_eq!(content(&world), "three three three");

    let restored = world.json("a", &["restore", "/f", "--version", "1"]);
    assert_eq!(
        (&restored["version"], content(&world)),
        (&json!(1), json!("one"))
    );
    assert_eq!(world.json("a", &["info", "/f"])["verified"], true);
    world.json("a", &["restore", "/f", "--version", &id[..8]]);
    assert_eq!(content(&world), "two two");
    let at = second["created_at"].as_str().unwrap();
    world.json("a", &["restore", "/f", "--version", "3"]);
    world.json("a", &["restore", "/f", "--at", at]);
    assert_eq!(content(&world), "two two");
    world.json(
        "a",
        &[
            "versions",
            "/f",
            "--restore",
            versions[2]["id"].as_str().unwrap(),
        ],
    );
    assert_eq!(content(&world), "one");
    let info = world.json("a", &["info", "/f"]);
    assert_eq!(info["verified"], true, "{info}");
    let head = info["revision_id"].clone();
    world.json("a", &["restore", "/f", "--version", "1"]);
    let again = world.json("a", &["info", "/f"]);
    assert_eq!(again["revision_id"], head, "equal content makes no version");

    world.json("a", &["restore", "/f", "--version", "3", "--to", "out"]);
    assert_eq!(
        std::fs::read(world.path("out/f")).unwrap(),
        b"three three three"
    );
    world
        .run("a", &["restore", "/f", "--version", "1", "--to", "out"])
        .assert_refused(5, &["exists already"]);
    assert_eq!(content(&world), "one", "a copy changes nothing");
    world
        .run("a", &["restore", "/f"])
        .assert_refused(2, &["--at TIME"]);
    world
        .run("a", &["restore", "/f", "--version", "99"])
        .assert_refused(2, &["no version 99"]);
    world
        .run("a", &["restore", "/f", "--at", "next year"])
        .assert_refused(2, &["2h ago"]);
    world
        .run("a", &["restore", "/f", "--at", "2001-01-01"])
        .assert_refused(1, &["was not there"]);
    let history = world.json("a", &["history", "/f", "--limit", "2"]);
    assert_eq!(history["events"].as_array().unwrap().len(), 2);
    assert!(history["pages"].as_u64().unwrap() > 1, "{history}");
}

#[test]
fn a_service_that_refuses_is_not_taken_for_a_file_that_is_gone() {
    let world = World::new();
    world.login("a");
    world.write("f", "one");
    let uploaded = world.json("a", &["upload", "f"]);
    let id = uploaded["node"]["id"].as_str().unwrap();
    let path = format!("/api/v1/nodes/{id}$");
    world.dev(
        "/_dev/faults",
        json!({ "path_pattern": path, "status": 403 }),
    );
    for state in [["--version", "1"], ["--at", "1h ago"]] {
        let refused = world.run("a", &[&["restore", id][..], &state].concat());
        refused.assert_refused(1, &["can't find", id]);
    }
}

#[test]
fn what_was_deleted_comes_back_sealed_also_by_its_local_path() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir_all(world.path("f/docs")).unwrap();
    world.write("f/docs/a.txt", "a");
    world.json("a", &["add", "f", "--remote", "/f"]);
    settle(&world, "a");
    assert_eq!(
        world.json("a", &["info", "f/docs/a.txt"])["path"],
        "/f/docs/a.txt"
    );
    std::fs::remove_file(world.path("f/docs/a.txt")).unwrap();
    settle(&world, "a");
    assert_eq!(listed_names(&world, "f/docs"), Vec::<String>::new());
    let kinds = |history: &Value| -> Vec<String> {
        let events = history["events"].as_array().unwrap().iter();
        events
            .map(|e| e["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    let history = world.json("a", &["history", "f/docs/a.txt"]);
    assert_eq!(kinds(&history), ["deleted", "created"], "{history}");
    let back = world.json("a", &["restore", "f/docs/a.txt"]);
    assert_eq!(back["path"], "/f/docs/a.txt");
    assert_eq!(
        world.json("a", &["info", "/f/docs/a.txt"])["verified"],
        true
    );
    settle(&world, "a");
    assert_eq!(std::fs::read(world.path("f/docs/a.txt")).unwrap(), b"a");

    world.json("a", &["rm", "/f/docs"]);
    world
        .run("a", &["restore", "/f/docs/a.txt"])
        .assert_refused(5, &["with the folder /f/docs", "--to DIR"]);
    world.json("a", &["restore", "/f/docs/a.txt", "--to", "copy"]);
    assert_eq!(std::fs::read(world.path("copy/a.txt")).unwrap(), b"a");
    world
        .run("a", &["restore", "/f/never"])
        .assert_refused(1, &["none in its trash"]);
    let trashed = world.json("a", &["trash", "list", "--remote"])["trashed"][0].clone();
    assert_eq!(trashed["path"], "/f/docs");
    let text = world.run("a", &["trash", "list", "--remote"]).stdout;
    assert!(text.contains("FOLDER") && text.contains("  /f"), "{text}");
    let id = trashed["id"].clone();
    world.json("a", &["trash", "restore", "--remote", id.as_str().unwrap()]);
    assert_eq!(world.json("a", &["info", "/f/docs"])["verified"], true);
}

#[test]
fn a_folder_becomes_what_it_was_on_both_devices_and_the_rewind_is_taken_back() {
    let world = World::new();
    for home in ["a", "b"] {
        world.login(home);
        world.json(
            home,
            &[
                "add",
                &format!("f-{home}"),
                "--remote",
                "/f",
                "--deletion-gate",
                "1%:1",
            ],
        );
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    std::fs::create_dir_all(world.path("f-a/docs")).unwrap();
    for (name, text) in [
        ("docs/edited", "before"),
        ("docs/gone", "gone"),
        ("x", "x"),
        ("y", "y"),
    ] {
        world.write(&format!("f-a/{name}"), text);
    }
    settle(&world, "a");
    settle(&world, "b");
    let then = now(&world);
    world.write("f-b/docs/edited", "after that");
    std::fs::rename(world.path("f-b/x"), world.path("f-b/renamed")).unwrap();
    std::fs::rename(world.path("f-b/y"), world.path("f-b/x")).unwrap();
    world.write("f-b/new", "new");
    settle(&world, "b");
    std::fs::remove_file(world.path("f-b/docs/gone")).unwrap();
    world.run("b", &["status", "--wait", "--timeout", "60"]);
    world.run("b", &["confirm", "f-b", "delete"]);
    settle(&world, "b");
    settle(&world, "a");

    let planned = world.json("a", &["rewind", "f-a", "--to", &then, "--dry-run"]);
    let plan = &planned["plan"];
    assert_eq!(
        (
            &plan["files_back"],
            &plan["files_trashed"],
            &plan["files_changed"]
        ),
        (&json!(1), &json!(1), &json!(1)),
        "{planned}"
    );
    assert_eq!(plan["moves"].as_array().unwrap().len(), 2, "{planned}");
    world
        .run("a", &["rewind", "f-a", "--to", &then])
        .assert_refused(5, &["--yes"]);
    assert_eq!(listed_names(&world, "/f"), ["docs", "new", "renamed", "x"]);
    let done = world.json("a", &["rewind", "f-a", "--to", &then, "--yes"]);
    assert_eq!(done["done"]["failed"], json!([]), "{done}");
    for home in ["a", "b"] {
        settle(&world, home);
        let read =
            |name: &str| std::fs::read_to_string(world.path(&format!("f-{home}/{name}"))).unwrap();
        assert_eq!(names(&world.path(&format!("f-{home}"))), ["docs", "x", "y"]);
        assert_eq!(
            names(&world.path(&format!("f-{home}/docs"))),
            ["edited", "gone"]
        );
        assert_eq!(
            [read("docs/edited"), read("docs/gone"), read("x"), read("y")],
            ["before", "gone", "x", "y"]
        );
    }
    let again = world.json("a", &["rewind", "f-a", "--to", &then, "--dry-run"]);
    assert_eq!(again["plan"]["moves"], json!([]), "{again}");

    let session = done["session"].as_str().unwrap();
    let undone = world.json("a", &["undo", "--session", session, "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    settle(&world, "b");
    assert_eq!(names(&world.path("f-b")), ["docs", "new", "renamed", "x"]);
    assert_eq!(
        std::fs::read_to_string(world.path("f-b/docs/edited")).unwrap(),
        "after that"
    );
}

#[test]
fn the_last_command_is_taken_back_unless_something_newer_stands_in_the_way() {
    let world = World::new();
    world.login("a");
    world
        .run("a", &["undo", "--yes"])
        .assert_refused(1, &["nothing can be taken back"]);
    world.json("a", &["mkdir", "/x"]);
    world.write("f", "one");
    world.json("a", &["upload", "f", "--to", "/x"]);
    world.json("a", &["mv", "/x/f", "/g"]);
    world.json("a", &["rm", "/g"]);
    assert_eq!(listed_names(&world, "/"), ["x"]);
    world.run("a", &["undo"]).assert_refused(5, &["--yes"]);
    world.json("a", &["undo", "--last", "--yes"]);
    assert_eq!(listed_names(&world, "/"), ["g", "x"]);
    let sessions = world.json("a", &["undo", "--list"])["sessions"].clone();
    let of = |command: &str| {
        let all = sessions.as_array().unwrap().iter();
        let mut found = all.filter(|s| s["command"].as_str().unwrap().starts_with(command));
        found.next().unwrap()["session"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    world.json("a", &["undo", "--session", &of("mv"), "--yes"]);
    assert_eq!(world.json("a", &["info", "/x/f"])["verified"], true);
    world
        .run("a", &["undo", "--session", &of("mkdir"), "--yes"])
        .assert_refused(5, &["could not be taken back"]);
    assert_eq!(listed_names(&world, "/x"), ["f"], "what is in it stays");
}

#[test]
fn a_rewind_brings_the_deleted_file_back_under_the_name_that_another_has_now() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/d"]);
    world.write("f", "the old one");
    world.json("a", &["upload", "f", "--to", "/d"]);
    let old = world.json("a", &["info", "/d/f"])["id"].clone();
    let then = now(&world);
    world.json("a", &["rm", "/d/f"]);
    world.write("f", "the new one");
    world.json("a", &["upload", "f", "--to", "/d"]);
    let done = world.json("a", &["rewind", "/d", "--to", &then, "--yes"]);
    assert_eq!(done["done"]["failed"], json!([]), "{done}");
    assert_eq!(listed_names(&world, "/d"), ["f"]);
    assert_eq!(world.json("a", &["info", "/d/f"])["id"], old);
    assert_eq!(
        world.json("a", &["cat", "/d/f"])["text"],
        json!("the old one")
    );
    let undone = world.json("a", &["undo", "--last", "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(listed_names(&world, "/d"), ["f"]);
    assert_eq!(
        world.json("a", &["cat", "/d/f"])["text"],
        json!("the new one")
    );
}

#[test]
fn a_deleted_file_comes_back_with_the_content_of_the_time_and_goes_again() {
    let world = World::new();
    world.login("a");
    world.write("f", "one");
    world.json("a", &["upload", "f"]);
    let then = now(&world);
    world.write("f", "two two");
    world.json("a", &["upload", "f"]);
    world.json("a", &["rm", "/f"]);
    let before = "2001-01-01";
    world
        .run("a", &["restore", "/f", "--at", before])
        .assert_refused(1, &["/f"]);
    assert_eq!(listed_names(&world, "/"), Vec::<String>::new());
    world.json("a", &["restore", "/f", "--at", &then]);
    assert_eq!(world.json("a", &["cat", "/f"])["text"], json!("one"));
    let undone = world.json("a", &["undo", "--last", "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(listed_names(&world, "/"), Vec::<String>::new());
}

#[test]
fn what_was_worked_on_since_is_not_taken_back() {
    let world = World::new();
    world.login("a");
    world.write("f", "one");
    for folder in ["/d", "/d/e", "/other"] {
        world.json("a", &["mkdir", folder]);
    }
    world.json("a", &["upload", "f", "--to", "/d/e"]);
    world.json("a", &["rm", "/d"]);
    world.json("a", &["restore", "/d"]);
    world.write("g", "newer");
    world.json("a", &["upload", "g", "--to", "/d/e"]);
    let session = world.json("a", &["undo", "--list"])["sessions"][0]["session"].clone();
    world
        .run(
            "a",
            &["undo", "--session", session.as_str().unwrap(), "--yes"],
        )
        .assert_refused(5, &["could not be taken back"]);
    assert_eq!(listed_names(&world, "/d/e"), ["f", "g"]);

    let moved = world.json("a", &["mv", "/d/e/f", "/other"]);
    let session = world.json("a", &["undo", "--list"])["sessions"][0]["session"].clone();
    world.json("a", &["mv", "/other/f", "/other/renamed"]);
    world
        .run(
            "a",
            &["undo", "--session", session.as_str().unwrap(), "--yes"],
        )
        .assert_refused(5, &["could not be taken back"]);
    assert_eq!(listed_names(&world, "/other"), ["renamed"], "{moved}");
}

/// The id of the newest session of a command that can be taken back.
fn session_of(world: &World, home: &str, command: &str) -> String {
    let sessions = world.json(home, &["undo", "--list"])["sessions"].clone();
    let mut sessions = sessions.as_array().expect("a list").iter();
    let found = sessions.find(|s| {
        s["command"]
            .as_str()
            .is_some_and(|c| c.starts_with(command))
    });
    let found = found.expect("the command is listed");
    found["session"].as_str().expect("an id").to_owned()
}

#[test]
fn what_another_device_renamed_or_deleted_again_is_left() {
    let world = World::new();
    world.login("a");
    world.login("b");
    let undo = |command: &str| {
        let session = session_of(&world, "a", command);
        world
            .run("a", &["undo", "--session", &session, "--yes"])
            .assert_refused(5, &["could not be taken back"]);
    };
    world.json("a", &["mkdir", "/made"]);
    world.json("b", &["mv", "/made", "/mine"]);
    undo("mkdir");
    assert_eq!(listed_names(&world, "/"), ["mine"]);

    let id = world.json("a", &["info", "/mine"])["id"].clone();
    world.json("a", &["rm", "/mine"]);
    let restore = ["trash", "restore", "--remote", id.as_str().expect("an id")];
    world.json("b", &restore);
    world.json("b", &["rm", "/mine"]);
    undo("rm");
    assert_eq!(listed_names(&world, "/"), Vec::<String>::new());
}

#[test]
fn commands_are_taken_back_one_after_the_other() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/x"]);
    world.json("a", &["mv", "/x", "/y"]);
    world.json("a", &["rm", "/y"]);
    for (command, left) in [("rm", vec!["y"]), ("mv", vec!["x"]), ("mkdir", vec![])] {
        let session = session_of(&world, "a", command);
        world.json("a", &["undo", "--session", &session, "--yes"]);
        assert_eq!(listed_names(&world, "/"), left, "{command}");
    }
}

fn text_of(world: &World, path: &str) -> Value {
    world.json("a", &["cat", path])["text"].clone()
}

/// Makes files in the folder `/d`, a time, and others in their places: the first file is deleted, the second one
/// moved away. Returns the time.
fn replaced_files(world: &World) -> String {
    world.login("a");
    world.json("a", &["mkdir", "/d"]);
    for (name, text) in [("f", "old f"), ("m", "old m")] {
        world.write(name, text);
        world.json("a", &["upload", name, "--to", "/d"]);
    }
    let then = now(world);
    world.json("a", &["rm", "/d/f"]);
    world.json("a", &["mv", "/d/m", "/d/m2"]);
    for (name, text) in [("f", "new f"), ("m", "new m")] {
        world.write(name, text);
        world.json("a", &["upload", name, "--to", "/d"]);
    }
    then
}

#[test]
fn a_restore_under_another_name_that_was_taken_back_does_not_stand_in_a_rewinds_way() {
    let world = World::new();
    let then = replaced_files(&world);
    world
        .run("a", &["restore", "/d", "--at", &then])
        .assert_refused(5, &["could not be made"]);
    assert_eq!(text_of(&world, "/d/f (2)"), "old f");
    let undone = world.json("a", &["undo", "--last", "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(listed_names(&world, "/d"), ["f", "m", "m2"]);
    let done = world.json("a", &["rewind", "/d", "--to", &then, "--yes"]);
    assert_eq!(done["done"]["failed"], json!([]), "{done}");
    assert_eq!(listed_names(&world, "/d"), ["f", "m"]);
    assert_eq!(text_of(&world, "/d/f"), "old f");
    assert_eq!(text_of(&world, "/d/m"), "old m");
}

#[test]
fn a_path_and_a_time_name_the_file_that_was_there_then() {
    let world = World::new();
    let then = replaced_files(&world);
    let newer = world.json("a", &["info", "/d/f"])["id"].clone();
    let planned = world.json("a", &["restore", "/d/f", "--at", &then, "--dry-run"]);
    assert_eq!(planned["dry_run"], true);
    assert_eq!(listed_names(&world, "/d"), ["f", "m", "m2"]);
    let back = world.json("a", &["restore", "/d/f", "--at", &then]);
    assert_eq!(back["path"], "/d/f (2)", "the newer one keeps its place");
    assert_eq!(text_of(&world, "/d/f (2)"), "old f");
    assert_eq!(text_of(&world, "/d/f"), "new f");
    let moved = world.run("a", &["restore", "/d/m", "--at", &then]);
    assert_eq!(moved.code, 0, "{moved:?}");
    assert!(moved.stderr.contains("/d/m2"), "{moved:?}");

    for name in ["/d/f", "/d/m"] {
        let done = world.json("a", &["rewind", name, "--to", &then, "--yes"]);
        assert_eq!(done["done"]["failed"], json!([]), "{done}");
    }
    assert_eq!(listed_names(&world, "/d"), ["f", "m"]);
    assert_eq!(text_of(&world, "/d/f"), "old f");
    assert_eq!(text_of(&world, "/d/m"), "old m");
    let history = world.json("a", &["history", "/d/f"]);
    assert_eq!(history["earlier"][0]["node_id"], newer, "{history}");
    world
        .run("a", &["history", "/d/f", "--page", "99"])
        .assert_refused(2, &["no page 99"]);
    world.json("a", &["mv", "/d/f", "/d/elsewhere"]);
    world.json("a", &["mv", "/d/elsewhere", "/d/there"]);
    let id = world.json("a", &["info", "/d/there"])["id"].clone();
    let hint = format!(
        "/d/there now: `cairn history {}`",
        id.as_str().expect("an id")
    );
    world
        .run("a", &["history", "/d/elsewhere"])
        .assert_refused(1, &["there is no /d/elsewhere", &hint]);
    world
        .run("a", &["restore", "/d", "--at", "2001-01-01"])
        .assert_refused(1, &["was not there"]);
}

#[test]
fn a_second_rewind_to_a_time_finds_nothing_to_do() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/d"]);
    world.write("f", "the one text");
    world.json("a", &["upload", "f", "--to", "/d"]);
    let then = now(&world);
    world.write("f", "another text");
    world.json("a", &["upload", "f", "--to", "/d"]);
    let rewind = ["rewind", "/d", "--to", &then, "--yes"];
    let done = world.json("a", &rewind);
    assert_eq!(done["done"]["contents"], 1, "{done}");
    let again = world.json("a", &rewind);
    assert_eq!(again["plan"]["files_changed"], 0, "{again}");
    assert_eq!(again["session"], Value::Null, "{again}");
    let restored = world.json("a", &["restore", "/d", "--at", &then]);
    assert_eq!(restored["plan"]["files_changed"], 0, "{restored}");
    let text = world.run("a", &rewind).stdout;
    assert!(
        text.contains("Nothing that the service still has is different"),
        "{text}"
    );
}

#[test]
fn the_history_of_a_folder_says_which_device_made_a_file_that_has_changed_since() {
    let world = World::new();
    let login = world.login("a");
    world.json("a", &["add", "f", "--remote", "/f"]);
    let _stopping = Stopping(&world, "a");
    world.write("f/y", "four");
    settle(&world, "a");
    world.json("a", &["mv", "/f/y", "/f/z"]);
    settle(&world, "a");
    world.write("f/same", "123456");
    settle(&world, "a");
    let history = world.json("a", &["history", "/f"]);
    let made = |path: &str| -> Value {
        let mut events = history["events"].as_array().unwrap().iter();
        let is_it = |event: &&Value| event["kind"] == "created" && event["path"] == path;
        let found = events.find(is_it).unwrap_or_else(|| panic!("{history}"));
        json!([found["device_id"], found["bytes"]])
    };
    let device = &login["device_id"];
    assert_eq!(made("/f/y"), json!([device, 4]), "moved since");
    assert_eq!(made("/f/same"), json!([device, 6]), "unchanged");
    assert_eq!(made("/f"), json!([device, null]));
}

#[test]
fn the_history_says_who_has_moved_and_deleted() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/d"]);
    world.write("f", "f");
    world.json("a", &["upload", "f", "--to", "/d"]);
    world.json("a", &["mv", "/d/f", "/d/g"]);
    world.json("a", &["mkdir", "/d/sub"]);
    world.json("a", &["rm", "/d/g"]);
    let history = world.json("a", &["history", "/d"]);
    let events = history["events"].as_array().unwrap();
    assert_eq!(events.len(), 5, "{history}");
    for event in events {
        assert_eq!(event["by"], "owner@example.com", "{event}");
        assert!(event["device"].is_string(), "{event}");
    }
    // A device that is not the account's any more has no name, and its id is not shown for one.
    world.login("b");
    let id = events[0]["device_id"].as_str().unwrap();
    world.json("b", &["devices", "remove", id, "--yes"]);
    let later = world.json("b", &["history", "/d"])["events"].clone();
    assert_eq!(
        (&later[0]["device"], &later[0]["device_id"]),
        (&Value::Null, &json!(id))
    );
    let text = world.run("b", &["history", "/d"]).stdout;
    assert!(text.contains("a removed device"), "{text}");
    assert!(!text.contains(id), "{text}");
}
