//! Share links.

use super::{arguments, call, world};
use serde_json::json;

#[tokio::test]
async fn a_link_is_made_with_its_password_off_the_command_line() {
    let made = json!({"id": "l1", "file_name": "plan.md", "address": "https://s/s/abc#key", "status": "active", "is_active": true, "has_password": true, "expires_at": "2026-01-09T00:00:00.000Z", "download_limit": 5, "download_count": 0, "access_count": 0});
    let world = world(vec![Ok(made.clone()), Ok(made)]);
    let choices = json!({"password": "open sesame", "days": 7, "downloads": 5, "view_only": true});
    let target = json!({"kind": "local", "folder": "/f", "path": "plan.md"});
    let asked = json!({"op": "create_link", "target": target, "choices": choices});
    let link = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(
        arguments(&world),
        [
            "share",
            "create",
            "--password-file=-",
            "--expires=7d",
            "--limit=5",
            "--view-only",
            "--",
            "/f/plan.md"
        ]
    );
    let secrets = world.fake.runs.lock()[0].secrets.clone();
    assert_eq!(secrets, ["open sesame"]);
    assert_eq!(
        (&link["address"], &link["download_limit"]),
        (&json!("https://s/s/abc#key"), &json!(5))
    );

    let target = json!({"kind": "remote", "id": "n1"});
    let choices = json!({"password": "", "view_only": false});
    let asked = json!({"op": "create_link", "target": target, "choices": choices});
    world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(arguments(&world), ["share", "create", "--", "n1"]);
}

#[tokio::test]
async fn links_are_listed_with_whole_addresses_switched_and_revoked() {
    let world = world(vec![Ok(json!({"links": [
        {"id": "l1", "file_name": "a", "address": "https://s/s/abc#key", "status": "deactivated", "is_active": false, "has_password": false, "expires_at": null, "download_limit": null, "download_count": 2, "access_count": 3},
        {"id": "l2", "file_name": "b", "address": null, "status": "expired", "is_active": true, "has_password": false, "expires_at": null, "download_limit": null, "download_count": 0, "access_count": 0},
    ]}))]);
    let listed = world
        .commands
        .handle(call(json!({"op": "links"})))
        .await
        .unwrap();
    assert_eq!(
        listed[0],
        json!({"id": "l1", "name": "a", "address": "https://s/s/abc#key", "state": "deactivated", "is_on": false, "has_password": false, "downloads": 2, "opened": 3})
    );
    assert_eq!(
        (listed[1].get("address"), &listed[1]["state"]),
        (None, &json!("expired"))
    );
    for action in ["disable", "enable", "revoke"] {
        let asked = json!({"op": "change_link", "id": "l1", "action": action});
        world.commands.handle(call(asked)).await.unwrap();
        assert_eq!(arguments(&world), ["share", action, "--", "l1"]);
    }
}

#[tokio::test]
async fn a_document_without_an_expected_field_is_an_error() {
    let world = world(vec![Ok(json!({"links": [{"id": "l1"}]}))]);
    let failed = world.commands.handle(call(json!({"op": "links"}))).await;
    let message = failed.unwrap_err().message;
    assert!(message.contains("file_name"), "{message}");
}
