//! `cairn rewind` of a path whose folder was renamed since, or deleted and made anew: it tells where things are.

use crate::commands::past::now;
use crate::commands::world::World;
use serde_json::{Value, json};

/// Returns a world with the files `x` and `y` in /F/k, and a time after that.
fn world_with_folder() -> (World, String) {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "--parents", "/F/k"]);
    for name in ["x", "y"] {
        world.write(name, "old");
        world.json("a", &["upload", name, "--to", "/F/k"]);
    }
    let then = now(&world);
    (world, then)
}

fn make_anew(world: &World) {
    world.json("a", &["mkdir", "/F/k"]);
    world.write("x", "new");
    world.json("a", &["upload", "x", "--to", "/F/k"]);
}

fn content(world: &World, path: &str) -> Value {
    world.json("a", &["cat", path])["text"].clone()
}

#[test]
fn a_rewind_of_a_folder_that_was_renamed_says_where_it_is_and_that_it_stays() {
    let (world, then) = world_with_folder();
    world.json("a", &["mv", "/F/k", "/F/k2"]);
    make_anew(&world);
    for (path, is_at) in [
        ("/F/k", "/F/k2"),
        ("/F/k/x", "/F/k2/x"),
        ("/F/k/y", "/F/k2/y"),
    ] {
        let rewound = world.run("a", &["rewind", path, "--to", &then, "--yes"]);
        rewound.assert_refused(5, &["1 item"]);
        let line = format!("    {is_at}: it was {path} then, and stays where it is");
        assert!(rewound.stdout.contains(&line), "{rewound:?}");
        assert!(!rewound.stdout.contains("Nothing"), "{rewound:?}");
        let planned = world.json("a", &["rewind", path, "--to", &then, "--dry-run"]);
        assert_eq!(planned["plan"]["incomplete"][0]["path"], is_at, "{planned}");
    }
    assert_eq!(content(&world, "/F/k/x"), "new");
    assert_eq!(content(&world, "/F/k2/x"), "old");

    // By its present path and by its id, the folder is rewound where it is.
    for path in ["/F/k2", "/F/k2/x"] {
        let rewound = world.json("a", &["rewind", path, "--to", &then, "--yes"]);
        assert_eq!(rewound["plan"]["incomplete"], json!([]), "{rewound}");
    }
    // As the message says, a rewind of the folder above gives all of it its place back.
    let rewound = world.json("a", &["rewind", "/F", "--to", &then, "--yes"]);
    assert_eq!(rewound["done"]["failed"], json!([]), "{rewound}");
    assert_eq!(content(&world, "/F/k/x"), "old");
}

#[test]
fn a_rewind_of_a_folder_that_was_made_anew_says_that_the_old_one_comes_back_beside_it() {
    let (world, then) = world_with_folder();
    world.json("a", &["rm", "/F/k"]);
    make_anew(&world);
    let rewound = world.run("a", &["rewind", "/F/k", "--to", &then, "--yes"]);
    rewound.assert_refused(5, &["1 item"]);
    for word in [
        "2 files come back",
        "    /F/k: another one is there now, and stays",
        "a rewind of /F gives it its place back",
    ] {
        assert!(rewound.stdout.contains(word), "{rewound:?}");
    }
    assert_eq!(content(&world, "/F/k/x"), "new");
    assert_eq!(content(&world, "/F/k (2)/x"), "old");
}

#[test]
fn a_file_that_went_with_its_folder_comes_back_beside_the_new_folder_and_it_says_so() {
    let (world, then) = world_with_folder();
    world.json("a", &["rm", "/F/k"]);
    make_anew(&world);
    let planned = world.json("a", &["rewind", "/F/k/x", "--to", &then, "--dry-run"]);
    let incomplete = &planned["plan"]["incomplete"][0];
    assert_eq!(incomplete["path"], "/F/k", "{planned}");
    let rewound = world.run("a", &["--json", "rewind", "/F/k/x", "--to", &then, "--yes"]);
    assert_eq!(rewound.code, 5, "{rewound:?}");
    assert_eq!(content(&world, "/F/k/x"), "new");
}

#[test]
fn what_stands_in_the_place_of_something_that_does_not_come_back_stays() {
    let (world, then) = world_with_folder();
    world.json("a", &["rm", "/F/k/x"]);
    world.write("x", "new");
    world.json("a", &["upload", "x", "--to", "/F/k"]);
    for path in ["/api/v1/nodes/batch$", "/api/v1/nodes/*/restore"] {
        world.dev(
            "/_dev/faults",
            json!({ "path_pattern": path, "status": 409 }),
        );
    }
    let rewound = world.run("a", &["rewind", "/F/k", "--to", &then, "--yes"]);
    world.clear_faults();
    rewound.assert_refused(5, &["2 items"]);
    assert_eq!(content(&world, "/F/k/x"), "new");
    let rewound = world.json("a", &["rewind", "/F/k", "--to", &then, "--yes"]);
    assert_eq!(rewound["done"]["failed"], json!([]), "{rewound}");
    assert_eq!(content(&world, "/F/k/x"), "old");
}
