//! Commands and tools in a private space, in which the server can make no other name of one that is in use, and the
//! making of that space.

use crate::commands::past::now;
use crate::commands::session::Session;
use crate::commands::world::World;
use serde_json::{Value, json};
use std::thread;

/// Returns the result of a command in the private space of this account.
fn in_private(world: &World, args: &[&str]) -> Value {
    world.json("a", &[args, &["--team", "Own"]].concat())
}

fn upload(world: &World, content: &str) {
    world.write("f", content);
    in_private(world, &["upload", "f", "--to", "/d"]);
}

/// Returns a world with /d/f in a private space, and a time at which it was `old`. The file is another one since.
fn world_with_replaced_file() -> (World, String) {
    let world = World::new();
    world.login("a");
    world.json("a", &["teams", "create", "Own", "--private"]);
    world.json("a", &["teams", "grant", "Own"]);
    in_private(&world, &["mkdir", "/d"]);
    upload(&world, "old");
    let then = now(&world);
    in_private(&world, &["rm", "/d/f"]);
    upload(&world, "new");
    (world, then)
}

fn content(world: &World, path: &str) -> Value {
    in_private(world, &["cat", path])["text"].clone()
}

fn files(world: &World) -> Value {
    in_private(world, &["tree", "/d"])["files"].clone()
}

#[test]
fn a_folder_of_a_private_space_is_rewound_where_a_name_is_in_use_again() {
    let (world, then) = world_with_replaced_file();
    let rewound = in_private(&world, &["rewind", "/d", "--to", &then, "--yes"]);
    assert_eq!(rewound["done"]["failed"], json!([]), "{rewound}");
    assert_eq!(
        (content(&world, "/d/f"), files(&world)),
        (json!("old"), json!(1))
    );
    let info = in_private(&world, &["info", "/d/f"]);
    assert_eq!(info["verified"], true, "{info}");
}

#[test]
fn what_comes_back_to_a_name_in_use_in_a_private_space_gets_a_number() {
    let (world, then) = world_with_replaced_file();
    in_private(&world, &["restore", "/d/f", "--at", &then]);
    assert_eq!(content(&world, "/d/f"), "new");
    assert_eq!(content(&world, "/d/f (2)"), "old");
    let info = in_private(&world, &["info", "/d/f (2)"]);
    assert_eq!(info["verified"], true, "{info}");

    in_private(&world, &["rm", "/d/f (2)"]);
    upload(&world, "newer");
    in_private(&world, &["rm", "/d/f"]);
    upload(&world, "newest");
    world.json("a", &["undo", "--last", "--yes"]);
    assert_eq!(content(&world, "/d/f"), "newest");
}

#[test]
fn devices_that_make_the_private_space_at_once_have_one() {
    let world = World::new();
    let homes = ["a", "b", "c"];
    for home in homes {
        world.login(home);
        std::fs::create_dir(world.path(&format!("folder-{home}"))).unwrap();
    }
    let add = |home: &str| {
        let folder = world.text(&format!("folder-{home}"));
        world.run(
            home,
            &["add", &folder, "--private", "--remote", &format!("/{home}")],
        )
    };
    thread::scope(|scope| {
        let adding = homes.map(|home| scope.spawn(move || add(home)));
        for added in adding {
            let added = added.join().unwrap();
            assert_eq!(added.code, 0, "{added:?}");
        }
    });
    let teams = world.json("a", &["teams", "list"]);
    let all = teams["teams"].as_array().into_iter().flatten();
    let private = all.filter(|team| team["name"] == "Private");
    assert_eq!(private.count(), 1, "{teams}");
}

#[test]
fn a_tool_asks_for_the_teams_and_their_keys_once_in_a_call() {
    let (world, _) = world_with_replaced_file();
    let teams = world.json("a", &["teams", "list"]);
    let all = teams["teams"].as_array().into_iter().flatten();
    let own = all.filter(|team| team["name"] == "Own");
    let own = own.map(|team| team["id"].clone()).next();
    let mut session = Session::start(&world, "a", &[]);
    let top = session.call("list_files", json!({ "folder_uuid": own }));
    let folder = &top["content"][0];
    assert_eq!(folder["name"], "d", "{top}");
    // The first call finds out whose it is.
    let folder = json!({ "folder_uuid": folder["id"] });
    session.call("list_files", folder.clone());
    let before = world.requests().len();
    let list = session.call("list_files", folder);
    assert_eq!(list["content"][0]["path"], "Own/d/f", "{list}");
    let asked = world.requests().split_off(before);
    let count = |part: &str| asked.iter().filter(|one| one.contains(part)).count();
    let of_team = ["/teams?", "/keys", "/members"].map(count);
    assert_eq!(of_team, [1, 1, 1], "{asked:#?}");
    assert_eq!(asked.len(), 5, "{asked:#?}");
    assert_eq!(session.end(), Some(0));
}
