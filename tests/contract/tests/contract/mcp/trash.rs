//! The trash: the question before it is emptied, and long lists of it.

use crate::mcp::session::{Session, text};
use crate::mcp::sync::with_sync;
use crate::mcp::world::{World, with_passphrase};
use cairn_api::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

async fn folder(session: &mut Session, name: &str, parent: Option<&Value>) -> Value {
    let mut arguments = json!({ "name": name });
    if let Some(parent) = parent {
        arguments["parent_uuid"] = parent.clone();
    }
    session.call_ok("create_folder", arguments).await["id"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_before_the_trash_is_emptied_counts_what_is_below_folders() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut session = world.connect(with_passphrase());
    session.initialize(json!({ "elicitation": {} })).await;
    let top = folder(&mut session, "et", None).await;
    let sub = folder(&mut session, "sub", Some(&top)).await;
    for name in ["a", "b", "c"] {
        let path = dir.path().join(name);
        std::fs::write(&path, "12345").unwrap();
        let up = json!({ "local_path": path, "folder_uuid": sub });
        session.call_ok("upload_file", up).await;
    }
    session
        .call_ok("delete_file", json!({ "file_uuid": top }))
        .await;
    let call = json!({ "name": "empty_trash", "arguments": {} });
    let id = session.begin("tools/call", call).await;
    let question = session.response_or_request(id).await;
    let message = question["params"]["message"].as_str().unwrap();
    let words = "delete 5 items, 15 B permanently";
    assert!(message.contains(words), "{message}");
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let yes = json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes });
    session.send(yes).await;
    let emptied = session.response_or_request(id).await["result"].clone();
    assert_eq!(text(&emptied)["deleted"], 5, "{emptied}");
}

#[tokio::test]
async fn a_long_trash_is_read_whole_by_following_its_advice() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let mut made = BTreeSet::new();
    for number in 0..130 {
        let name = format!("{number:03} {}", "\u{fc}".repeat(110));
        let body = json!({ "name": name, "kind": "folder" });
        let id = world.rest(Method::POST, "nodes", Some(body)).await["id"].clone();
        let id = id.as_str().unwrap().to_owned();
        world
            .rest(Method::DELETE, &format!("nodes/{id}"), None)
            .await;
        made.insert(id);
    }
    let (mut seen, mut was_cut) = (BTreeSet::new(), false);
    let mut next = json!({});
    for _ in 0..20 {
        let mut arguments = next.clone();
        arguments["limit"] = json!(100);
        let list = session.call_ok("list_trash", arguments).await;
        assert_eq!(list["totalElements"], 130);
        let rows = list["content"].as_array().unwrap();
        let ids = rows.iter().map(|row| row["id"].as_str().unwrap());
        seen.extend(ids.map(str::to_owned));
        let after_cut = list["truncated"].get("next");
        was_cut |= after_cut.is_some();
        match after_cut.or(list.get("next")) {
            Some(after) => next = after.clone(),
            None => break,
        }
    }
    assert!(was_cut, "the names are too short to show anything");
    assert_eq!(seen, made);
}
