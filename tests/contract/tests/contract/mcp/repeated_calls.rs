//! Changes whose calls have failed, and what came after them: a repeated call is taken back once, and what the user
//! did later is not taken back.

use crate::mcp::sync::{asking_with_sync, with_sync};
use crate::mcp::undo::{folder, info, undo};
use crate::mcp::world::World;
use serde_json::{Value, json};

/// Returns a fault with which the service refuses requests before it has done anything.
fn fail(path: &str, method: &str) -> Value {
    json!({ "path_pattern": path, "method": method, "status": 502 })
}

#[tokio::test]
async fn a_call_that_was_repeated_is_taken_back() {
    let world = World::start().await;
    let (mut before, _dir) = with_sync(&world).await;
    let id = folder(&mut before, "plans", None).await;
    let target = folder(&mut before, "target", None).await;
    let old = folder(&mut before, "old", None).await;
    let file = json!({ "file_uuid": old });
    before.call_ok("delete_file", file.clone()).await;
    let new_link = json!({ "file_uuid": id, "storage_type": "VR_FOLDER" });
    let link = before.call_ok("create_share_link", new_link.clone()).await["short_code"].clone();
    let (mut session, _dir) = with_sync(&world).await;
    let calls = [
        (
            "create_folder",
            json!({ "name": "made" }),
            fail("/api/v1/nodes$", "POST"),
        ),
        (
            "copy_file",
            json!({ "file_uuid": id, "target_folder_uuid": target }),
            fail("/api/v1/nodes/*/copy", "POST"),
        ),
        (
            "restore_from_trash",
            file,
            fail("/api/v1/trash/*/restore", "POST"),
        ),
        (
            "rename_file",
            json!({ "file_uuid": id, "new_name": "renamed" }),
            fail("/api/v1/nodes/*", "PUT"),
        ),
        (
            "create_share_link",
            new_link,
            fail("/api/v1/shares$", "POST"),
        ),
        (
            "update_share_link",
            json!({ "short_code": link, "access_mode": "view_only" }),
            fail("/api/v1/shares/*", "PUT"),
        ),
    ];
    let count = calls.len();
    for (tool, arguments, fault) in calls {
        world.dev("/_dev/faults", fault).await;
        session.call_err(tool, arguments.clone()).await;
        world.end_faults().await;
        session.call_ok(tool, arguments).await;
    }
    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["left"], &undone["taken_back"]),
        (&json!([]), &json!(count)),
        "{undone}"
    );
    assert_eq!(info(&mut session, &id).await["name"], "plans");
    assert_eq!(info(&mut session, &old).await["state"], "trashed");
    let links = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["totalElements"], 1, "{links}");
    assert_eq!(links["content"][0]["access_mode"], "download", "{links}");
}

/// The sync daemon of this machine names the same device, and a link names none.
#[tokio::test]
async fn what_came_long_after_a_lost_call_is_not_taken_back() {
    let world = World::start().await;
    let (mut user, _dir) = with_sync(&world).await;
    let id = folder(&mut user, "plans", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    let calls = [
        (
            "create_folder",
            json!({ "name": "made" }),
            fail("/api/v1/nodes$", "POST"),
        ),
        (
            "rename_file",
            json!({ "file_uuid": id, "new_name": "renamed" }),
            fail("/api/v1/nodes/*", "PUT"),
        ),
        (
            "create_share_link",
            json!({ "file_uuid": id, "storage_type": "VR_FOLDER" }),
            fail("/api/v1/shares$", "POST"),
        ),
    ];
    for (tool, arguments, fault) in calls.clone() {
        world.dev("/_dev/faults", fault).await;
        session.call_err(tool, arguments).await;
        world.end_faults().await;
    }
    let ten_minutes = json!({ "ms": 10 * 60 * 1000 });
    world.dev("/_dev/clock/advance", ten_minutes).await;
    for (tool, arguments, _) in calls {
        user.call_ok(tool, arguments).await;
    }
    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["left"], &undone["taken_back"]),
        (&json!([]), &json!(0)),
        "{undone}"
    );
    assert_eq!(info(&mut session, &id).await["name"], "renamed");
    let links = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["totalElements"], 1, "{links}");
}

/// A look afterwards could not tell what was there before.
#[tokio::test]
async fn nothing_is_made_where_it_could_not_be_taken_back() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let id = folder(&mut session, "plans", None).await;
    let target = folder(&mut session, "target", None).await;
    let moved = json!({ "file_uuids": [id], "target_folder_uuid": target, "new_path": "a/b" });
    for (tool, arguments, path) in [
        ("create_folder", json!({ "name": "made" }), "/api/v1/nodes$"),
        (
            "copy_file",
            json!({ "file_uuid": id, "target_folder_uuid": target }),
            "/api/v1/nodes$",
        ),
        ("move_files", moved, "/api/v1/nodes$"),
        (
            "create_share_link",
            json!({ "file_uuid": id, "storage_type": "VR_FOLDER" }),
            "/api/v1/shares$",
        ),
        (
            "bulk_create_share_links",
            json!({ "file_uuids": [id] }),
            "/api/v1/shares$",
        ),
    ] {
        world.dev("/_dev/faults", fail(path, "GET")).await;
        let message = session.call_err(tool, arguments).await;
        assert!(!message.contains("may have been done"), "{tool}: {message}");
        world.end_faults().await;
    }
    let top = session.call_ok("list_files", json!({})).await;
    assert_eq!(top["totalElements"], 2, "{top}");
    let inside = json!({ "folder_uuid": target });
    let inside = session.call_ok("list_files", inside).await;
    assert_eq!(inside["totalElements"], 0, "{inside}");
    let links = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["totalElements"], 0, "{links}");
}

/// One change that can't be looked at hides no other from the question.
#[tokio::test]
async fn the_question_before_an_undo_counts_all_lost_changes() {
    let world = World::start().await;
    let (mut session, _socket) = asking_with_sync(&world).await;
    let (mut before, _dir) = with_sync(&world).await;
    let first = folder(&mut before, "first", None).await;
    let original = folder(&mut before, "original", None).await;
    let target = folder(&mut before, "target", None).await;
    let lost = |path: &str, method: &str| json!({ "path_pattern": path, "method": method, "status": 502, "processed": true });
    // Each is looked at before its call, and not after it.
    let unreadable =
        |path: &str| json!({ "path_pattern": path, "method": "GET", "status": 503, "skip": 1 });
    let first_path = format!("/api/v1/nodes/{}$", first.as_str().unwrap());
    for fault in [
        lost("/api/v1/nodes/*", "PUT"),
        lost("/api/v1/nodes/*/copy", "POST"),
        unreadable(&first_path),
        unreadable("/api/v1/nodes$"),
    ] {
        world.dev("/_dev/faults", fault).await;
    }
    let rename = json!({ "file_uuid": first, "new_name": "renamed" });
    session.call_err("rename_file", rename).await;
    let copy = json!({ "file_uuid": original, "target_folder_uuid": target });
    session.call_err("copy_file", copy).await;
    world.end_faults().await;
    let still = json!({ "path_pattern": first_path, "method": "GET", "status": 503 });
    world.dev("/_dev/faults", still).await;
    let params = json!({ "name": "undo_session", "arguments": {} });
    let id = session.begin("tools/call", params).await;
    let question = session.response_or_request(id).await;
    let message = question["params"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("1 folder with everything"), "{question}");
}
