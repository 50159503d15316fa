//! Files and folders without content: what the service does, and what is sealed with the keys.

use crate::mcp::world::{Setup, World, with_passphrase};
use serde_json::{Value, json};

fn id(node: &Value) -> &str {
    node["id"]
        .as_str()
        .unwrap_or_else(|| panic!("no id in {node}"))
}

/// The same story with and without the account's keys.
async fn story(setup: Setup) {
    let world = World::start().await;
    let mut session = world.session(setup).await;
    let a = session
        .call_ok("create_folder", json!({ "name": "a" }))
        .await;
    let b = session
        .call_ok("create_folder", json!({ "name": "b" }))
        .await;
    let inner = session
        .call_ok(
            "create_folder",
            json!({ "name": "inner", "parent_uuid": id(&a) }),
        )
        .await;
    assert!(inner.get("seal").is_none() && inner.get("content_key").is_none());
    let moved = session
        .call_ok(
            "move_file",
            json!({ "file_uuid": id(&inner), "target_folder_uuid": id(&b) }),
        )
        .await;
    assert_eq!(moved["parent_id"], b["id"]);
    let renamed = session
        .call_ok(
            "rename_file",
            json!({ "file_uuid": id(&inner), "new_name": "called" }),
        )
        .await;
    assert_eq!(
        (&renamed["name"], &renamed["parent_id"]),
        (&json!("called"), &b["id"])
    );
    let copied = session
        .call_ok(
            "copy_file",
            json!({ "file_uuid": id(&inner), "target_folder_uuid": id(&a) }),
        )
        .await;
    assert_eq!(copied["parent_id"], a["id"]);
    let upper = json!({ "file_uuid": id(&copied).to_uppercase() });
    let info = session.call_ok("get_file_info", upper).await;
    assert_eq!(info["name"], "called");
    let list = session
        .call_ok(
            "list_files",
            json!({ "folder_uuid": id(&a), "page_size": 1.0 }),
        )
        .await;
    assert_eq!(list["totalElements"], 1);
    let deleted = session
        .call_ok("delete_file", json!({ "file_uuid": id(&copied) }))
        .await;
    assert_eq!(deleted["success"], true, "{deleted}");
    let restored = session
        .call_ok("restore_from_trash", json!({ "file_uuid": id(&copied) }))
        .await;
    assert_eq!(restored["success"], true);
    session
        .call_ok("delete_file", json!({ "file_uuid": id(&copied) }))
        .await;
    assert_eq!(
        session.call_ok("empty_trash", json!({})).await["success"],
        true
    );
    session
        .call_err("get_file_info", json!({ "file_uuid": id(&copied) }))
        .await;
    let root = session.call_ok("list_files", json!({})).await;
    assert_eq!(root["totalElements"], 2);
}

#[tokio::test]
async fn the_service_changes_what_it_is_reported_to() {
    story(Setup::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_keys_the_same_things_happen_sealed() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "x").unwrap();
    let mut session = world.session(with_passphrase()).await;
    let file = json!({ "local_path": dir.path().join("x") });
    session.call_ok("upload_file", file).await;
    let folder = session
        .call_ok("create_folder", json!({ "name": "sealed" }))
        .await;
    let raw = world
        .rest(
            cairn_api::Method::GET,
            &format!("nodes/{}", id(&folder)),
            None,
        )
        .await;
    assert!(raw["seal"].is_string(), "{raw}");
    let nested = json!({ "path": "/deep/er/", "parent_uuid": id(&folder) });
    let nested = session.call_ok("create_nested_folders", nested).await;
    assert_eq!(nested["folders"].as_array().unwrap().len(), 2, "{nested}");
    assert_eq!(nested["leaf_folder_uuid"], nested["folders"][1]["id"]);
    let again = json!({ "path": "deep/er", "parent_uuid": id(&folder) });
    let again = session.call_ok("create_nested_folders", again).await;
    assert_eq!(again["folders"], json!([]));
    assert_eq!(again["leaf_folder_uuid"], nested["leaf_folder_uuid"]);
    story(with_passphrase()).await;
}

#[tokio::test]
async fn names_that_hide_something_are_shown_plainly() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let name = "in\u{200b}voice\u{202e}fdp.exe";
    session
        .call_ok("create_folder", json!({ "name": name }))
        .await;
    let list = session.call_ok("list_files", json!({})).await;
    assert_eq!(list["content"][0]["name"], "invoicefdp.exe");
}
