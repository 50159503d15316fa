//! The daemon from outside: starting and stopping it, and the commands that steer it.

use crate::commands::world::{Stopping, World, names};
use crate::support::OWNER;
use serde_json::{Value, json};

fn wait(world: &World, home: &str) -> Value {
    world.json(home, &["status", "--wait", "--timeout", "60"])
}

#[test]
fn a_command_starts_the_daemon_and_two_devices_sync() {
    let world = World::new();
    for home in ["a", "b"] {
        world.login(home);
        let folder = format!("folder-{home}");
        let added = world.json(
            home,
            &["add", &folder, "--remote", "/shared", "--exclude", "*.tmp"],
        );
        assert_eq!(
            (&added["remote"], &added["exclude"]),
            (&json!("/shared"), &json!(["*.tmp"]))
        );
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    world
        .run("a", &["--no-start", "status"])
        .assert_refused(1, &["cairn start"]);
    assert_eq!(world.json("a", &["folders"])["running"], false);
    world.write("folder-a/f.txt", "from a");
    world.write("folder-a/x.tmp", "stays");
    assert_eq!(wait(&world, "a")["state"], "idle");
    let status = wait(&world, "b");
    assert_eq!(status["counters"]["downloads"], 1);
    assert_eq!(names(&world.path("folder-b")), ["f.txt"]);
    assert_eq!(world.json("b", &["folders"])["folders"][0]["files"], 1);

    let events = world.json("b", &["activity"])["events"].clone();
    let event = &events[0];
    assert_eq!(
        (&event["kind"], &event["path"], &event["bytes"]),
        (&json!("downloaded"), &json!("f.txt"), &json!(6))
    );
    assert!(event["folder"].as_str().unwrap().ends_with("folder-b"));
    assert_eq!(wait(&world, "b")["state"], "idle");
    let at_once = ["status", "--wait", "--timeout", "0"];
    assert_eq!(world.json("b", &at_once)["state"], "idle");
    assert_eq!(world.json("b", &["doctor"])["healthy"], true);
    assert!(
        !world.json("b", &["logs"])["lines"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_device_that_logs_in_later_is_named_in_the_activity_of_the_others() {
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "folder-a"]);
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    wait(&world, "a");
    let passphrase = world.text("passphrase");
    let login = world.login_args(OWNER, &passphrase);
    world.json("b", &[&login[..], &["--device-name", "laptop"]].concat());
    world.json("b", &["add", "folder-b"]);
    world.write("folder-b/x", "from b");
    wait(&world, "b");
    // Nobody asks the service once more, as `status --wait` would.
    let arrived = || Ok(world.json("a", &["status"])["counters"]["downloads"] == 1);
    cairn_e2e::wait::holds("the file arrives", cairn_e2e::wait::SYNC, arrived).unwrap();
    let event = world.json("a", &["activity"])["events"][0].clone();
    assert_eq!(
        (&event["path"], &event["device"]),
        (&json!("x"), &json!("laptop"))
    );
}

#[test]
fn a_conflict_is_listed_and_settled() {
    let world = World::new();
    for home in ["a", "b"] {
        world.login(home);
        world.json(home, &["add", &format!("folder-{home}")]);
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    world.write("folder-a/f.txt", "base");
    wait(&world, "a");
    wait(&world, "b");
    for home in ["a", "b"] {
        world.json(home, &["pause"]);
        assert_eq!(world.json(home, &["status"])["state"], "paused");
    }
    for command in [&["status", "--wait"][..], &["sync"], &["sync", "folder-a"]] {
        world.run("a", command).assert_refused(1, &["cairn resume"]);
    }
    world.write("folder-a/f.txt", "edited on a");
    world.write("folder-b/f.txt", "and otherwise on b");
    for home in ["a", "b"] {
        world.json(home, &["resume"]);
        wait(&world, home);
    }
    // Both versions are in sync, and scripts see that somebody has to look at them.
    let waited = wait(&world, "b");
    let open = (&waited["state"], &waited["open_conflicts"]);
    assert_eq!(open, (&json!("attention"), &json!(1)));
    let status = world.run("b", &["status"]).stdout;
    let headline = status.lines().next().unwrap_or_default();
    assert_eq!(
        headline,
        "needs attention, 1 conflict to resolve (see `cairn conflicts`)"
    );
    // Nothing is left to transfer: the words are those of the other device.
    assert_eq!(world.json("b", &["compare"])["in_sync"], true);
    let conflict = world.json("b", &["conflicts"])["conflicts"][0].clone();
    assert_eq!(
        (&conflict["path"], &conflict["kind"]),
        (&json!("f.txt"), &json!("edit"))
    );
    world
        .run("b", &["resolve", "folder-b/none", "--keep", "mine"])
        .assert_refused(1, &["none"]);
    world
        .run("b", &["resolve", "/elsewhere", "--keep", "mine"])
        .assert_refused(2, &["isn't in a synced folder"]);
    world.json("b", &["resolve", "folder-b/f.txt", "--keep", "mine"]);
    wait(&world, "b");
    assert!(
        world.json("b", &["conflicts"])["conflicts"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        std::fs::read(world.path("folder-b/f.txt")).unwrap(),
        b"and otherwise on b"
    );
    assert_eq!(names(&world.path("folder-b")), ["f.txt"]);
    let trashed = world.json("b", &["trash", "list"])["trashed"].clone();
    let theirs = trashed
        .as_array()
        .unwrap()
        .iter()
        .find(|t| t["path"] == "f.txt")
        .unwrap();
    world
        .run("b", &["trash", "restore", theirs["id"].as_str().unwrap()])
        .assert_refused(5, &["there is another f.txt", "rename or move that first"]);
    std::fs::remove_file(world.path("folder-b/f.txt")).unwrap();
    world.json("b", &["trash", "restore", theirs["id"].as_str().unwrap()]);
    assert_eq!(
        std::fs::read(world.path("folder-b/f.txt")).unwrap(),
        b"edited on a"
    );
}

#[cfg(unix)]
#[test]
fn a_daemon_whose_files_were_deleted_still_counts_as_running() {
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "folder-a"]);
    world.json("a", &["start"]);
    let _stopping = Stopping(&world, "a");
    let home = cairn_platform::Home::at(&world.path("a"));
    let files = [home.socket_path(), home.lock_file().with_extension("pid")];
    let aside = |n: usize| files[n].with_extension(format!("aside-{n}"));
    for (n, file) in files.iter().enumerate() {
        std::fs::rename(file, aside(n)).unwrap();
    }
    world
        .run("a", &["stop"])
        .assert_refused(1, &["a daemon runs", "end the process"]);
    for (n, file) in files.iter().enumerate() {
        std::fs::rename(aside(n), file).unwrap();
    }
    assert_eq!(world.json("a", &["stop"])["stopped"], true);
}

#[test]
fn the_local_trash_is_emptied_after_a_question() {
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "folder-a"]);
    let _stopping = Stopping(&world, "a");
    world.write("folder-a/f.txt", "first");
    wait(&world, "a");
    world.json("a", &["rm", "/f.txt"]);
    wait(&world, "a");
    let trashed = || world.json("a", &["trash", "list"])["trashed"].clone();
    assert_eq!(trashed()[0]["path"], "f.txt");
    let shown = world.json("a", &["trash", "empty", "--dry-run"]);
    assert_eq!(
        (&shown["found"], &shown["deleted"]),
        (&trashed(), &json!([]))
    );
    world
        .run("a", &["trash", "empty"])
        .assert_refused(5, &["--yes"]);
    let id = trashed()[0]["id"].clone();
    let emptied = world.json("a", &["trash", "empty", "folder-a", "--yes"]);
    assert_eq!(emptied["deleted"], json!([id]));
    assert_eq!(trashed(), json!([]));

    // Without a daemon it works, too, and the service's trash is another one.
    world.write("folder-a/g.txt", "second");
    wait(&world, "a");
    world.json("a", &["rm", "/g.txt"]);
    wait(&world, "a");
    world.json("a", &["stop"]);
    world.json("a", &["trash", "empty", "--yes"]);
    assert_eq!(trashed(), json!([]));
    let there = world.json("a", &["trash", "list", "--remote"]);
    assert_eq!(there["trashed"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_conflict_is_open_on_every_device_that_has_the_copy() {
    let world = World::new();
    for home in ["a", "b"] {
        world.login(home);
        world.json(home, &["add", &format!("folder-{home}")]);
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    let both = || {
        for home in ["a", "b", "a"] {
            wait(&world, home);
        }
    };
    world.write("folder-a/f.txt", "one\n2\n3\n4\n5\n");
    both();
    world.json("b", &["pause"]);
    world.write("folder-a/f.txt", "ONE\n2\n3\n4\n5\n");
    world.write("folder-b/f.txt", "one\n2\n3\n4\nFIVE\n");
    wait(&world, "a");
    world.json("b", &["resume"]);
    wait(&world, "b");
    both();
    for home in ["a", "b"] {
        let status = world.json(home, &["status"]);
        assert_eq!(
            (&status["state"], &status["open_conflicts"]),
            (&json!("attention"), &json!(1)),
            "{home}: {status}"
        );
        let folder = &status["folders"][0];
        assert_eq!(
            (&folder["state"], &folder["conflicts"]),
            (&json!("attention"), &json!(1))
        );
        let conflict = world.json(home, &["conflicts"])["conflicts"][0].clone();
        assert_eq!(conflict["path"], "f.txt", "{home}: {conflict}");
    }
    // Only the device that made the copy knows what both were made from; what it does is done on both.
    for options in [&[][..], &["--dry-run"]] {
        let merge = ["resolve", "folder-a/f.txt", "--keep", "merge"];
        world
            .run("a", &[&merge, options].concat())
            .assert_refused(5, &["choose copy, original or both"]);
    }
    let merge = ["resolve", "folder-b/f.txt", "--keep", "merge", "--dry-run"];
    let shown = world.json("b", &merge);
    assert_eq!(shown["merged"], "ONE\n2\n3\n4\nFIVE\n", "{shown}");
    assert_eq!(
        names(&world.path("folder-b")).len(),
        2,
        "both versions stay"
    );
    world.json("b", &["resolve", "folder-b/f.txt", "--keep", "merge"]);
    both();
    for home in ["a", "b"] {
        let merged = world.path(&format!("folder-{home}/f.txt"));
        let merged = std::fs::read_to_string(merged).unwrap();
        assert_eq!(merged, "ONE\n2\n3\n4\nFIVE\n");
        assert_eq!(names(&world.path(&format!("folder-{home}"))), ["f.txt"]);
        let status = world.json(home, &["status"]);
        assert_eq!(
            (&status["state"], &status["open_conflicts"]),
            (&json!("idle"), &json!(0)),
            "{home}: {status}"
        );
    }
}

#[test]
fn a_conflict_says_that_the_other_version_is_gone_and_closes_with_the_copy() {
    let world = World::new();
    for home in ["a", "b"] {
        world.login(home);
        world.json(home, &["add", &format!("folder-{home}")]);
    }
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    world.write("folder-a/f.txt", "base");
    wait(&world, "a");
    wait(&world, "b");
    for home in ["a", "b"] {
        world.json(home, &["pause"]);
        world.write(&format!("folder-{home}/f.txt"), format!("edited on {home}"));
    }
    for home in ["a", "b", "a"] {
        world.json(home, &["resume"]);
        wait(&world, home);
    }
    let conflicts = |home| world.json(home, &["conflicts"])["conflicts"].clone();
    let copy = conflicts("a")[0]["copy"]
        .as_str()
        .expect("a copy")
        .to_owned();
    let is_gone = |home| conflicts(home)[0]["original_gone"].clone();
    assert_eq!(is_gone("a"), Value::Null, "it is there");

    // The copy alone goes elsewhere: no version is beside it there.
    std::fs::create_dir(world.path("folder-a/sub")).unwrap();
    let moved = format!("sub/{copy}");
    let [from, to] = [&copy, &moved].map(|name| world.path(&format!("folder-a/{name}")));
    std::fs::rename(from, &to).unwrap();
    std::fs::remove_file(world.path("folder-a/f.txt")).unwrap();
    for home in ["a", "b"] {
        wait(&world, home);
        let open = conflicts(home);
        assert_eq!(open[0]["copy"], moved, "{home}: {open}");
        assert_eq!(open[0]["original_gone"], true, "{home}: {open}");
    }
    let text = world.run("a", &["conflicts"]).stdout;
    assert!(text.contains("(not there)"), "{text}");
    assert!(text.contains("cairn resolve COPY --keep copy"), "{text}");
    world
        .run("a", &["resolve", &moved, "--keep", "original"])
        .assert_refused(5, &["sub"]);

    std::fs::remove_file(&to).unwrap();
    for home in ["a", "b"] {
        wait(&world, home);
        assert_eq!(conflicts(home), json!([]), "{home}");
    }
}

#[test]
fn one_daemon_a_home_and_it_ends_in_order() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    assert_eq!(world.json("a", &["start"])["started"], true);
    let again = world.json("a", &["start"]);
    assert_eq!(again["started"], false);
    let pid = again["pid"].to_string();
    world
        .run("a", &["daemon"])
        .assert_refused(1, &["running for this home already", &pid]);
    let passphrase = world.text("passphrase");
    world.json("a", &world.login_args("ck_dev_owner", &passphrase));
    let again = world.json("a", &["start"]);
    assert_eq!(again["started"], false, "it goes on with the new login");
    let next = again["pid"].to_string();
    assert_ne!(next, pid);
    assert_ne!(world.json("a", &["restart"])["pid"].to_string(), next);
    assert_eq!(world.json("a", &["stop"])["stopped"], true);
    assert_eq!(world.json("a", &["stop"])["stopped"], false);
}

#[test]
fn folders_and_settings_work_with_and_without_a_daemon() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    for running in [false, true] {
        if running {
            world.json("a", &["start"]);
        }
        let added = world.json(
            "a",
            &[
                "add",
                "f",
                "--mode",
                "upload",
                "--deletion-gate",
                "off",
                "--only",
                "docs",
            ],
        );
        assert_eq!(
            (&added["mode"], &added["gate"], &added["only"]),
            (&json!("upload"), &Value::Null, &json!(["docs"]))
        );
        let again = world.json("a", &["add", "f"]);
        assert_eq!(again, added, "nothing was said, and nothing changes");
        let empty = world.run("a", &["add", "f", "--only", ""]);
        assert_eq!(empty.code, 2, "{empty:?}");
        assert!(empty.stderr.contains("name a subfolder"), "{empty:?}");
        let changed = world.json("a", &["add", "f", "--deletion-gate", "20%:5"]);
        assert_eq!(
            (
                &changed["mode"],
                &changed["gate"]["files"],
                &changed["only"]
            ),
            (&json!("upload"), &json!(5), &json!(["docs"]))
        );
        world
            .run("a", &["add", "f", "--remote", "/x"])
            .assert_refused(2, &["synced already"]);
        world
            .run("a", &["add", "f/inner", "--remote", "/x"])
            .assert_refused(2, &["is inside"]);
        assert!(!world.path("f/inner").exists(), "a refused folder stays");
        world
            .run("a", &["add", "g", "--remote", "x"])
            .assert_refused(2, &["has to begin with"]);
        world.json("a", &["ignore", "f", "--add", "*.log"]);
        let decision = world.json("a", &["ignore", "f", "--check", "docs/x.log"]);
        assert_eq!(
            (&decision["ignored"], &decision["rule"]),
            (&json!(true), &json!("*.log"))
        );
        assert_eq!(
            world.json("a", &["limits", "--up", "2MB"]),
            json!({
                "up": 2_000_000,
                "down": null,
                "up_schedule": "off",
                "down_schedule": "off",
                "now": { "up": 2_000_000, "down": null },
            })
        );
        assert_eq!(
            world.json("a", &["config", "get", "limits.up"])["limits.up"],
            2_000_000
        );
        assert_eq!(
            world.json("a", &["config", "set", "limits.up", "off"])["limits.up"],
            "off"
        );
        world.json("a", &["remove", "f"]);
        world
            .run("a", &["remove", "f"])
            .assert_refused(2, &["cairn folders"]);
        assert_eq!(names(&world.path("f")), [".cairnignore"], "files stay");
    }
    world
        .run("a", &["confirm", "f", "keep"])
        .assert_refused(2, &["cairn folders"]);
    world
        .run("a", &["pause", "--until", "yesterday"])
        .assert_refused(2, &["--until"]);
}

#[test]
fn a_typo_in_the_configuration_is_named_before_anything_runs() {
    let world = World::new();
    world.login("a");
    world.write("a/config.toml", "[sync]\nrescan_minuets = 5\n");
    let words = [
        "config.toml",
        "line 2",
        "sync.rescan_minuets",
        "sync.rescan_minutes",
    ];
    for command in [
        &["daemon"][..],
        &["start"],
        &["status"],
        &["config", "get"],
        &["add", "f"],
    ] {
        world.run("a", command).assert_refused(1, &words);
    }
}

#[test]
fn a_restart_with_a_broken_configuration_leaves_the_daemon_running() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    world.json("a", &["add", "f"]);
    wait(&world, "a");
    let pid = world.json("a", &["start"])["pid"].clone();
    world.write("a/config.toml", "[sync]\nrescan_minutes = \"often\"\n");
    world
        .run("a", &["restart"])
        .assert_refused(1, &["config.toml", "line 2", "sync.rescan_minutes"]);
    world.write("f/still.txt", "syncs");
    assert_eq!(wait(&world, "a")["counters"]["uploads"], 1);
    world.write("a/config.toml", "[sync]\nrescan_minutes = 5\n");
    assert_eq!(
        world.json("a", &["start"])["pid"],
        pid,
        "it was the same one"
    );
    assert_ne!(world.json("a", &["restart"])["pid"], pid);
}

#[test]
fn garbage_in_the_index_loses_no_file() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    world.json("a", &["add", "f"]);
    world.write("f/kept.txt", "x");
    wait(&world, "a");
    world.json("a", &["stop"]);
    world.write(
        "a/index.db",
        "this is no database at all, and never was one, however long it gets",
    );
    let doctor = world.run("a", &["doctor"]);
    assert!(doctor.stdout.contains("set aside"), "{doctor:?}");
    world.json("a", &["add", "f"]);
    let status = wait(&world, "a");
    assert_eq!(
        (
            &status["counters"]["uploads"],
            &status["counters"]["deletes"]
        ),
        (&json!(0), &json!(0))
    );
    assert_eq!(names(&world.path("f")), ["kept.txt"]);
}
