//! `--dry-run`: says what would be done, and changes nothing.

use crate::commands::world::{Stopping, World, names};
use serde_json::{Value, json};

/// Returns the document of a command that must not change anything.
fn planned(world: &World, args: &[&str]) -> Value {
    let document = world.json("a", &[args, &["--dry-run"]].concat());
    assert_eq!(document["dry_run"], true, "{args:?}: {document}");
    document
}

fn tree(world: &World) -> Value {
    world.json("a", &["tree"])["nodes"].clone()
}

#[test]
fn commands_on_the_service_show_what_they_would_do() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/d"]);
    world.write("f", "x");
    world.json("a", &["upload", "f"]);
    let link = world.json("a", &["share", "create", "/f"]);
    let code = link["short_code"].as_str().expect("it has a code");
    let before = tree(&world);

    let moved = planned(&world, &["move", "/f", "/d"]);
    assert_eq!(
        (&moved["from"], &moved["to"]),
        (&json!("/f"), &json!("/d/f"))
    );
    let copied = planned(&world, &["copy", "/f", "/g"]);
    assert_eq!(
        (&copied["from"], &copied["to"]),
        (&json!("/f"), &json!("/g"))
    );
    world
        .run("a", &["move", "/none", "/d", "--dry-run"])
        .assert_refused(1, &["/none"]);
    let revoked = planned(&world, &["share", "revoke", code]);
    assert_eq!(
        (&revoked["would_revoke"], &revoked["file_name"]),
        (&json!(code), &json!("f"))
    );
    assert_eq!(tree(&world), before);
    let links = world.json("a", &["share", "list"])["links"].clone();
    assert_eq!(links.as_array().map(Vec::len), Some(1), "{links}");

    // The control: without the flag they do it.
    world.json("a", &["move", "/f", "/d"]);
    world.json("a", &["share", "revoke", code]);
    assert_ne!(tree(&world), before);
}

#[test]
fn an_undo_shows_how_everything_would_be() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "--parents", "/x/y"]);
    let made = tree(&world);
    let shown = planned(&world, &["undo"]);
    // The inner folder goes first, so that the outer one is empty then.
    let expected = json!(["`y` is in the trash", "`x` is in the trash"]);
    assert_eq!(
        (&shown["taken_back"], &shown["left"]),
        (&expected, &json!([]))
    );
    assert_eq!(tree(&world), made);
    let text = world.run("a", &["undo", "--dry-run"]);
    assert!(text.stdout.contains("nothing was done"), "{text:?}");

    world.write("f", "x");
    world.json("a", &["upload", "f", "--to", "/x/y"]);
    let session = shown["undone"].as_str().expect("a session");
    let shown = planned(&world, &["undo", "--session", session]);
    assert_eq!(shown["left"].as_array().map(Vec::len), Some(2), "{shown}");
    let undone = world.run("a", &["--json", "undo", "--session", session, "--yes"]);
    assert_eq!(undone.code, 5, "{undone:?}");
    let undone: Value = serde_json::from_str(&undone.stdout).expect("a document");
    assert_eq!(
        (&undone["taken_back"], &undone["left"]),
        (&shown["taken_back"], &shown["left"])
    );
}

#[test]
fn devices_and_the_login_stay() {
    let world = World::new();
    world.login("a");
    let passphrase = world.text("passphrase");
    let key = world.api_key("phone");
    let name = ["--device-name", "phone"];
    world.json(
        "c",
        &[&world.login_args(&key, &passphrase)[..], &name].concat(),
    );
    let devices = world.json("a", &["devices"]);

    let removed = planned(&world, &["devices", "remove", "phone"]);
    assert_eq!(removed["name"], "phone");
    let revoked = planned(&world, &["devices", "revoke", "phone"]);
    assert_eq!(revoked["would_revoke"], removed["would_remove"]);
    world
        .run("a", &["devices", "revoke", "desk", "--dry-run"])
        .assert_refused(2, &["no device desk"]);
    assert_eq!(planned(&world, &["logout"])["would_delete"], json!([]));
    let purged = planned(&world, &["logout", "--purge"])["would_delete"].clone();
    assert!(purged.to_string().contains("account.json"), "{purged}");

    let still = world.json("a", &["devices"]);
    let ids = |list: &Value| {
        let devices = list["devices"].as_array().expect("a list").clone();
        devices
            .iter()
            .map(|one| one["id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&still), ids(&devices));
    assert_eq!(world.json("a", &["keys"])["epoch"], 1);
    assert!(!world.path("a/rotation.json").exists());
    world.json("c", &["whoami"]);
}

#[test]
fn what_waits_for_a_person_goes_on_waiting() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir(world.path("f")).expect("a folder can be made");
    for name in ["1", "2", "3", "4"] {
        world.write(&format!("f/{name}"), name);
    }
    world.json("a", &["add", "f", "--deletion-gate", "10%:2"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    world
        .run("a", &["confirm", "f", "delete", "--dry-run"])
        .assert_refused(1, &["nothing in this folder waits"]);
    for name in ["1", "2", "3"] {
        std::fs::remove_file(world.path(&format!("f/{name}"))).expect("it is there");
    }
    let waiting = world.run("a", &["status", "--wait", "--timeout", "60"]);
    assert_eq!(waiting.code, 5, "{waiting:?}");
    let headline = waiting.stdout.lines().next().unwrap_or_default();
    assert!(
        headline.starts_with("needs attention, 3 deletions to confirm"),
        "{waiting:?}"
    );

    for answer in ["delete", "keep"] {
        let shown = planned(&world, &["confirm", "f", answer]);
        assert_eq!(shown["files"], 3, "{shown}");
    }
    world
        .run("a", &["confirm", "f", "overwrite", "--dry-run"])
        .assert_refused(1, &["nothing in this folder waits"]);
    world
        .run("a", &["resolve", "f/4", "--keep", "mine", "--dry-run"])
        .assert_refused(1, &["not in conflict"]);
    assert_eq!(planned(&world, &["accept"])["would_accept"], json!([]));
    let local = world.text("f");
    assert_eq!(planned(&world, &["remove", "f"])["would_remove"], local);
    world
        .run("a", &["remove", "g", "--dry-run"])
        .assert_refused(2, &["cairn folders"]);
    let waiting = world.run("a", &["status", "--wait", "--timeout", "60"]);
    assert_eq!(waiting.code, 5, "it still waits: {waiting:?}");

    world.json("a", &["confirm", "f", "delete"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    assert_eq!(names(&world.path("f")), ["4"]);

    world.json("a", &["config", "set", "sync.verify", "strict"]);
    world.make_folder_without_keys("foreign");
    world.json("a", &["sync"]);
    let blocked = world.run("a", &["status", "--wait", "--timeout", "60"]);
    assert!(
        blocked.stdout.contains(", 1 unverified change to accept"),
        "{blocked:?}"
    );
    let shown = planned(&world, &["accept"]);
    assert_eq!(shown["would_accept"], json!(["foreign"]));
    assert_eq!(world.json("a", &["accept"])["accepted"], 1);
}

#[test]
fn what_strict_verification_holds_back_is_named_with_what_it_does() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir_all(world.path("f/d")).expect("folders can be made");
    for name in ["f/d/gone", "f/d/old"] {
        world.write(name, name);
    }
    world.json("a", &["add", "f", "--remote", "/f"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    world.json("a", &["config", "set", "sync.verify", "strict"]);
    let id = |path: &str| {
        let id = world.json("a", &["info", path])["id"].clone();
        id.as_str().expect("an id").to_owned()
    };
    let (gone, old) = (id("/f/d/gone"), id("/f/d/old"));
    world.delete_without_keys(&gone);
    world.rename_without_keys(&old, "new");
    world.json("a", &["sync"]);
    // A daemon that starts anew knows as much.
    for _ in 0..2 {
        world.run("a", &["status", "--wait", "--timeout", "60"]);
        let shown = planned(&world, &["accept"]);
        assert_eq!(shown["would_accept"], json!(["d/gone", "d/old"]));
        let folder = world.text("f");
        let change = |path: &str, change: &str, new_path: Value| json!({ "folder": folder, "path": path, "change": change, "new_path": new_path });
        let expected = [
            change("d/gone", "deleted", Value::Null),
            change("d/old", "moved", json!("d/new")),
        ];
        assert_eq!(shown["changes"], json!(expected), "{shown}");
        let text = world.run("a", &["accept", "--dry-run"]).stdout;
        assert!(text.contains("d/gone is deleted"), "{text}");
        assert!(text.contains("d/old is moved to d/new"), "{text}");
        world.json("a", &["restart"]);
    }
    assert_eq!(world.json("a", &["accept"])["accepted"], 2);
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    assert_eq!(names(&world.path("f/d")), ["new"]);
}

#[test]
fn a_conflict_stays_open() {
    let world = World::new();
    for home in ["a", "b"] {
        world.login(home);
        world.json(home, &["add", &format!("f-{home}"), "--remote", "/f"]);
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    world.write("f-a/f.txt", "base");
    for home in ["a", "b"] {
        world.json(home, &["status", "--wait", "--timeout", "60"]);
    }
    for home in ["a", "b"] {
        world.json(home, &["pause"]);
        world.write(&format!("f-{home}/f.txt"), format!("edited on {home}"));
    }
    for home in ["b", "a"] {
        world.json(home, &["resume"]);
        world.run(home, &["status", "--wait", "--timeout", "60"]);
    }
    let resolve = ["resolve", "f-a/f.txt", "--keep", "mine"];
    let shown = planned(&world, &resolve);
    assert_eq!(shown["keep"], "mine");
    let open = world.json("a", &["conflicts"])["conflicts"].clone();
    assert_eq!(open[0]["copy"], shown["copy"], "{open}");
    world.json("a", &resolve);
    let open = world.json("a", &["conflicts"])["conflicts"].clone();
    assert_eq!(open, json!([]));
}
