//! Back in time on a device that saw nothing of it: only the service knows what was moved, deleted and brought back.

use crate::commands::past::now;
use crate::commands::world::World;
use serde_json::{Value, json};

/// The part of the warning that every rewind has.
const FORGOTTEN: &str =
    "What was deleted for good since does not show: the service has forgotten it.";

/// A world in which one device works and another one only logs in.
fn two_devices() -> World {
    let world = World::new();
    for home in ["a", "b"] {
        world.login(home);
    }
    world.json("a", &["mkdir", "/f"]);
    world.write("x", "text");
    world.json("a", &["upload", "x", "--to", "/f"]);
    world
}

fn listed(world: &World, folder: &str) -> Vec<String> {
    let list = world.json("b", &["ls", folder]);
    let nodes = list["nodes"].as_array().expect("a list").iter();
    let names = nodes.map(|node| node["name"].as_str().expect("a name").to_owned());
    names.collect()
}

fn rewind(world: &World, home: &str, then: &str, how: &str) -> Value {
    world.json(home, &["rewind", "/f", "--to", then, how])
}

#[test]
fn a_file_that_another_device_moved_goes_back() {
    let world = two_devices();
    let then = now(&world);
    world.json("a", &["mv", "/f/x", "/f/y"]);
    let planned = rewind(&world, "b", &then, "--dry-run");
    let moves = json!([{"from": "/f/y", "to": "/f/x"}]);
    assert_eq!(planned["plan"]["moves"], moves, "{planned}");
    assert_eq!(planned["warning"], FORGOTTEN);
    let done = rewind(&world, "b", &then, "--yes");
    assert_eq!(done["done"]["failed"], json!([]), "{done}");
    assert_eq!(listed(&world, "/f"), ["x"]);
    let history = world.json("b", &["history", "/f/x"]);
    let moved: Vec<_> = history["events"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|event| event["kind"] == "moved")
        .map(|event| (&event["from"], &event["path"]))
        .collect();
    let [x, y] = [json!("/f/x"), json!("/f/y")];
    assert_eq!(moved, [(&y, &x), (&x, &y)], "{history}");
    // And back again, to a time after the move.
    let undone = world.json("b", &["undo", "--last", "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(listed(&world, "/f"), ["y"]);
}

#[test]
fn a_folder_that_another_device_moved_goes_back_with_what_is_in_it() {
    let world = two_devices();
    for folder in ["/f/d", "/f/e"] {
        world.json("a", &["mkdir", folder]);
    }
    world.json("a", &["mv", "/f/x", "/f/d"]);
    let then = now(&world);
    world.json("a", &["mv", "/f/d", "/f/e"]);
    world.json("a", &["mv", "/f/e/d", "/f/e/renamed"]);
    world.json("a", &["mv", "/f/e/renamed/x", "/f/z"]);
    let done = rewind(&world, "b", &then, "--yes");
    assert_eq!(done["done"]["failed"], json!([]), "{done}");
    assert_eq!(listed(&world, "/f"), ["d", "e"]);
    assert_eq!(listed(&world, "/f/d"), ["x"]);
    assert_eq!(listed(&world, "/f/e"), Vec::<String>::new());
}

#[test]
fn what_was_in_the_trash_at_the_time_goes_there_again() {
    let world = two_devices();
    world.json("a", &["mkdir", "/f/d"]);
    world.write("inside", "inside");
    world.json("a", &["upload", "inside", "--to", "/f/d"]);
    let before = now(&world);
    world.json("a", &["rm", "/f/x"]);
    world.json("a", &["rm", "/f/d"]);
    let then = now(&world);
    world.json("a", &["restore", "/f/x"]);
    world.json("a", &["restore", "/f/d"]);
    let planned = rewind(&world, "b", &then, "--dry-run");
    assert_eq!(planned["plan"]["files_trashed"], 2, "{planned}");
    let done = rewind(&world, "b", &then, "--yes");
    assert_eq!(done["done"]["failed"], json!([]), "{done}");
    assert_eq!(listed(&world, "/f"), Vec::<String>::new());
    let done = rewind(&world, "b", &before, "--yes");
    assert_eq!(done["done"]["failed"], json!([]), "{done}");
    assert_eq!(listed(&world, "/f"), ["d", "x"]);
    assert_eq!(listed(&world, "/f/d"), ["inside"]);
    let again = rewind(&world, "a", &before, "--dry-run");
    assert_eq!(again["plan"]["moves"], json!([]), "{again}");
    let history = world.json("b", &["history", "/f/x"]);
    let kinds: Vec<_> = history["events"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| event["kind"].as_str().expect("a kind"))
        .collect();
    let twice = ["restored", "deleted", "restored", "deleted", "created"];
    assert_eq!(kinds, twice, "{history}");
}

#[test]
fn an_older_service_leaves_this_device_alone_with_its_memory() {
    let world = two_devices();
    let then = now(&world);
    world.json("a", &["mv", "/f/x", "/f/y"]);
    let path = "/api/v1/changes/past";
    world.dev(
        "/_dev/faults",
        json!({ "path_pattern": path, "status": 404 }),
    );
    let plan = ["rewind", "/f", "--to", &then, "--dry-run"];
    let unseen = world.run("b", &plan).stdout;
    for words in [
        "Nothing that the service still has is known to be different from then",
        "The service keeps no history of places, and this device has seen no move",
    ] {
        assert!(unseen.contains(words), "{unseen}");
    }
    let seen = rewind(&world, "a", &then, "--dry-run");
    assert_eq!(seen["plan"]["moves"].as_array().map(Vec::len), Some(1));
    let warning = seen["warning"].as_str().expect("a warning");
    assert!(warning.contains("knows moves only since"), "{warning}");
    let history = world.json("b", &["history", "/f"]);
    assert_eq!(history["warning"].as_str().map(str::is_empty), Some(false));
    // Any other failure is no sign of an older service.
    world.clear_faults();
    world.dev(
        "/_dev/faults",
        json!({ "path_pattern": path, "status": 403 }),
    );
    world
        .run("b", &plan)
        .assert_refused(1, &["moved and deleted"]);
    world.clear_faults();
    let known = rewind(&world, "b", &then, "--dry-run");
    assert_eq!(known["plan"]["moves"], seen["plan"]["moves"]);
    assert_eq!(known["warning"], FORGOTTEN);
}
