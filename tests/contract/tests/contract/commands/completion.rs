//! Completion by a shell: paths on the service and in synced folders, names of teams and devices, links.

use crate::commands::world::{World, program};
use serde_json::{Value, json};
use std::process::Command;

fn candidates(world: &World, words: &[&str]) -> Vec<String> {
    let found = world.json("a", &[&["complete", "--", "cairn"], words].concat());
    let found = found["candidates"].as_array().expect("a list").iter();
    found
        .map(|one| one.as_str().expect("a text").to_owned())
        .collect()
}

/// A home with files on the service, a synced folder, a team and a link.
fn furnished() -> World {
    let world = World::new();
    world.login("a");
    for folder in ["/photos", "/photos/2026", "/plans for June"] {
        world.json("a", &["mkdir", folder]);
    }
    world.write("pin board.txt", "x");
    world.json("a", &["upload", "pin board.txt"]);
    std::fs::create_dir_all(world.path("synced/sub")).expect("a folder can be made");
    world.write("synced/note.txt", "x");
    world.json("a", &["add", "synced", "--remote", "/photos"]);
    world.json("a", &["teams", "create", "Crew"]);
    world
}

#[test]
fn paths_and_names_are_completed_from_the_account_and_the_disk() {
    let world = furnished();
    assert_eq!(
        candidates(&world, &["ls", "/p"]),
        ["/photos/", "/plans for June/"],
        "folders alone"
    );
    let all = ["/photos/", "/pin board.txt", "/plans for June/"];
    assert_eq!(candidates(&world, &["rm", "/p"]), all);
    assert_eq!(
        candidates(&world, &["mv", "/pin board.txt", "/photos/"]),
        ["/photos/2026/"]
    );
    assert_eq!(
        candidates(&world, &["add", "x", "--remote=/ph"]),
        ["--remote=/photos/"]
    );
    assert_eq!(
        candidates(&world, &["ls", "/nothing/here"]),
        Vec::<String>::new()
    );
    assert_eq!(
        candidates(&world, &["history", "synced/n"]),
        ["synced/note.txt"]
    );
    assert_eq!(
        candidates(&world, &["ls", "syn"]),
        ["synced/"],
        "the way to a synced folder"
    );
    assert_eq!(
        candidates(&world, &["info", "pass"]),
        Vec::<String>::new(),
        "not synced"
    );
    let root = world.path("synced").canonicalize().expect("it exists");
    assert_eq!(
        candidates(&world, &["pause", ""]),
        [root.display().to_string()]
    );
    assert_eq!(candidates(&world, &["ls", "--team", "C"]), ["Crew"]);
    assert_eq!(candidates(&world, &["add", "x", "--space", "C"]), ["Crew"]);
    let device = world.json("a", &["devices"])["devices"][0]["name"].clone();
    assert_eq!(
        json!(candidates(&world, &["devices", "remove", ""])),
        json!([device])
    );
    let link = world.json("a", &["share", "create", "/pin board.txt"]);
    let code = link["short_code"].as_str().expect("a code");
    assert_eq!(candidates(&world, &["share", "revoke", &code[..2]]), [code]);
}

#[test]
fn without_an_account_there_is_nothing_and_no_error() {
    let world = World::new();
    for words in [
        &["ls", "/p"][..],
        &["ls", "--team", ""],
        &["pause", ""],
        &[],
        &["nonsense", ""],
    ] {
        assert_eq!(candidates(&world, words), Vec::<String>::new(), "{words:?}");
    }
    let plain = world.run("a", &["complete", "--", "cairn", "ls", "/"]);
    assert_eq!(
        (plain.code, plain.stdout.as_str(), plain.stderr.as_str()),
        (0, "", "")
    );
}

/// Returns the words that bash would offer for a line, as they would stand on it.
fn offered_by_bash(world: &World, words: &[&str]) -> Vec<String> {
    let script = r#"
        eval "$(cairn completions bash)"
        COMP_WORDS=(cairn "$@") COMP_CWORD=$#
        compopt() { :; }
        _cairn_with_names cairn "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let programs = program().parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-c", script, "bash"])
        .args(words)
        .env("PATH", format!("{programs}:{path}"))
        .env("CAIRN_HOME", world.path("a"))
        .current_dir(world.dir.path())
        .output()
        .expect("bash runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "",
        "{words:?}: {text}"
    );
    text.lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn bash_quotes_what_others_named_and_still_knows_commands_and_options() {
    let world = furnished();
    world.json("a", &["mkdir", "/$(touch owned)"]);
    assert_eq!(
        offered_by_bash(&world, &["ls", "/pl"]),
        [r"/plans\ for\ June/"]
    );
    assert_eq!(
        offered_by_bash(&world, &["ls", r"/plans\ f"]),
        [r"/plans\ for\ June/"]
    );
    assert_eq!(
        offered_by_bash(&world, &["ls", "/$"]),
        [r"/\$\(touch\ owned\)/"]
    );
    assert_eq!(offered_by_bash(&world, &["rewi"]), ["rewind"]);
    assert_eq!(offered_by_bash(&world, &["ls", "--te"]), ["--team"]);
    let value: Value = json!(offered_by_bash(&world, &["resolve", "x", "--keep", "bo"]));
    assert_eq!(value, json!(["both"]));
    assert!(!world.path("owned").exists());
}
