//! The way out of the trash for what was in a folder that was deleted later: to its path, into a folder that is made
//! again.

use crate::commands::past::now;
use crate::commands::world::World;
use serde_json::{Value, json};

/// Returns a world with the files `x` and `y` in /F/k, and with the id of `x`.
fn world_with_files() -> (World, String) {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "--parents", "/F/k"]);
    let mut ids = Vec::new();
    for name in ["x", "y"] {
        world.write(name, name);
        let up = world.json("a", &["upload", name, "--to", "/F/k"]);
        ids.push(up["node"]["id"].as_str().unwrap().to_owned());
    }
    (world, ids.remove(0))
}

fn delete(world: &World, paths: &[&str]) {
    for path in paths {
        world.json("a", &["rm", path]);
    }
}

fn info(world: &World, path: &str) -> Value {
    world.json("a", &["info", path])
}

fn assert_alone_at_its_path(world: &World, id: &str) {
    let x = info(world, "/F/k/x");
    assert_eq!(
        (&x["id"], &x["verified"]),
        (&json!(id), &json!(true)),
        "{x}"
    );
    assert_eq!(info(world, "/F/k")["verified"], true);
    let missing = world.run("a", &["info", "/F/k/y"]);
    assert_ne!(
        missing.code, 0,
        "what else was in the folder stays: {missing:?}"
    );
}

#[test]
fn a_file_whose_folder_was_deleted_after_it_comes_back_to_its_path() {
    let (world, id) = world_with_files();
    delete(&world, &["/F/k/x", "/F/k"]);
    let shown = world.json("a", &["restore", "/F/k/x", "--dry-run"]);
    assert_eq!(shown["path"], "/F/k/x", "{shown}");
    let back = world.json("a", &["restore", "/F/k/x"]);
    assert_eq!(
        (&back["path"], &back["folders_made"]),
        (&json!("/F/k/x"), &json!(["/F/k"])),
        "{back}"
    );
    assert_alone_at_its_path(&world, &id);

    // The folder that was made goes with it when that is taken back.
    world.json("a", &["undo", "--last", "--yes"]);
    assert_ne!(world.run("a", &["info", "/F/k"]).code, 0);
}

#[test]
fn folders_above_are_made_again_as_far_as_they_are_gone() {
    let (world, id) = world_with_files();
    delete(&world, &["/F/k/x", "/F"]);
    let back = world.json("a", &["trash", "restore", "--remote", &id]);
    assert_eq!(
        (&back["path"], &back["folders_made"]),
        (&json!("/F/k/x"), &json!(["/F", "/F/k"])),
        "{back}"
    );
    assert_alone_at_its_path(&world, &id);

    // A folder that was made there since is taken.
    delete(&world, &["/F/k/x", "/F"]);
    world.json("a", &["mkdir", "--parents", "/F/k"]);
    let back = world.json("a", &["restore", "/F/k/x"]);
    assert_eq!(back["folders_made"], json!([]), "{back}");
    assert_alone_at_its_path(&world, &id);
}

#[test]
fn a_file_of_a_time_comes_back_to_its_path_by_restore_and_rewind() {
    let (world, id) = world_with_files();
    let then = now(&world);
    for command in [
        &["restore", "/F/k/x", "--at", &then][..],
        &["rewind", "/F/k/x", "--to", &then, "--yes"],
    ] {
        delete(&world, &["/F/k/x", "/F/k"]);
        world.json("a", command);
        assert_alone_at_its_path(&world, &id);
    }
}

#[test]
fn a_folder_whose_folder_was_deleted_after_it_comes_back_with_what_was_in_it() {
    let (world, id) = world_with_files();
    let then = now(&world);
    for command in [
        &["restore", "/F/k"][..],
        &["restore", "/F/k", "--at", &then],
        &["rewind", "/F/k", "--to", &then, "--yes"],
    ] {
        delete(&world, &["/F/k", "/F"]);
        world.json("a", command);
        for path in ["/F/k/x", "/F/k/y"] {
            assert_eq!(info(&world, path)["verified"], true, "{command:?}");
        }
        assert_eq!(info(&world, "/F/k/x")["id"], id.as_str(), "{command:?}");
    }
}

#[test]
fn an_undo_brings_a_file_back_to_its_path() {
    let (world, id) = world_with_files();
    delete(&world, &["/F/k/x"]);
    let sessions = world.json("a", &["undo", "--list"])["sessions"].clone();
    let session = sessions[0]["session"].as_str().unwrap();
    delete(&world, &["/F/k"]);
    world.json("a", &["undo", "--session", session, "--yes"]);
    assert_alone_at_its_path(&world, &id);
}

#[test]
fn what_can_not_come_back_to_its_path_says_where_it_is_going() {
    let (world, id) = world_with_files();
    delete(&world, &["/F/k/x", "/F/k"]);
    world.json("a", &["upload", "x", "--to", "/F", "--name", "k"]);
    let shown = world.json("a", &["restore", &id, "--dry-run"]);
    assert_eq!(shown["path"], "/x", "{shown}");
    let back = world.run("a", &["restore", &id]);
    assert!(back.stdout.contains("/x is back"), "{back:?}");
    assert!(back.stderr.contains("It is at the top"), "{back:?}");
}
