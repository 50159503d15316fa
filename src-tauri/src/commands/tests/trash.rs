//! The trash of this device and of the server.

use super::{arguments, call, world};
use cairn_control::Request;
use serde_json::json;

#[tokio::test]
async fn the_trash_of_this_device_is_the_daemon_s() {
    let trashed = |id: &str, at: &str| json!({"id": id, "folder": "/f", "path": "a.txt", "at": at, "bytes": 3});
    let world = world(vec![
        Ok(json!({"trashed": [
            trashed("old/a.txt", "2026-01-01T00:00:00.000Z"),
            trashed("new/a.txt", "2026-01-02T00:00:00.000Z"),
        ]})),
        Ok(trashed("new/a.txt", "2026-01-02T00:00:00.000Z")),
    ]);
    let listed = world
        .commands
        .handle(call(json!({"op": "local_trash"})))
        .await
        .unwrap();
    assert_eq!(listed[0]["id"], "new/a.txt", "the newest first");
    assert_eq!(
        world.fake.requests.lock().last(),
        Some(&Request::Trash { folder: None })
    );
    let asked = json!({"op": "restore_local", "folder": "/f", "id": "new/a.txt"});
    let path = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(path, json!("a.txt"));
    assert_eq!(
        world.fake.requests.lock().last(),
        Some(&Request::RestoreTrashed {
            folder: "/f".into(),
            id: "new/a.txt".into()
        })
    );
}

#[tokio::test]
async fn the_trash_of_the_server_is_listed_and_gives_back() {
    let world = world(vec![
        Ok(json!({"trashed": [
            {"id": "n1", "name": "a.txt", "kind": "file", "bytes": 3, "at": "2026-01-01T00:00:00.000Z"},
            {"id": "n2", "name": "old", "kind": "folder", "bytes": 0, "at": "2026-01-02T00:00:00.000Z"},
        ]})),
        Ok(json!({"id": "n1", "path": "/papers/a (2).txt"})),
        Ok(json!({"path": "/papers/b.txt"})),
    ]);
    let listed = world
        .commands
        .handle(call(json!({"op": "remote_trash"})))
        .await
        .unwrap();
    assert_eq!(
        listed,
        json!([
            {"id": "n2", "name": "old", "is_folder": true, "at": "2026-01-02T00:00:00.000Z", "bytes": 0},
            {"id": "n1", "name": "a.txt", "is_folder": false, "at": "2026-01-01T00:00:00.000Z", "bytes": 3},
        ])
    );
    let asked = json!({"op": "restore_remote", "id": "n1"});
    let path = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(path, json!("/papers/a (2).txt"));
    assert_eq!(
        arguments(&world),
        ["trash", "restore", "--remote", "--", "n1"]
    );
    let asked = json!({"op": "restore_deleted", "folder": "/f", "path": "b.txt"});
    let path = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(path, json!("/papers/b.txt"));
    assert_eq!(arguments(&world), ["restore", "--", "/f/b.txt"]);
}
