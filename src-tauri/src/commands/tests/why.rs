//! Reports why a path is in sync, or why not.

use super::{call, world};
use cairn_control::Request;
use serde_json::{Value, json};
use std::path::PathBuf;

fn report() -> Value {
    json!({
        "path": "/f/a/x.log", "folder": "/f", "remote": "/r/a/x.log",
        "state": "ignored", "reason": "rule",
        "message": "it is ignored by `*.log`, line 3 of a/.cairnignore", "hint": "change that line",
        "rule": {"source": "file", "pattern": "*.log", "file": "/f/a/.cairnignore", "line": 3, "matched": "a/x.log"},
        "behind": 2, "problems_below": 0, "tries": 0,
    })
}

#[tokio::test]
async fn the_daemon_is_asked_about_a_path_below_the_folder_or_an_absolute_one() {
    let world = world(vec![Ok(report()), Ok(report()), Ok(report())]);
    for (path, wanted, below) in [
        ("a/x.log", "/f/a/x.log", "a/x.log"),
        (" /f/a/x.log ", "/f/a/x.log", "a/x.log"),
        ("/f", "/f", ""),
    ] {
        let asked = call(json!({"op": "why", "folder": "/f", "path": path}));
        let reply = world.commands.handle(asked).await.unwrap();
        let request = world.fake.requests.lock().last().cloned();
        assert_eq!(
            request,
            Some(Request::Why {
                path: wanted.into()
            })
        );
        assert_eq!(reply["path"], below);
        assert_eq!(
            (&reply["state"], &reply["reason"], &reply["rule"]),
            (&json!("ignored"), &json!("rule"), &json!("*.log"))
        );
        assert_eq!(
            (&reply["rule_file"], &reply["rule_line"], &reply["behind"]),
            (&json!("a/.cairnignore"), &json!(3), &json!(2))
        );
    }
}

#[tokio::test]
async fn the_report_of_an_older_daemon_has_no_word_for_its_reason() {
    let mut older = report();
    older.as_object_mut().unwrap().remove("reason");
    let world = world(vec![Ok(older)]);
    let asked = call(json!({"op": "why", "folder": "/f", "path": "a"}));
    let reply = world.commands.handle(asked).await.unwrap();
    assert_eq!(reply["reason"], "other");
    assert!(reply["message"].as_str().unwrap().contains("line 3"));
}

#[tokio::test]
async fn the_cause_of_a_failure_comes_as_a_word_with_its_values() {
    let mut failed = report();
    failed["reason"] = json!("failed");
    failed["cause"] = json!("quota");
    failed["values"] = json!({"detail": "the storage is full"});
    let world = world(vec![Ok(failed), Ok(report())]);
    let asked = || call(json!({"op": "why", "folder": "/f", "path": "a"}));
    let reply = world.commands.handle(asked()).await.unwrap();
    assert_eq!(
        (&reply["cause"], &reply["values"]),
        (&json!("quota"), &json!({"detail": "the storage is full"}))
    );
    let reply = world.commands.handle(asked()).await.unwrap();
    assert_eq!(
        (&reply["cause"], &reply["values"]),
        (&json!("other"), &json!({})),
        "no failure, or an older daemon"
    );
}

#[tokio::test]
async fn nothing_is_asked_about_what_is_outside_the_folder() {
    let world = world(vec![]);
    for path in ["../x", "/etc/passwd", "/f/../x", "/folder"] {
        let asked = call(json!({"op": "why", "folder": "/f", "path": path}));
        assert!(world.commands.handle(asked).await.is_err(), "{path}");
    }
    assert!(world.fake.requests.lock().is_empty());
}

#[tokio::test]
async fn a_picked_file_is_named_as_it_lies_in_the_folder() {
    let world = world(vec![]);
    let asked = || call(json!({"op": "pick_file", "folder": "/f"}));
    for (picked, reply) in [(None, Value::Null), (Some("/f/a/b.txt"), json!("a/b.txt"))] {
        *world.fake.picked.lock() = picked.map(PathBuf::from);
        assert_eq!(world.commands.handle(asked()).await.unwrap(), reply);
    }
    *world.fake.picked.lock() = Some("/elsewhere/b.txt".into());
    let refused = world.commands.handle(asked()).await.unwrap_err();
    assert_eq!(refused.message, "/elsewhere/b.txt is not in /f");
}
