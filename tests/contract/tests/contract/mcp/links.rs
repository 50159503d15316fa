//! Addresses of share links: whole wherever the keys are, and marked where they are not.

use crate::mcp::world::{Setup, World, with_passphrase};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn every_address_opens_the_link_or_says_that_it_does_not() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "x").unwrap();
    let mut session = world.session(with_passphrase()).await;
    let up = json!({ "local_path": dir.path().join("x") });
    let file = session.call_ok("upload_file", up).await["file_uuid"].clone();
    let made = session
        .call_ok("create_share_link", json!({ "file_uuid": file }))
        .await;
    let code = json!({ "short_code": made["short_code"] });
    let update = json!({ "short_code": made["short_code"], "expiry_days": 7 });
    let list = session.call_ok("list_share_links", json!({})).await["content"][0].clone();
    let updated = session.call_ok("update_share_link", update).await;
    let shares = json!({ "uri": "service://shares" });
    let resource = session.request("resources/read", shares.clone()).await;
    let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
    let resource: Value = serde_json::from_str(text).unwrap();
    for link in [&list, &updated, &resource["content"][0]] {
        assert_eq!(link["url"], made["url"], "{link}");
    }
    let mut without_keys = world.session(Setup::default()).await;
    let list = without_keys.call_ok("list_share_links", json!({})).await;
    let link = &list["content"][0];
    assert!(link["url_is_incomplete"].is_string(), "{link}");
    assert!(link.get("key_blob").is_none());
    // A link that was switched off is none of the active ones.
    session.call_ok("toggle_share_link", code).await;
    let resource = session.request("resources/read", shares).await;
    let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
    let resource: Value = serde_json::from_str(text).unwrap();
    assert_eq!(
        (&resource["content"], &resource["totalElements"]),
        (&json!([]), &json!(0))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_by_mail_is_as_it_was_asked_for_and_not_as_the_default() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "x").unwrap();
    let mut session = world.session(with_passphrase()).await;
    let up = json!({ "local_path": dir.path().join("x") });
    let file = session.call_ok("upload_file", up).await["file_uuid"].clone();
    let default = json!({ "default_access_mode": "view_only" });
    session.call_ok("set_share_link_defaults", default).await;
    for (view_only, mode) in [
        (Some(false), "download"),
        (Some(true), "view_only"),
        (None, "view_only"),
    ] {
        let mut mail = json!({ "file_uuid": file, "email": "anna@example.com" });
        if let Some(view_only) = view_only {
            mail["view_only"] = json!(view_only);
        }
        let sent = session.call_ok("share_file_by_email", mail).await;
        assert_eq!(sent["share"]["access_mode"], mode, "{view_only:?}: {sent}");
    }
}

/// A person who has set the passphrase gets no advice to set it.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_an_empty_folder_says_what_it_lacks() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let up = json!({ "local_path": file.path(), "file_name": "x" });
    session.call_ok("upload_file", up).await;
    let folder = session.call_ok("create_folder", json!({ "name": "empty" }));
    let link = json!({ "file_uuid": folder.await["id"], "storage_type": "VR_FOLDER" });
    let link = session.call_ok("create_share_link", link).await;
    let says = link["opens_nothing"].as_str().unwrap();
    assert!(says.contains("carries no file"), "{link}");
    assert!(!says.contains("SERVICE_PASSPHRASE"), "{link}");
}

#[tokio::test]
async fn lists_of_more_than_one_page_are_whole() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let folder = session
        .call_ok("create_folder", json!({ "name": "f" }))
        .await;
    let share = json!({ "file_uuid": folder["id"], "storage_type": "VR_FOLDER" });
    let link = session.call_ok("create_share_link", share).await;
    let code = link["short_code"].as_str().unwrap();
    let open = format!("public/shares/{code}/open");
    let comment = format!("nodes/{}/comments", folder["id"].as_str().unwrap());
    for number in 0..105 {
        let post = cairn_api::Method::POST;
        world.rest(post.clone(), &open, Some(json!({}))).await;
        let text = json!({ "text": format!("number {number}") });
        world.rest(post, &comment, Some(text)).await;
    }
    let rows = |list: &Value| {
        let shown = list["content"].as_array().map_or(0, Vec::len);
        let read = list["truncated"]["of"].as_u64();
        read.unwrap_or(shown as u64)
    };
    let of_link = json!({ "short_code": code });
    for tool in ["get_share_access_log", "get_share_audit_log"] {
        let log = session.call_ok(tool, of_link.clone()).await;
        assert_eq!(rows(&log), 105, "{tool}: {}", log["totalElements"]);
    }
    let comments = json!({ "file_uuid": folder["id"] });
    let comments = session.call_ok("list_comments", comments).await;
    let last = comments["content"].as_array().unwrap().last().unwrap();
    assert!(last.to_string().contains("number 104"), "{last}");
}
