//! `cairn add` of a folder that is a pair already: its preview, and the options that are not given.

use crate::commands::past::settle;
use crate::commands::world::{Stopping, World, names};
use serde_json::{Value, json};

const TWO_WAY: [&str; 2] = ["--mode", "two-way"];

/// Returns the preview of a change to two-way.
fn preview(world: &World, folder: &str, remote: &str) -> Value {
    let add = ["add", folder, "--remote", remote];
    world.json("a", &[&add[..], &TWO_WAY, &["--dry-run"]].concat())
}

/// Changes a pair to two-way, and lets it sync.
fn make_two_way(world: &World, folder: &str, remote: &str) {
    let add = ["add", folder, "--remote", remote];
    world.json("a", &[&add[..], &TWO_WAY].concat());
    settle(world, "a");
}

fn files_of(preview: &Value, effect: &str) -> Value {
    preview[effect]["examples"].clone()
}

#[test]
fn what_was_deleted_on_the_service_goes_when_a_folder_that_only_sends_becomes_two_way() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    world.json("a", &["add", "up", "--remote", "/up", "--mode", "upload"]);
    for name in ["deleted", "kept"] {
        world.write(&format!("up/{name}"), name);
    }
    settle(&world, "a");
    world.json("a", &["rm", "/up/deleted"]);
    world.json("a", &["sync"]);
    settle(&world, "a");

    let why = world.json("a", &["why", "up/deleted"]);
    assert_eq!(why["reason"], "sends_only_deleted", "{why}");
    let hint = why["hint"].as_str().expect("a hint");
    assert!(hint.ends_with("to have it deleted here, too"), "{why}");
    let shown = preview(&world, "up", "/up");
    assert_eq!(
        (files_of(&shown, "delete_local"), &shown["upload"]["files"]),
        (json!(["deleted"]), &json!(0)),
        "{shown}"
    );
    assert_eq!(
        (&shown["existing"], &shown["mode_before"]),
        (&json!(true), &json!("upload"))
    );
    let add = ["add", "up", "--remote", "/up", "--dry-run"];
    let text = world.run("a", &[&add[..], &TWO_WAY].concat()).stdout;
    assert!(
        text.contains("1 file (7 B) to the trash of this folder"),
        "{text}"
    );
    assert_eq!(names(&world.path("up")), ["deleted", "kept"]);
    // One of two files is no mass deletion, unless somebody says so.
    assert_eq!(shown["delete_local_waits"], false, "{shown}");
    let gate = ["--deletion-gate", "0%:1"];
    let gated = world.json("a", &[&add[..], &TWO_WAY, &gate].concat());
    assert_eq!(
        (&gated["delete_local_waits"], &gated["delete_remote_waits"]),
        (&json!(true), &json!(false))
    );

    let changed = world.run("a", &[&add[..4], &TWO_WAY].concat());
    assert_eq!(changed.code, 0, "{changed:?}");
    let warning = "With two-way, 1 file (7 B) would go to the trash of this folder";
    assert!(changed.stderr.contains(warning), "{changed:?}");
    settle(&world, "a");
    assert_eq!(names(&world.path("up")), ["kept"]);
}

#[test]
fn what_was_changed_here_is_sent_when_a_folder_that_only_receives_becomes_two_way() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    world.json("a", &["mkdir", "/down"]);
    for name in ["deleted", "edited", "kept"] {
        world.write(name, name);
        world.json("a", &["upload", name, "--to", "/down"]);
    }
    let add = ["add", "down", "--remote", "/down", "--mode", "download"];
    world.json("a", &add);
    settle(&world, "a");
    std::fs::remove_file(world.path("down/deleted")).unwrap();
    world.write("down/edited", "edited here");
    world.write("down/new", "new");
    settle(&world, "a");

    let why = world.json("a", &["why", "down/deleted"]);
    assert_eq!(why["reason"], "receives_only_deleted", "{why}");
    let hint = why["hint"].as_str().expect("a hint");
    assert!(hint.contains("deleted on the service, too"), "{why}");
    let shown = preview(&world, "down", "/down");
    assert_eq!(
        (
            files_of(&shown, "delete_remote"),
            files_of(&shown, "upload")
        ),
        (json!(["deleted"]), json!(["edited", "new"])),
        "{shown}"
    );
    for effect in ["download", "conflicts", "delete_local"] {
        assert_eq!(shown[effect]["files"], 0, "{effect}: {shown}");
    }

    make_two_way(&world, "down", "/down");
    assert_eq!(names(&world.path("down")), ["edited", "kept", "new"]);
    let list = world.json("a", &["ls", "/down"])["nodes"].clone();
    let there: Vec<_> = list.as_array().expect("a list").iter().collect();
    assert_eq!(there.len(), 3, "{list}");
    let edited = world.json("a", &["cat", "/down/edited"]);
    assert_eq!(edited["text"], "edited here");
}

#[test]
fn the_folder_on_the_service_stays_where_it_is_not_given() {
    let world = World::new();
    world.login("a");
    std::fs::create_dir(world.path("f")).unwrap();
    world.json("a", &["add", "f", "--remote", "/f", "--mode", "upload"]);
    let shown = world.json("a", &["add", "f", "--mode", "two-way", "--dry-run"]);
    assert_eq!(shown["remote"], "/f", "{shown}");
    let changed = world.json("a", &["add", "f", "--mode", "two-way"]);
    assert_eq!(
        (&changed["remote"], &changed["mode"]),
        (&json!("/f"), &json!("two-way"))
    );
    world
        .run("a", &["add", "f", "--remote", "/"])
        .assert_refused(2, &["is synced already, with /f"]);
}
