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
