//! Versions of a file: listed, looked at, compared, saved, restored.

use super::{arguments, call, world};
use serde_json::json;

/// A picture of one pixel.
const GIF: &str = "R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=";

#[tokio::test]
async fn versions_are_asked_by_the_path_on_this_device() {
    let versions = json!({"versions": [
        {"id": "r1", "number": 1, "size": 5, "created_at": "2026-01-02T03:04:05.000Z", "uploaded_by": "desk", "current": false},
        {"id": "r2", "number": 2, "size": 6, "created_at": "2026-01-03T03:04:05.000Z", "uploaded_by": "laptop", "current": true},
    ]});
    let world = world(vec![Ok(versions)]);
    let asked = call(json!({"op": "versions", "folder": "/f", "path": "a/b.txt"}));
    let reply = world.commands.handle(asked).await.unwrap();
    assert_eq!(arguments(&world), ["versions", "--", "/f/a/b.txt"]);
    assert_eq!(
        (reply[0]["revision"].as_str(), reply[0]["current"].as_bool()),
        (Some("r2"), Some(true))
    );
    let asked =
        call(json!({"op": "restore_version", "folder": "/f", "path": "a/b.txt", "revision": "r1"}));
    world.commands.handle(asked).await.unwrap();
    assert_eq!(
        arguments(&world),
        ["versions", "--restore=r1", "--", "/f/a/b.txt"]
    );
}

#[tokio::test]
async fn a_version_is_shown_as_text_or_picture_and_compared_line_by_line() {
    let world = world(vec![
        Ok(json!({"text": "one\ntwo\n", "verified": true})),
        Ok(json!({"text": null, "base64": "AAECgA==", "verified": true})),
        Ok(json!({"text": null, "base64": GIF, "verified": true})),
        Ok(json!({"text": "one\n", "verified": true})),
        Ok(json!({"text": "one\ntwo\n", "verified": true})),
        Ok(json!({"text": "a\u{0}b", "verified": false})),
        Ok(json!({"text": "one\n", "verified": true})),
    ]);
    let shown = json!({"op": "version_text", "folder": "/f", "path": "a/b.txt", "revision": "r1"});
    let reply = world.commands.handle(call(shown.clone())).await.unwrap();
    assert_eq!(
        reply,
        json!({"text": "one\ntwo\n", "cut": false, "verified": true})
    );
    assert_eq!(
        arguments(&world),
        ["cat", "--revision=r1", "--", "/f/a/b.txt"]
    );
    let binary = world.commands.handle(call(shown.clone())).await.unwrap();
    assert_eq!(binary, json!({"cut": false, "verified": true}));
    let picture = world.commands.handle(call(shown)).await.unwrap();
    let address = format!("data:image/gif;base64,{GIF}");
    assert_eq!(
        picture,
        json!({"picture": address, "cut": false, "verified": true})
    );

    let compared = json!({"op": "compare_versions", "folder": "/f", "path": "a/b.txt", "older": "r1", "newer": "r2"});
    let reply = world.commands.handle(call(compared.clone())).await.unwrap();
    assert_eq!(
        reply["lines"],
        json!([
            {"kind": "same", "text": "one", "mine": 1, "theirs": 1},
            {"kind": "theirs", "text": "two", "theirs": 2},
        ])
    );
    let binary = world.commands.handle(call(compared)).await.unwrap();
    assert_eq!(
        binary,
        json!({"cut": false, "ends_differ": false, "verified": false})
    );
}

#[tokio::test]
async fn a_version_is_saved_where_the_person_chooses() {
    let world = world(vec![]);
    let asked = json!({"op": "save_version", "folder": "/f", "path": "a/b.txt", "revision": "r1"});
    let cancelled = world.commands.handle(call(asked.clone())).await.unwrap();
    assert_eq!(cancelled, json!(false));
    assert!(world.fake.runs.lock().is_empty());
    *world.fake.save_to.lock() = Some("/home/ada/old b.txt".into());
    let saved = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(saved, json!(true));
    assert_eq!(
        arguments(&world),
        [
            "versions",
            "--download=r1",
            "--out=/home/ada/old b.txt",
            "--force",
            "--",
            "/f/a/b.txt"
        ]
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_version_is_not_saved_under_a_name_that_the_person_did_not_choose() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = world(vec![]);
    let chosen = std::ffi::OsStr::from_bytes(b"/home/ada/caf\xe9/b.txt");
    *world.fake.save_to.lock() = Some(chosen.into());
    let asked = json!({"op": "save_version", "folder": "/f", "path": "a/b.txt", "revision": "r1"});
    let refused = world.commands.handle(call(asked)).await.unwrap_err();
    assert!(refused.message.contains("UTF-8"), "{refused}");
    assert!(world.fake.runs.lock().is_empty());
}
