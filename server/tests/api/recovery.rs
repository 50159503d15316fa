//! Recovery keys (the client's, which opens the account's keys, and the server's, which only proves whose account it
//! is) and the log of what happened to an account's keys.

use super::world::{Caller, World};
use cairn_wire::Page;
use cairn_wire::account::AuditEvent;
use cairn_wire::keys::{KeyBundle, RecoveryKeyOrigin, RecoverySetUp, RecoveryStatus};
use cairn_wire::notifications::{Notification, NotificationKind};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const STATUS: &str = "/api/v1/keys/recovery";
const SETUP: &str = "/api/v1/keys/recovery/setup";

fn bundle(version: u64, salt: &str, recovery: Option<&str>) -> Value {
    let mut bundle = json!({
        "format": 1, "version": version,
        "kdf": {"algorithm": "pbkdf2-hmac-sha256", "iterations": 1_000_000, "salt": salt},
        "account_key": "a2V5", "rsa_public": "", "rsa_private": "", "signing_public": "", "signing_private": "",
        "spaces": []
    });
    if let Some(recovery) = recovery {
        bundle["recovery"] = json!(recovery);
    }
    bundle
}

fn auth(letter: char) -> String {
    letter.to_string().repeat(64)
}

async fn make_keys(who: &Caller) {
    let body = json!({"bundle": bundle(1, "c2FsdA==", None), "auth": auth('a')});
    who.put("/api/v1/keys", &body).await.done(200);
}

async fn log(who: &Caller) -> Vec<&'static str> {
    let page: Page<AuditEvent> = who.get("/api/v1/useraccount/encryption-audit").await.ok();
    let names = page.content.iter().map(|event| event.event.as_str());
    names.collect()
}

#[tokio::test]
async fn a_client_brings_the_key_that_opens_files() {
    let world = World::new();
    let owner = world.owner();
    let none: RecoveryStatus = owner.get(STATUS).await.ok();
    assert!(!none.configured && !none.has_keys);
    let body = json!({"passphrase_hash": auth('a'), "recovery": "d3JhcHBlZA==", "recovery_auth": auth('1')});
    owner.post(SETUP, &body).await.failed(409);
    make_keys(&owner).await;
    for (bad, status) in [
        (json!({"passphrase_hash": auth('b')}), 403),
        (json!({"passphrase_hash": "short"}), 400),
        (
            json!({"passphrase_hash": auth('a'), "recovery": "d3JhcHBlZA=="}),
            400,
        ),
        (
            json!({"passphrase_hash": auth('a'), "recovery_auth": auth('1')}),
            400,
        ),
    ] {
        owner.post(SETUP, &bad).await.failed(status);
    }
    let response = owner.post(SETUP, &body).await;
    response.done(201);
    assert_eq!(response.header("cache-control"), "no-store");
    let done: RecoverySetUp = response.ok();
    assert_eq!(done.recovery_key, None);
    assert!(done.status.configured && done.status.opens_files);
    let stored: KeyBundle = owner.get("/api/v1/keys").await.ok();
    assert_eq!(
        (stored.version, stored.recovery.unwrap().0),
        (2, b"wrapped".to_vec())
    );
    // It proves the account when a passphrase is forgotten.
    let body = json!({"bundle": bundle(3, "bmV3", Some("d3JhcHBlZA==")), "auth": auth('2'), "recovery_auth": auth('1')});
    owner.put("/api/v1/keys", &body).await.done(200);
    assert_eq!(
        log(&owner).await,
        [
            "passphrase_changed",
            "recovery_key_used",
            "recovery_key_set_up",
            "keys_created"
        ]
    );
    let notified: Page<Notification> = owner.get("/api/v1/social/notifications").await.ok();
    assert!(
        notified
            .content
            .iter()
            .all(|one| one.kind == NotificationKind::Security)
    );
    assert_eq!(notified.total_elements, 3);
    assert_eq!(log(&world.member()).await, Vec::<&str>::new());
}

#[tokio::test]
async fn a_key_of_the_servers_proves_the_account_and_leaves_the_clients_alone() {
    let world = World::new();
    let owner = world.owner();
    make_keys(&owner).await;
    let made: RecoverySetUp = owner
        .post(SETUP, &json!({"passphrase_hash": auth('a')}))
        .await
        .ok();
    let key = made.recovery_key.unwrap();
    assert_eq!((key.len(), key.split('-').count()), (47, 8));
    assert_eq!(made.status.made_by, Some(RecoveryKeyOrigin::Server));
    assert!(made.status.configured && !made.status.opens_files);
    let again = owner.get(STATUS).await;
    assert!(
        !String::from_utf8(again.body.to_vec())
            .unwrap()
            .contains(&key)
    );
    // A client's key comes beside it.
    let body = json!({"passphrase_hash": auth('a'), "recovery": "d3JhcHBlZA==", "recovery_auth": auth('1')});
    owner.post(SETUP, &body).await.done(201);
    let proof = hex::encode(Sha256::digest(key.replace('-', "")));
    let body = json!({"bundle": bundle(3, "bmV3", Some("d3JhcHBlZA==")), "auth": auth('2'), "recovery_auth": proof});
    owner.put("/api/v1/keys", &body).await.done(200);
    let body = json!({"bundle": bundle(4, "bmV4", Some("d3JhcHBlZA==")), "auth": auth('3'), "recovery_auth": auth('1')});
    owner.put("/api/v1/keys", &body).await.done(200);
    let wrong =
        json!({"bundle": bundle(5, "bmV5", None), "auth": auth('3'), "recovery_auth": auth('4')});
    owner.put("/api/v1/keys", &wrong).await.failed(403);
}
