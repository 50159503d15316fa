//! Everything that goes wrong has one shape, and says nothing of keys.

use crate::mcp::world::{Setup, World, unreachable_setup, with_passphrase};
use cairn_api::Method;
use serde_json::json;

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

#[tokio::test]
async fn bad_arguments_are_reported_by_name() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    for (tool, arguments, word) in [
        ("get_file_info", json!({}), "file_uuid is required"),
        ("get_file_info", json!({ "file_uuid": "x" }), "UUID"),
        ("list_files", json!({ "page_size": 101 }), "page_size"),
        ("list_files", json!({ "folder": NOBODY }), "`folder`"),
        ("search_files", json!({ "query": "a" }), "at least 2"),
        ("update_profile", json!({}), "at least one of display_name"),
        (
            "update_share_link",
            json!({ "short_code": "x" }),
            "at least one of",
        ),
        (
            "send_tip",
            json!({ "tip_jar_uuid": NOBODY, "amount": "0" }),
            "amount",
        ),
        (
            "auto_classify_folder",
            json!({ "folder_uuid": NOBODY, "confirm_token_use": false }),
            "confirm_token_use",
        ),
        (
            "create_nested_folders",
            json!({ "path": "a/".repeat(21) }),
            "20 levels",
        ),
    ] {
        let message = session.call_err(tool, arguments).await;
        assert!(message.contains(word), "{tool}: {message}");
    }
}

#[tokio::test]
async fn what_the_service_refuses_says_what_to_do() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let message = session
        .call_err("get_file_info", json!({ "file_uuid": NOBODY }))
        .await;
    assert!(message.starts_with("not found: "), "{message}");
    let wrong = Setup {
        key: "ck_wrong",
        ..Setup::default()
    };
    let mut session = world.session(wrong).await;
    let message = session.call_err("list_files", json!({})).await;
    assert!(message.contains("SERVICE_API_KEY"), "{message}");
    let mut session = world.session(unreachable_setup()).await;
    let message = session
        .call_err("create_folder", json!({ "name": "x" }))
        .await;
    assert!(message.contains("can't be reached"), "{message}");
    let health = session.call_ok("check_service_health", json!({})).await;
    assert_eq!(health["reachable"], false, "{health}");
}

#[tokio::test]
async fn content_without_a_passphrase_names_the_variable() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let path = out.path().join("x").display().to_string();
    std::fs::write(&path, "x").unwrap();
    for (tool, arguments) in [
        ("read_file_content", json!({ "file_uuid": NOBODY })),
        (
            "download_file",
            json!({ "file_uuid": NOBODY, "output_path": path }),
        ),
        (
            "download_folder",
            json!({ "folder_uuid": NOBODY, "output_path": path }),
        ),
        ("upload_file", json!({ "local_path": path })),
        ("upload_folder", json!({ "local_path": folder })),
    ] {
        let message = session.call_err(tool, arguments).await;
        assert!(
            message.contains("SERVICE_PASSPHRASE is not set"),
            "{tool}: {message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_passphrase_is_reported_without_a_word_of_keys() {
    let world = World::start().await;
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("x");
    std::fs::write(&path, "x").unwrap();
    let upload = json!({ "local_path": path });
    world
        .session(with_passphrase())
        .await
        .call_ok("upload_file", upload.clone())
        .await;
    let wrong = Setup {
        passphrase: Some("another one"),
        ..Setup::default()
    };
    let message = world
        .session(wrong)
        .await
        .call_err("upload_file", upload)
        .await;
    assert!(message.contains("check SERVICE_PASSPHRASE"), "{message}");
}

#[tokio::test]
async fn a_message_about_cryptography_is_masked() {
    let world = World::start().await;
    let rule = json!({
        "path_pattern": format!("/api/v1/nodes/{NOBODY}"),
        "set": { "/message": "could not decrypt the record with AES-256" },
    });
    world.dev("/_dev/faults", rule).await;
    let mut session = world.session(Setup::default()).await;
    let message = session
        .call_err("get_file_info", json!({ "file_uuid": NOBODY }))
        .await;
    assert_eq!(message, "Encryption operation failed");
}

#[tokio::test]
async fn reads_are_repeated_and_so_are_changes_that_are_made_once() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let failing = |path: &str, method: &str| json!({ "path_pattern": path, "method": method, "status": 503, "count": 1 });
    let quota = failing("/api/v1/userusage/quota-limit", "GET");
    world.dev("/_dev/faults", quota).await;
    session.call_ok("get_storage_usage", json!({})).await;
    let posts = failing("/api/v1/nodes$", "POST");
    world.dev("/_dev/faults", posts).await;
    let folder = json!({ "name": "once" });
    let folder = session.call_ok("create_folder", folder).await["id"].clone();
    let list = world.rest(Method::GET, "nodes", None).await;
    assert_eq!(list["totalElements"], 1, "{list}");
    let puts = failing("/api/v1/nodes/*", "PUT");
    world.dev("/_dev/faults", puts).await;
    let rename = json!({ "file_uuid": folder, "new_name": "renamed" });
    let message = session.call_err("rename_file", rename).await;
    assert!(
        message.contains("503") && message.contains("look at list_files before you repeat it"),
        "{message}"
    );
}

/// A repeated request has the key of the first one, and a message doesn't say that something was not done that may have been.
#[tokio::test]
async fn a_change_whose_response_is_lost_is_made_once() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let folder = json!({ "name": "plans" });
    let folder = session.call_ok("create_folder", folder).await["id"].clone();
    let lost = |count: u64| {
        json!({
            "path_pattern": "/api/v1/nodes/*/comments", "method": "POST",
            "status": 502, "processed": true, "count": count,
        })
    };
    let comment = |text: &str| json!({ "file_uuid": folder, "text": text });
    world.dev("/_dev/faults", lost(1)).await;
    session.call_ok("add_comment", comment("first")).await;
    world.dev("/_dev/faults", lost(3)).await;
    let message = session.call_err("add_comment", comment("second")).await;
    assert!(message.contains("look at list_comments"), "{message}");
    assert!(!message.contains("try again"), "{message}");
    let list = session
        .call_ok("list_comments", json!({ "file_uuid": folder }))
        .await;
    assert_eq!(list["totalElements"], 2, "{list}");
}

#[tokio::test]
async fn an_id_never_leads_to_another_address() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    for (tool, argument) in [
        ("delete_webhook", "webhook_id"),
        ("delete_comment", "comment_id"),
        ("delete_share_link", "short_code"),
        ("validate_coupon", "code"),
        ("mark_notification_read", "notification_id"),
    ] {
        for dots in [".", ".."] {
            let reply = session.call_err(tool, json!({ argument: dots })).await;
            assert!(
                reply.starts_with(&format!("{argument} can't be")),
                "{reply}"
            );
        }
    }
    let reply = session
        .call_err("delete_webhook", json!({ "webhook_id": "nope" }))
        .await;
    assert!(
        reply.contains("webhook_id `nope`")
            && reply.contains("list_webhooks")
            && !reply.contains("/api"),
        "{reply}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asked_for_deletion_is_reported_the_tool_that_undoes_it() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    session.call_ok("request_account_deletion", json!({})).await;
    // One is the service's own change, the other is made here with the keys.
    for (tool, arguments) in [
        ("create_team", json!({ "name": "late" })),
        ("create_folder", json!({ "name": "late" })),
    ] {
        let reply = session.call_err(tool, arguments).await;
        assert!(
            reply.contains("restore_account") && !reply.contains("POST"),
            "{reply}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_wait_is_reported_instead_of_waited_for() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    session
        .call_ok("create_folder", json!({ "name": "first" }))
        .await;
    let busy = json!({
        "path_pattern": "/api/v1/nodes",
        "status": 429,
        "retry_after": 15,
    });
    world.dev("/_dev/faults", busy).await;
    let before = world.requests().await.len();
    for (tool, arguments) in [
        ("create_folder", json!({ "name": "second" })),
        ("list_files", json!({})),
    ] {
        let message = session.call_err(tool, arguments).await;
        assert!(message.contains("15 s"), "{tool}: {message}");
    }
    let requests = world.requests().await.len() - before;
    // One of them looks at what is there before the folder is made.
    assert!(requests <= 5, "{requests} requests: they were repeated");
}
