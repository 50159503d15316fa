//! A rewind of many files: the requests that it needs, what comes of it, and responses that are lost.

use crate::commands::past::{now, settle};
use crate::commands::world::World;
use serde_json::json;
use std::fs;

/// Files of each kind: edited, moved, deleted.
const FILES: usize = 100;
/// The names of the files, without their numbers.
const KINDS: [&str; 3] = ["edited", "same-name", "deleted"];
/// The most requests: the space is read three times, and each kind of change is a few requests for all files.
const MOST: usize = 60;

/// Makes files, and then changes of each kind on the first device. Returns the time between the two.
fn changed_files(world: &World) -> String {
    world.login("a");
    world.login("b");
    fs::create_dir_all(world.path("f/moved")).expect("a folder can be made");
    let file = |kind: &str, n: usize| world.path(&format!("f/{kind}{n}"));
    for kind in KINDS {
        for n in 0..FILES {
            fs::write(file(kind, n), format!("{kind} {n}")).expect("a file can be written");
        }
    }
    world.json(
        "a",
        &["add", "f", "--remote", "/f", "--deletion-gate", "off"],
    );
    settle(world, "a");
    let then = now(world);
    for n in 0..FILES {
        fs::write(file("edited", n), format!("changed {n}")).expect("a file can be written");
        let moved = world.path(&format!("f/moved/{n}"));
        fs::rename(file("same-name", n), moved).expect("a file can be moved");
        fs::remove_file(file("deleted", n)).expect("a file can be deleted");
        fs::write(file("new", n), "new").expect("a file can be written");
    }
    settle(world, "a");
    world.json("a", &["stop"]);
    then
}

/// Brings the folder back from the second device, and checks that all of it was done.
fn rewind(world: &World, then: &str) {
    let done = world.json("b", &["rewind", "/f", "--to", then, "--yes"]);
    let wanted = json!({
        "restored": FILES, "moved": FILES, "trashed": FILES, "contents": FILES, "failed": []
    });
    assert_eq!(done["done"], wanted, "{done}");
}

/// Checks that the service has what the folder had at first, sealed by a device.
fn check_is_back(world: &World) {
    world.json("b", &["download-folder", "/f", "--out", "back"]);
    let mut found: Vec<_> = fs::read_dir(world.path("back"))
        .expect("it is a folder")
        .map(|entry| entry.expect("it can be listed"))
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            let content = fs::read_to_string(entry.path()).expect("it can be read");
            (entry.file_name().into_string().expect("a name"), content)
        })
        .collect();
    found.sort();
    let mut wanted: Vec<_> = KINDS
        .into_iter()
        .flat_map(|kind| (0..FILES).map(move |n| (format!("{kind}{n}"), format!("{kind} {n}"))))
        .collect();
    wanted.sort();
    assert_eq!(found, wanted);
    for kind in KINDS {
        let info = world.json("b", &["info", &format!("/f/{kind}0")]);
        assert_eq!(info["verified"], true, "{info}");
    }
}

/// Takes the rewind back, and checks that the folder is as it was before it.
fn check_undo(world: &World) {
    let undone = world.json("b", &["undo", "--last", "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    let edited = world.json("b", &["cat", "/f/edited7"]);
    assert_eq!(edited["text"], "changed 7");
    world.json("b", &["info", "/f/moved/7"]);
    world.json("b", &["info", "/f/new7"]);
    assert_eq!(world.run("b", &["info", "/f/deleted7"]).code, 1);
}

#[test]
fn many_files_go_back_in_few_requests_and_stay_verified() {
    let world = World::new();
    let then = changed_files(&world);
    let before = world.requests().len();
    rewind(&world, &then);
    let asked = world.requests().split_off(before);
    assert!(asked.len() <= MOST, "{} requests: {asked:#?}", asked.len());
    assert!(
        !asked.iter().any(|request| request.contains("/chunks/")),
        "no content is sent: {asked:#?}"
    );
    check_is_back(&world);
    // All of it is noted: it can be taken back.
    check_undo(&world);
}

#[test]
fn changes_whose_responses_were_lost_are_known_as_made() {
    let world = World::new();
    let then = changed_files(&world);
    for path in ["/api/v1/nodes/batch$", "/api/v1/uploads/batch$"] {
        let lost = json!({ "path_pattern": path, "cut_after_bytes": 1 });
        world.dev("/_dev/faults", lost);
    }
    rewind(&world, &then);
    world.clear_faults();
    check_is_back(&world);
    check_undo(&world);
}

#[test]
fn a_swap_of_names_whose_response_was_lost_can_be_undone() {
    let world = World::new();
    world.login("a");
    world.login("b");
    fs::create_dir(world.path("f")).expect("a folder can be made");
    for name in ["x", "y"] {
        world.write(&format!("f/{name}"), name);
    }
    world.json("a", &["add", "f", "--remote", "/f"]);
    settle(&world, "a");
    let then = now(&world);
    for (from, to) in [("x", "other"), ("y", "x"), ("other", "y")] {
        let path = |name: &str| world.path(&format!("f/{name}"));
        fs::rename(path(from), path(to)).expect("a file can be moved");
    }
    settle(&world, "a");
    world.json("a", &["stop"]);
    let text = |path| world.json("b", &["cat", path])["text"].clone();
    assert_eq!(text("/f/x"), "y");
    let lost = json!({ "path_pattern": "/api/v1/nodes/batch$", "cut_after_bytes": 1 });
    world.dev("/_dev/faults", lost);
    let done = world.json("b", &["rewind", "/f", "--to", &then, "--yes"]);
    assert_eq!(done["done"]["moved"], 2, "{done}");
    world.clear_faults();
    assert_eq!(text("/f/x"), "x");
    let undone = world.json("b", &["undo", "--last", "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!((text("/f/x"), text("/f/y")), (json!("y"), json!("x")));
}
