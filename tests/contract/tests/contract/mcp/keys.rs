//! The passphrase and the recovery key: what works with a wrong one or none, and that a key opens something.

use crate::mcp::world::{PASSPHRASE, Setup, World, with_passphrase};
use cairn_api::Method;
use cairn_crypto::RecoveryKey;
use serde_json::{Value, json};

fn wrong_passphrase() -> Setup {
    Setup {
        passphrase: Some("another one"),
        ..Setup::default()
    }
}

/// A server whose account `owner` has encryption keys.
async fn used_world() -> World {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "x").unwrap();
    let mut session = world.session(with_passphrase()).await;
    let up = json!({ "local_path": dir.path().join("x") });
    session.call_ok("upload_file", up).await;
    world
}

fn hash() -> Value {
    json!({ "passphrase_hash": "ab".repeat(32) })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recovery_key_that_is_shown_opens_the_account() {
    let world = used_world().await;
    let mut session = world.session(with_passphrase()).await;
    let made = session.call_ok("setup_recovery_key", hash()).await;
    assert_eq!(
        (&made["opens_files"], &made["made_by"]),
        (&json!(true), &json!("client"))
    );
    let key = RecoveryKey::parse(made["recovery_key"].as_str().unwrap()).unwrap();
    let bundle = world.rest(Method::GET, "keys", None).await;
    let bundle = cairn_space::account_keys::from_wire(&serde_json::from_value(bundle).unwrap());
    let me = session.call_ok("get_account_info", json!({})).await;
    let part = |name: &str| me[name].as_str().unwrap().to_owned();
    let (account, space) = (
        part("id").parse().unwrap(),
        part("space_id").parse().unwrap(),
    );
    cairn_crypto::unlock_with_recovery(&bundle, &key, account, space).unwrap();
    let status = session
        .call_ok("check_recovery_key_status", json!({}))
        .await;
    assert_eq!(status["configured"], true, "{status}");
    let status = session.call_ok("verify_encryption_status", json!({})).await;
    assert_eq!(
        (&status["recovery_key_configured"], &status["passphrase"]),
        (&json!(true), &json!("opens_the_account")),
        "{status}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_only_resets_the_account_says_so() {
    let world = used_world().await;
    let me = world.rest(Method::GET, "useraccount/composite", None).await;
    let part = |name: &str| me[name].as_str().unwrap().to_owned();
    let (account, space) = (
        part("id").parse().unwrap(),
        part("space_id").parse().unwrap(),
    );
    let bundle = world.rest(Method::GET, "keys", None).await;
    let bundle = cairn_space::account_keys::from_wire(&serde_json::from_value(bundle).unwrap());
    let (_, auth) = cairn_crypto::unlock(&bundle, PASSPHRASE, account, space).unwrap();
    let mut session = world.session(Setup::default()).await;
    let hash = json!({ "passphrase_hash": auth.to_hex() });
    let made = session.call_ok("setup_recovery_key", hash).await;
    assert_eq!(made["opens_files"], false);
    assert!(made["note"].as_str().unwrap().contains("opens no files"));
    let status = session
        .call_ok("check_recovery_key_status", json!({}))
        .await;
    assert_eq!(status["configured"], false, "{status}");
    let status = session.call_ok("verify_encryption_status", json!({})).await;
    assert_eq!(
        (&status["recovery_key_configured"], &status["passphrase"]),
        (&json!(false), &json!("missing")),
        "{status}"
    );
    assert_eq!(status["encryption_ready"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_passphrase_stops_content_only_and_is_diagnosed() {
    let world = used_world().await;
    let mut session = world.session(wrong_passphrase()).await;
    let folder = session
        .call_ok("create_folder", json!({ "name": "f" }))
        .await;
    let rename = json!({ "file_uuid": folder["id"], "new_name": "g" });
    session.call_ok("rename_file", rename).await;
    let file = json!({ "file_uuid": folder["id"] });
    session.call_ok("delete_file", file.clone()).await;
    let message = session.call_err("read_file_content", file).await;
    assert!(message.contains("check SERVICE_PASSPHRASE"), "{message}");
    let status = session.call_ok("verify_encryption_status", json!({})).await;
    assert_eq!(
        (&status["encryption_ready"], &status["passphrase"]),
        (&json!(false), &json!("wrong")),
        "{status}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_parallel_do_not_stand_in_each_others_way() {
    let world = used_world().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("same"), "content").unwrap();
    let mut session = world.session(with_passphrase()).await;
    let nested = json!({ "name": "create_nested_folders", "arguments": { "path": "race/x/y" } });
    let upload = json!({
        "name": "upload_file", "arguments": { "local_path": dir.path().join("same") },
    });
    for call in [nested, upload] {
        let mut open = std::collections::HashSet::new();
        for _ in 0..4 {
            open.insert(session.begin("tools/call", call.clone()).await);
        }
        while !open.is_empty() {
            let line = session.line().await.unwrap();
            if line["id"].as_u64().is_some_and(|id| open.remove(&id)) {
                assert_ne!(line["result"]["isError"], true, "{line}");
            }
        }
    }
}
