//! Commands on a device that syncs, beside what is sealed with replaced keys: by a device that doesn't know of the
//! new ones yet, or by whoever has a lost one and works with the server.

use crate::commands::world::{CommandOutput, Stopping, World};
use serde_json::{Value, json};

fn wait(world: &World) {
    world.json("a", &["status", "--wait", "--timeout", "60"]);
}

fn upload(world: &World, home: &str, name: &str, content: &str) {
    world.write(name, content);
    world.json(home, &["upload", &world.text(name)]);
}

/// Two devices of which the first syncs and has replaced the keys; the second has written the file `/late` and a new
/// version of `/plan` under the former ones since.
fn with_late_changes() -> World {
    let world = World::new();
    world.login("a");
    world.login("b");
    for name in ["plan", "known", "gone"] {
        upload(&world, "b", name, "from before");
    }
    std::fs::create_dir_all(world.path("f")).unwrap();
    world.json("a", &["add", "f", "--remote", "/"]);
    {
        let _stopping = Stopping(&world, "a");
        wait(&world);
        world.json("b", &["delete", "/gone"]);
        world.json("a", &["sync"]);
        wait(&world);
    }
    let served = world.served_keys();
    let passphrase = world.text("passphrase");
    world.json("a", &["keys", "rotate", "--passphrase-file", &passphrase]);
    {
        let _stopping = Stopping(&world, "a");
        world.json("a", &["start"]);
        wait(&world);
    }
    world.dev(
        "/_dev/faults",
        json!({"path_pattern": "/api/v1/keys$", "method": "GET", "set": {"": served}}),
    );
    for name in ["late", "plan"] {
        upload(&world, "b", name, "under the former keys");
    }
    world.clear_faults();
    world
}

fn run(world: &World, args: &[&str]) -> CommandOutput {
    world.run("a", &[&["--json"], args].concat())
}

fn is_verified(world: &World, path: &str) -> Value {
    let info = world.json("a", &["info", path])["verified"].clone();
    let cat = world.json("a", &["cat", path])["verified"].clone();
    assert_eq!(info, cat, "{path}");
    info
}

#[test]
fn what_was_sealed_with_replaced_keys_since_is_not_verified_where_the_daemon_knows_that() {
    let world = with_late_changes();
    // Also before the daemon has seen it.
    assert_eq!(is_verified(&world, "/late"), false);
    {
        let _stopping = Stopping(&world, "a");
        world.json("a", &["start"]);
        wait(&world);
        let why = world.json("a", &["why", "f/late"]);
        assert_eq!(why["verified"], false, "{why}");
    }
    for (path, expected) in [("/late", false), ("/plan", false), ("/known", true)] {
        assert_eq!(is_verified(&world, path), expected, "{path}");
    }
    let link = |path| run(&world, &["share", "create", path]);
    for path in ["/late", "/plan"] {
        link(path).assert_refused(5, &["present keys", path, "--include-unverified"]);
    }
    assert_eq!(link("/known").code, 0);

    world.json("a", &["config", "set", "sync.verify", "strict"]);
    let out = world.text("out");
    for path in ["/late", "/plan"] {
        run(&world, &["cat", path]).assert_refused(5, &[path, "present keys"]);
        let download = ["download", path, "--out", &out];
        run(&world, &download).assert_refused(5, &[path, "present keys"]);
    }
    assert_eq!(run(&world, &["cat", "/known"]).code, 0);
}

#[test]
fn what_was_deleted_before_the_keys_were_replaced_comes_back_verified() {
    let world = with_late_changes();
    let trashed = world.json("a", &["trash", "list", "--remote"])["trashed"][0].clone();
    let id = trashed["id"].as_str().expect("it has an id");
    let restored = run(&world, &["trash", "restore", "--remote", id]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert!(!restored.stderr.contains("not verified"), "{restored:?}");
    assert_eq!(is_verified(&world, "/gone"), true);
}

#[test]
fn a_change_of_what_is_not_verified_does_not_vouch_for_it() {
    let world = with_late_changes();
    world.json("a", &["move", "/late", "/moved"]);
    assert_eq!(is_verified(&world, "/moved"), false);
    world.json("a", &["move", "/known", "/also-moved"]);
    assert_eq!(is_verified(&world, "/also-moved"), true);
}
