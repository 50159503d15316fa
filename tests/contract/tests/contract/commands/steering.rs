//! Commands that steer a running daemon: they return when it has happened, say what is left out, and end where it does
//! not respond.

use crate::commands::past::settle;
use crate::commands::world::{CommandOutput, Stopping, World};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// A device with two folders, `one` and `two`, that are in sync.
fn with_two_folders() -> World {
    let world = World::new();
    world.login("a");
    for name in ["one", "two"] {
        world.json("a", &["add", name, "--remote", &format!("/{name}")]);
        world.write(&format!("{name}/f"), name);
    }
    settle(&world, "a");
    world
}

/// Returns whether each of the folders is paused, as the status has it now.
fn paused(world: &World) -> Vec<bool> {
    let status = world.json("a", &["status"]);
    let folders = status["folders"].as_array().expect("folders").iter();
    folders
        .map(|folder| folder["state"] == json!("paused"))
        .collect()
}

#[test]
fn a_pause_and_its_end_are_in_force_when_the_command_returns() {
    let world = with_two_folders();
    let _stopping = Stopping(&world, "a");
    for _ in 0..5 {
        world.json("a", &["pause"]);
        assert_eq!(paused(&world), [true, true]);
        world.json("a", &["resume"]);
        assert_eq!(paused(&world), [false, false]);
        world.json("a", &["pause", "two"]);
        assert_eq!(paused(&world), [false, true]);
        world.json("a", &["resume", "two"]);
        assert_eq!(paused(&world), [false, false]);
    }
}

#[test]
fn a_look_for_changes_says_that_a_folder_of_the_service_is_gone_until_it_is_back() {
    let world = with_two_folders();
    let _stopping = Stopping(&world, "a");
    let id = world.json("a", &["info", "/two"])["id"].clone();
    world.json("a", &["rm", "/two"]);
    let refused = || world.run("a", &["sync", "two"]);
    refused().assert_refused(1, &["two is not synced now", "trash of the service"]);
    let restore = ["trash", "restore", "--remote", id.as_str().expect("an id")];
    world.json("a", &restore);
    assert_eq!(refused().code, 0, "it is back");
    settle(&world, "a");
    assert_eq!(std::fs::read(world.path("two/f")).unwrap(), b"two");
}

#[test]
fn a_look_for_changes_notices_that_a_teams_key_is_there_now() {
    let world = World::new();
    world.login("a");
    let passphrase = world.text("passphrase");
    world.json("m", &world.login_args("ck_dev_member", &passphrase));
    let (owner, member) = ("owner@example.com", "member@example.com");
    let team = world.json("m", &["teams", "list"])["teams"][0]["name"].clone();
    let team = team.as_str().expect("a team");
    world.json("m", &["add", "tm", "--space", team, "--remote", "/"]);
    let _stopping = Stopping(&world, "m");
    world
        .run("m", &["sync"])
        .assert_refused(1, &["tm is not synced now", "key"]);
    let accept = |home, who| world.json(home, &["teams", "keys", team, "--accept-new", who]);
    accept("a", member);
    world.json("a", &["teams", "grant", team]);
    world
        .run("m", &["sync"])
        .assert_refused(5, &["tm is not synced now", "--accept-new"]);
    accept("m", owner);
    assert_eq!(world.json("m", &["sync"])["errors"], json!([]));
    settle(&world, "m");
}

#[test]
fn a_look_for_changes_without_folders_says_that_there_is_none() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    let looked = world.run("a", &["sync"]);
    assert_eq!(looked.code, 0, "{looked:?}");
    assert!(
        looked.stdout.starts_with("No folder is synced yet"),
        "{looked:?}"
    );
}

#[test]
fn a_look_for_changes_says_which_folders_it_leaves_out() {
    let world = with_two_folders();
    let _stopping = Stopping(&world, "a");
    assert_eq!(world.json("a", &["sync"])["paused"], json!([]));
    world.json("a", &["pause", "two"]);
    let looked = world.run("a", &["sync"]);
    assert_eq!(looked.code, 0, "{looked:?}");
    let words = ["two is paused and is left out", "cairn resume"];
    assert!(
        words.iter().all(|word| looked.stderr.contains(word)),
        "{looked:?}"
    );
    let two = world.text("two");
    assert_eq!(world.json("a", &["sync"])["paused"], json!([two]));
    assert_eq!(world.json("a", &["sync", "one"])["paused"], json!([]));
    world
        .run("a", &["sync", "one/f"])
        .assert_refused(2, &["one/f is a part of", "name that folder"]);
}

#[test]
fn a_look_for_changes_says_that_a_folder_is_missing_and_goes_on_with_the_accepted_disk() {
    let world = with_two_folders();
    let _stopping = Stopping(&world, "a");
    std::fs::rename(world.path("two"), world.path("aside")).unwrap();
    world
        .run("a", &["sync", "two"])
        .assert_refused(1, &["two is not synced now", "is missing", "accept-disk"]);
    let looked = world.json("a", &["sync"]);
    assert_eq!(looked["errors"][0]["folder"], json!(world.text("two")));
    world.json("a", &["sync", "one"]);
    std::fs::rename(world.path("one"), world.path("aside-one")).unwrap();
    world
        .run("a", &["sync"])
        .assert_refused(1, &["is missing", "nor is any other folder"]);
    for name in ["one", "two"] {
        std::fs::create_dir(world.path(name)).unwrap();
        world.json("a", &["folders", "accept-disk", name]);
    }
    settle(&world, "a");
    let status = world.json("a", &["status"]);
    assert_eq!(status["state"], "idle", "{status}");
    assert_eq!(std::fs::read(world.path("two/f")).unwrap(), b"two");
    assert_eq!(world.json("a", &["sync"])["errors"], json!([]));
}

#[test]
fn what_was_left_out_is_synced_again() {
    let world = World::new();
    world.login("a");
    let add = ["add", "f", "--remote", "/f"];
    world.json("a", &[&add[..], &["--exclude", "*.tmp"]].concat());
    let _stopping = Stopping(&world, "a");
    for name in ["f/a", "f/b.tmp"] {
        world.write(name, name);
    }
    settle(&world, "a");
    let number = || {
        let list = world.json("a", &["ls", "/f"]);
        list["nodes"].as_array().map(Vec::len)
    };
    assert_eq!(number(), Some(1));
    let widened = world.run("a", &[&add[..], &["--no-exclude"]].concat());
    assert_eq!(widened.code, 0, "{widened:?}");
    assert!(!widened.stderr.contains("left out"), "{widened:?}");
    let folders = world.json("a", &["folders"]);
    assert_eq!(folders["folders"][0]["exclude"], json!([]));
    settle(&world, "a");
    assert_eq!(number(), Some(2));
}

#[test]
fn settings_that_several_commands_change_at_once_are_all_kept() {
    let world = World::new();
    let settings = [
        ("limits.up", "1000", json!(1000)),
        ("limits.down", "2000", json!(2000)),
        ("sync.rescan_minutes", "7", json!(7)),
        ("sync.parallel", "9", json!(9)),
        ("sync.verify", "strict", json!("strict")),
        ("sync.server_copies", "false", json!(false)),
        ("pause.on_battery", "true", json!(true)),
        ("pause.on_metered", "true", json!(true)),
    ];
    std::thread::scope(|scope| {
        for (key, value, _) in &settings {
            let world = &world;
            scope.spawn(move || world.json("a", &["config", "set", key, value]));
        }
    });
    let all = world.json("a", &["config", "get"]);
    for (key, _, expected) in settings {
        assert_eq!(all[key], expected, "{all}");
    }
}

#[test]
fn a_limit_of_nothing_is_none_and_one_below_a_byte_is_refused() {
    let world = World::new();
    world.json("a", &["limits", "--up", "2MB"]);
    assert_eq!(world.json("a", &["limits", "--up", "0"])["up"], Value::Null);
    for rate in ["0.2", "-5"] {
        let refused = world.run("a", &["limits", "--up", rate]);
        let words = format!("`{rate}` is not a valid rate");
        assert!(refused.stderr.contains(&words), "{refused:?}");
        assert_eq!(refused.code, 2);
    }
    let help = world.run("a", &["limits", "--help"]).stdout;
    assert!(help.contains("`off` or 0 lifts it"), "{help}");
}

#[cfg(unix)]
#[test]
fn a_daemon_that_hangs_holds_up_no_command_for_good() {
    let world = with_two_folders();
    let status = world.json("a", &["start"]);
    let pid = status["pid"].to_string();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.expect("a signal can be sent").success());
    };
    signal("-STOP");
    let run = |args: &[&str]| {
        let begun = Instant::now();
        (world.run("a", args), begun.elapsed())
    };
    let [(status, waited), (stopped, tried)] = std::thread::scope(|scope| {
        let run = &run;
        let commands = [&["--json", "status"][..], &["stop"]];
        let running = commands.map(|args| scope.spawn(move || run(args)));
        running.map(|one| one.join().expect("the command ends"))
    });
    signal("-CONT");
    assert_eq!(
        (status.code, stopped.code),
        (1, 1),
        "{status:?} {stopped:?}"
    );
    let speaks = |output: &CommandOutput, words: &[&str]| {
        for word in words {
            assert!(output.stderr.contains(word), "{word}: {output:?}");
        }
    };
    let process = format!("The daemon (process {pid}) does not respond");
    speaks(&status, &[&process, "end it with `cairn stop`"]);
    let document: Value = serde_json::from_str(&status.stdout).expect("one document");
    assert_eq!(document["error"]["code"], 1);
    speaks(&stopped, &[&format!("kill -9 {pid}")]);
    assert!(waited < Duration::from_secs(60) && tried < Duration::from_secs(30));
    // It has the signal since, and ends by itself.
    world.run("a", &["stop"]);
}

#[test]
fn another_log_level_is_in_force_at_once() {
    let world = with_two_folders();
    let _stopping = Stopping(&world, "a");
    let log = || world.json("a", &["logs", "--lines", "100000"])["lines"].to_string();
    assert!(!log().contains(" DEBUG "), "{}", log());
    world.json("a", &["config", "set", "log.level", "debug"]);
    world.write("one/another", "another");
    settle(&world, "a");
    assert!(log().contains(" DEBUG "), "{}", log());
    world.json("a", &["config", "set", "log.level", "warn"]);
    let before = log().matches(" DEBUG ").count();
    world.write("one/third", "third");
    settle(&world, "a");
    assert_eq!(log().matches(" DEBUG ").count(), before);
}

#[test]
fn a_removed_folder_says_what_is_only_here() {
    let world = with_two_folders();
    let _stopping = Stopping(&world, "a");
    let all = world.json("a", &["remove", "two", "--dry-run"]);
    assert_eq!(
        (&all["only_here"], &all["complete"], &all["problem"]),
        (&json!(0), &json!(true), &Value::Null)
    );
    world.json("a", &["rm", "/two"]);
    world.run("a", &["sync", "two"]);
    let left = world.run("a", &["remove", "two"]).stdout;
    assert!(!left.contains("stay here and on the service"), "{left}");
    assert!(left.contains("as they are here: 1 file."), "{left}");
    assert!(left.contains("It was not synced before: "), "{left}");
    assert_eq!(std::fs::read(world.path("two/f")).unwrap(), b"two");

    // Nobody looks at it while it is paused.
    world.json("a", &["pause"]);
    world.write("one/new", "new");
    let text = world.run("a", &["remove", "one", "--dry-run"]).stdout;
    assert!(text.contains("while it was paused was not sent"), "{text}");
    assert_eq!(world.json("a", &["remove", "one"])["complete"], false);
}
