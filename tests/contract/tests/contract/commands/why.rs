//! `cairn why`: what it says of paths in the states that a person meets.

use crate::commands::world::{Stopping, World};
use serde_json::{Value, json};

fn why(world: &World, path: &str) -> Value {
    world.json("a", &["why", path])
}

/// The state, and the reason as a word: programs that say it in a language of their own rely on both.
fn states(report: &Value) -> (&str, &str) {
    let word = |field: &str| report[field].as_str().expect("it is a word");
    (word("state"), word("reason"))
}

#[test]
fn every_path_has_a_reason() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir_all(world.path("f/docs")).unwrap();
    world.write("f/synced.txt", "x");
    world.write("f/.cairnignore", "# rules\n\n*.log\n");
    world.write("f/x.log", "x");
    world.write("f/x.tmp", "x");
    world.json("a", &["add", "f", "--remote", "/f", "--exclude", "*.tmp"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);

    let synced = why(&world, "f/synced.txt");
    assert_eq!(
        (&synced["state"], &synced["remote"], &synced["verified"]),
        (&json!("synced"), &json!("/f/synced.txt"), &json!(true))
    );
    assert_eq!(synced["reason"], "synced");
    assert!(
        synced["synced_at"].as_str().unwrap().starts_with("20"),
        "{synced}"
    );
    let ignored = why(&world, "f/x.log");
    assert_eq!(states(&ignored), ("ignored", "rule"));
    let rule = &ignored["rule"];
    assert_eq!(
        (&rule["pattern"], &rule["line"], &rule["source"]),
        (&json!("*.log"), &json!(3), &json!("file"))
    );
    assert!(rule["file"].as_str().unwrap().ends_with("/f/.cairnignore"));
    let excluded = why(&world, "f/x.tmp");
    assert_eq!(
        (&excluded["state"], &excluded["rule"]["source"]),
        (&json!("unselected"), &json!("exclude"))
    );
    assert_eq!(excluded["reason"], "excluded");
    for (path, expected) in [
        ("f/docs", ("synced", "synced")),
        ("f", ("synced", "synced")),
        ("f/none", ("missing", "missing")),
        ("elsewhere", ("unpaired", "unpaired")),
    ] {
        assert_eq!(states(&why(&world, path)), expected, "{path}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc", world.path("f/link")).unwrap();
        world.json("a", &["sync"]);
        world.json("a", &["status", "--wait", "--timeout", "60"]);
        assert_eq!(states(&why(&world, "f/link")), ("special", "special"));
        let behind = why(&world, "f/link/passwd");
        assert_eq!(states(&behind), ("special", "special"), "{behind}");
        assert_eq!(behind["above"], "link");
    }

    world.json("a", &["pause"]);
    world.write("f/later.txt", "x");
    let later = why(&world, "f/later.txt");
    assert_eq!(states(&later), ("waiting", "paused"));
    assert!(
        later["message"].as_str().unwrap().contains("paused"),
        "{later}"
    );
    let text = world.run("a", &["why", "f/x.log"]);
    assert!(text.stdout.contains("line 3 of .cairnignore"), "{text:?}");
}

#[test]
fn a_rule_in_a_directory_is_named_with_its_file() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir_all(world.path("f/docs/old/deep")).unwrap();
    world.write("f/docs/.cairnignore", "\n/old/\n");
    world.write("f/docs/old/deep/y.txt", "y");
    world.json("a", &["add", "f", "--remote", "/f"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);

    let nested = why(&world, "f/docs/old/deep/y.txt");
    let rule = &nested["rule"];
    assert_eq!(
        (&nested["state"], &rule["pattern"], &rule["line"]),
        (&json!("ignored"), &json!("/old/"), &json!(2))
    );
    assert!(
        rule["file"]
            .as_str()
            .unwrap()
            .ends_with("/f/docs/.cairnignore")
    );
    assert_eq!(rule["matched"], "docs/old");
    assert_eq!(nested["reason"], "rule");
    let text = world.run("a", &["why", "f/docs/old"]);
    let expected = "ignored by `/old/`, line 2 of docs/.cairnignore";
    assert!(text.stdout.contains(expected), "{text:?}");
}
