//! Changes of assistants and commands, and taking them back.

use super::{Call, arguments, call, world};
use serde_json::json;

#[tokio::test]
async fn an_undo_is_shown_before_it_runs() {
    let sessions = json!({"sessions": [
        {"session": "a1", "by": "assistant", "at": "2026-01-02T03:04:05.000Z", "command": "mcp", "team": null, "changes": 12},
        {"session": "c1", "by": "command", "at": "2026-01-01T03:04:05.000Z", "command": "mkdir /x", "team": null, "changes": 1},
    ]});
    let counts = json!({
        "trashed_items": 3, "trashed_trees": 1, "restored": 0, "moved": 8, "contents": 0,
        "details": 0, "links_deleted": 0, "links_changed": 0, "links_left": 0,
    });
    let world = world(vec![
        Ok(sessions),
        Ok(
            json!({"undone": "a1", "command": "mcp", "session": null, "changes": 12, "counts": counts, "dry_run": true}),
        ),
        Ok(
            json!({"undone": "c1", "command": "mkdir /x", "taken_back": ["x goes to the trash"], "left": ["y"], "dry_run": true}),
        ),
        Ok(json!({"undone": "a1", "taken_back": ["x"], "left": ["z was changed since"]})),
    ]);
    let listed = world.commands.handle(Call::Sessions {}).await.unwrap();
    assert_eq!(arguments(&world), ["undo", "--list"]);
    assert_eq!(
        (&listed[0]["id"], &listed[0]["by"], &listed[0]["changes"]),
        (&json!("a1"), &json!("assistant"), &json!(12))
    );
    assert_eq!(
        (&listed[1]["by"], &listed[1]["command"]),
        (&json!("command"), &json!("mkdir /x"))
    );

    let preview = |id: &str| call(json!({"op": "preview_undo", "session": id}));
    let shown = world.commands.handle(preview("a1")).await.unwrap();
    assert_eq!(arguments(&world), ["undo", "--session=a1", "--dry-run"]);
    assert_eq!(
        shown,
        json!({"counts": counts, "taken_back": [], "left": []})
    );
    let shown = world.commands.handle(preview("c1")).await.unwrap();
    assert_eq!(
        shown,
        json!({"taken_back": ["x goes to the trash"], "left": ["y"]})
    );

    let undo = call(json!({"op": "undo", "session": "a1"}));
    let left = world.commands.handle(undo).await.unwrap();
    assert_eq!(arguments(&world), ["undo", "--session=a1", "--yes"]);
    assert_eq!(left, json!(["z was changed since"]));
}
