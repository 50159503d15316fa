//! Files of teams by their ids, and the roots of spaces as targets.

use crate::mcp::world::{Setup, World, with_passphrase};
use serde_json::{Value, json};

fn id(value: &Value) -> Value {
    value["id"].clone()
}

/// With and without the account's keys, which are not those of the team.
async fn story(setup: Setup) {
    let world = World::start().await;
    let mut session = world.session(setup).await;
    let team = session
        .call_ok("create_team", json!({ "name": "Five" }))
        .await;
    let plans = json!({ "name": "plans", "parent_uuid": id(&team) });
    let plans = session.call_ok("create_folder", plans).await;
    let inner = json!({ "name": "inner", "parent_uuid": id(&plans) });
    let inner = session.call_ok("create_folder", inner).await;
    for root in [id(&team), team["space_id"].clone()] {
        let list = session
            .call_ok("list_files", json!({ "folder_uuid": root }))
            .await;
        assert_eq!(list["content"][0]["id"], plans["id"], "{list}");
    }
    let own = session.call_ok("list_files", json!({})).await;
    assert_eq!(
        own["totalElements"], 0,
        "the team's files are not one's own"
    );
    // A fresh server has seen none of the ids.
    let mut session = world.session(Setup::default()).await;
    let search = json!({ "query": "plans", "include_teams": true });
    let found = session.call_ok("search_files", search).await;
    assert_eq!(found["content"][0]["id"], plans["id"], "{found}");
    let file = json!({ "file_uuid": id(&plans) });
    assert_eq!(
        session.call_ok("get_file_info", file.clone()).await["name"],
        "plans"
    );
    let uri = json!({ "uri": format!("service://files/{}", plans["id"].as_str().unwrap()) });
    let resource = session.request("resources/read", uri).await;
    let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"plans\""), "{text}");
    let comment = json!({ "file_uuid": id(&plans), "text": "good" });
    session.call_ok("add_comment", comment).await;
    session.call_ok("list_comments", file.clone()).await;
    let rename = json!({ "file_uuid": id(&inner), "new_name": "deeper" });
    assert_eq!(
        session.call_ok("rename_file", rename).await["name"],
        "deeper"
    );
    let to_root = json!({ "file_uuid": id(&inner), "target_folder_uuid": id(&team) });
    let moved = session.call_ok("move_file", to_root).await;
    assert!(moved["parent_id"].is_null(), "{moved}");
    let back = json!({ "file_uuid": id(&inner), "target_folder_uuid": id(&plans) });
    assert_eq!(
        session.call_ok("move_file", back).await["parent_id"],
        plans["id"]
    );
    session.call_ok("delete_file", file.clone()).await;
    session.call_ok("restore_from_trash", file).await;
    let nobody = json!({ "file_uuid": "00000000-0000-4000-8000-000000000000" });
    let message = session.call_err("get_file_info", nobody).await;
    assert!(message.starts_with("not found"), "{message}");
}

#[tokio::test]
async fn files_of_teams_are_reached_by_their_ids() {
    story(Setup::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_teams_are_reached_by_their_ids_with_keys_too() {
    story(with_passphrase()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_the_own_space_names_its_root() {
    for setup in [Setup::default(), with_passphrase()] {
        let world = World::start().await;
        let mut session = world.session(setup).await;
        let account = session.call_ok("get_account_info", json!({})).await;
        let root = account["space_id"].clone();
        let a = session
            .call_ok("create_folder", json!({ "name": "a" }))
            .await;
        let b = json!({ "name": "b", "parent_uuid": id(&a) });
        let b = session.call_ok("create_folder", b).await;
        let up = json!({ "file_uuid": id(&b), "target_folder_uuid": root });
        let moved = session.call_ok("move_file", up).await;
        assert!(moved["parent_id"].is_null(), "{moved}");
        let list = session
            .call_ok("list_files", json!({ "folder_uuid": root }))
            .await;
        assert_eq!(list["totalElements"], 2, "{list}");
    }
}
