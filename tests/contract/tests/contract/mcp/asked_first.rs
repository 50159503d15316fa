//! Questions that a person is asked, and refusals that come before them.

use crate::mcp::session::{Session, failure};
use crate::mcp::world::{Setup, World, with_passphrase};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

async fn asking_session(world: &World, setup: Setup) -> Session {
    let mut session = world.connect(setup);
    session.initialize(json!({ "elicitation": {} })).await;
    session
}

/// Makes a link with or without a password, and returns its code.
async fn link(session: &mut Session, password: Option<&str>) -> Value {
    let folder = json!({ "name": password.unwrap_or("open") });
    let folder = session.call_ok("create_folder", folder).await;
    let mut share = json!({ "file_uuid": folder["id"], "storage_type": "VR_FOLDER" });
    if let Some(password) = password {
        share["password"] = json!(password);
    }
    session.call_ok("create_share_link", share).await["short_code"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_before_the_password_of_a_link_is_replaced() {
    let world = World::start().await;
    let mut maker = world.session(with_passphrase()).await;
    let closed = link(&mut maker, Some("open sesame")).await;
    let open = link(&mut maker, None).await;
    let mut session = asking_session(&world, with_passphrase()).await;
    let change = |code: &Value| json!({ "short_code": code, "password": "x" });
    let params = json!({ "name": "update_share_link", "arguments": change(&closed) });
    let id = session.begin("tools/call", params).await;
    let question = session.response_or_request(id).await;
    let message = question["params"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("password"), "{question}");
    let declined = json!({ "action": "decline" });
    let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": declined });
    session.send(reply).await;
    let result = session.response_or_request(id).await["result"].clone();
    assert!(failure(&result).is_some(), "{result}");
    // A first password lets nobody in.
    session.call_ok("update_share_link", change(&open)).await;
}

#[tokio::test]
async fn nobody_is_asked_about_a_name_that_no_file_has() {
    let world = World::start().await;
    let mut session = asking_session(&world, Setup::default()).await;
    let folder = json!({ "name": "f" });
    let id = session.call_ok("create_folder", folder).await["id"].clone();
    for (tool, arguments) in [
        ("create_folder", json!({ "name": ".." })),
        ("create_folder", json!({ "name": "a/../b" })),
        ("create_nested_folders", json!({ "path": "a/../b" })),
        ("rename_file", json!({ "file_uuid": id, "new_name": "." })),
    ] {
        // A question would be no result.
        session.call_err(tool, arguments).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_passphrase_is_named_before_a_link_is_asked_about() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "x").unwrap();
    let mut maker = world.session(with_passphrase()).await;
    let up = json!({ "local_path": dir.path().join("x") });
    let file = maker.call_ok("upload_file", up).await["file_uuid"].clone();
    let wrong = Setup {
        passphrase: Some("another one"),
        ..Setup::default()
    };
    let mut session = asking_session(&world, wrong).await;
    for (tool, arguments) in [
        ("create_share_link", json!({ "file_uuid": file })),
        ("bulk_create_share_links", json!({ "file_uuids": [file] })),
    ] {
        let message = session.call_err(tool, arguments).await;
        assert!(message.contains("SERVICE_PASSPHRASE"), "{tool}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_ends_at_once_when_nobody_can_reply_any_more() {
    let world = World::start().await;
    let mut session = asking_session(&world, Setup::default()).await;
    let key = json!({ "name": "create_api_key", "arguments": { "name": "k" } });
    let id = session.begin("tools/call", key).await;
    let question = session.response_or_request(id).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let begin = Instant::now();
    session.end().await;
    assert!(begin.elapsed() < Duration::from_secs(3), "{begin:?}");
}
