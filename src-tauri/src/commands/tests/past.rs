//! The past of a folder, and the way back to it.

use super::{arguments, call, world};
use serde_json::json;

#[tokio::test]
async fn the_past_of_a_folder_comes_in_pages() {
    let events = json!([{"at": "2026-01-02T03:04:05.000Z", "kind": "moved", "node_id": "n", "path": "/b", "from": "/a", "device": "desk", "device_id": "d", "by": null, "version": null, "revision_id": null, "bytes": null}]);
    let world = world(vec![Ok(
        json!({"path": "/", "events": events, "page": 2, "pages": 3, "total": 5}),
    )]);
    let asked = json!({"op": "past", "folder": "/f", "path": "", "page": 2});
    let reply = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(
        arguments(&world),
        ["history", "--limit=2000", "--page=2", "--", "/f"]
    );
    assert_eq!(
        reply,
        json!({"page": 2, "pages": 3, "events": [
            {"at": "2026-01-02T03:04:05.000Z", "kind": "moved", "path": "/b", "from": "/a", "device": "desk"}
        ]})
    );
}

#[tokio::test]
async fn a_rewind_shows_its_plan_first_and_can_be_taken_back() {
    let many: Vec<String> = (0..80).map(|n| format!("/f/{n}")).collect();
    let plan = json!({
        "files_back": 80, "files_trashed": 1, "files_changed": 2,
        "back": many, "trash": ["/f/new"],
        "moves": [{"from": "/f/b", "to": "/f/a"}],
        "contents": [{"path": "/f/c", "version": 1, "revision_id": "r"}, {"path": "/f/d", "version": 3, "revision_id": "s"}],
        "incomplete": [{"path": "/f/e", "message": "not kept"}],
    });
    let done = json!({"restored": 80, "moved": 1, "trashed": 1, "contents": 2, "failed": [{"path": "/f/c", "message": "changed meanwhile"}]});
    let world = world(vec![
        Ok(json!({"path": "/f", "dry_run": true, "plan": plan})),
        Ok(json!({"path": "/f", "dry_run": false, "plan": plan, "done": done, "session": "s1"})),
        Ok(json!({"undone": "s1", "taken_back": ["x"], "left": ["y was changed since"]})),
    ]);
    let asked = |dry_run| {
        let at = "2026-01-02T03:04:05.000Z";
        call(json!({"op": "rewind", "folder": "/f", "path": "sub", "at": at, "dry_run": dry_run}))
    };
    let planned = world.commands.handle(asked(true)).await.unwrap();
    assert_eq!(
        arguments(&world),
        [
            "rewind",
            "--to=2026-01-02T03:04:05.000Z",
            "--dry-run",
            "--",
            "/f/sub"
        ]
    );
    assert!(planned.get("session").is_none());
    let shown = &planned["plan"];
    assert_eq!(
        (
            &shown["files_back"],
            shown["back"].as_array().unwrap().len()
        ),
        (&json!(80), 50)
    );
    assert_eq!(
        (&shown["moved"], &shown["moves"], &shown["changed"]),
        (&json!(1), &json!(["/f/b"]), &json!(["/f/c", "/f/d"]))
    );
    assert_eq!(shown["incomplete"][0]["message"], "not kept");

    let done = world.commands.handle(asked(false)).await.unwrap();
    assert_eq!(arguments(&world)[2], "--yes");
    assert_eq!(
        (&done["session"], &done["failed"][0]["path"]),
        (&json!("s1"), &json!("/f/c"))
    );
    let left = world
        .commands
        .handle(call(json!({"op": "undo", "session": "s1"})))
        .await
        .unwrap();
    assert_eq!(arguments(&world), ["undo", "--session=s1", "--yes"]);
    assert_eq!(left, json!(["y was changed since"]));
}

#[tokio::test]
async fn no_path_leads_out_of_a_folder() {
    let world = world(vec![]);
    for asked in [
        json!({"op": "rewind", "folder": "/f", "path": "../x", "at": "now", "dry_run": true}),
        json!({"op": "past", "folder": "/f", "path": "/etc", "page": 1}),
        json!({"op": "restore_deleted", "folder": "/f", "path": "a/../../x"}),
        json!({"op": "version_text", "folder": "/f", "path": "../x", "revision": "r"}),
    ] {
        assert!(world.commands.handle(call(asked)).await.is_err());
    }
    assert!(world.fake.runs.lock().is_empty());
}
