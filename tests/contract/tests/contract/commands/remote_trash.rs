//! `cairn trash` of the service.

use crate::commands::world::World;
use serde_json::json;

#[test]
fn the_trash_of_the_service_counts_what_is_below_folders() {
    let world = World::new();
    world.login("a");
    world.write("up.txt", "12345");
    world.json("a", &["mkdir", "/et"]);
    world.json("a", &["upload", "up.txt", "--to", "/et"]);
    world.json("a", &["delete", "/et"]);
    let list = world.json("a", &["trash", "list", "--remote"]);
    let top = &list["trashed"][0];
    assert_eq!((&top["items"], &top["bytes"]), (&json!(2), &json!(5)));
    let shown = world.run("a", &["trash", "empty", "--remote", "--dry-run"]);
    let words = "2 items in the service's trash, 5 B.";
    assert!(shown.stdout.contains(words), "{shown:?}");
}
