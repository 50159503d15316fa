//! `cairn compare`: equal words on devices that see the same, others on one that is shown something else.

use crate::commands::world::{Stopping, World};
use serde_json::{Value, json};

/// The words of the account's own files on a device, and whether it was in sync.
fn words(world: &World, home: &str) -> (Value, bool) {
    let compared = world.json(home, &["compare"]);
    let spaces = compared["spaces"].as_array().unwrap();
    assert_eq!(spaces.len(), 1, "{compared}");
    let own = &spaces[0];
    assert!(own["team"].is_null(), "{compared}");
    assert_eq!(own["words"].as_array().map(Vec::len), Some(12));
    (own["words"].clone(), compared["in_sync"] == true)
}

fn wait(world: &World, home: &str) {
    world.json(home, &["status", "--wait", "--timeout", "60"]);
}

#[test]
fn a_device_from_which_changes_are_hidden_has_other_words_than_one_that_sees_them() {
    let world = World::new();
    world.login("a");
    let none = world.run("a", &["compare"]);
    assert!(none.stdout.contains("No folder is synced"), "{none:?}");
    world.login("b");
    for home in ["a", "b"] {
        world.json(home, &["add", &format!("folder-{home}")]);
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    world.write("folder-a/f.txt", "from a");
    for home in ["a", "b"] {
        wait(&world, home);
    }
    wait(&world, "a");
    let before = words(&world, "a");
    assert!(before.1, "a is in sync");
    assert_eq!(words(&world, "b"), before);

    // What the service shows to one of them ends here, as if nothing happened since.
    world.run("b", &["stop"]);
    world.write("folder-a/f.txt", "and changed since");
    wait(&world, "a");
    let now = words(&world, "a");
    assert_ne!(now.0, before.0);
    assert_eq!(words(&world, "b"), (before.0, false));
    let text = world.run("b", &["compare"]);
    assert!(text.stderr.contains("daemon is not running"), "{text:?}");
    assert!(
        text.stdout.contains("last change, as the service says"),
        "{text:?}"
    );

    wait(&world, "b");
    assert_eq!(words(&world, "b"), now);
}

#[test]
fn what_no_key_holder_has_made_is_counted_and_not_compared() {
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "folder-a"]);
    let _stopping = Stopping(&world, "a");
    world.write("folder-a/f.txt", "from a");
    wait(&world, "a");
    let before = words(&world, "a");
    world.make_folder_without_keys("foreign");
    world.json("a", &["sync"]);
    wait(&world, "a");
    let compared = world.json("a", &["compare"]);
    assert_eq!(compared["spaces"][0]["unsealed"], json!(1), "{compared}");
    assert_eq!(words(&world, "a").0, before.0);
}
