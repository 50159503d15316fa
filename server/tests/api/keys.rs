//! The key bundle: an account's encryption keys, wrapped by the client; the server stores it and checks who replaces
//! it.

use super::world::{Caller, TestResponse, World};
use axum::http::Method;
use cairn_wire::keys::KeyBundle;
use serde_json::{Value, json};

pub(crate) fn bundle(version: u64, recovery: bool) -> Value {
    let mut bundle = json!({
        "format": 1, "version": version,
        "kdf": {"algorithm": "pbkdf2-hmac-sha256", "iterations": 1_000_000, "salt": "c2FsdA=="},
        "account_key": "a2V5", "rsa_public": "", "rsa_private": "", "signing_public": "", "signing_private": "",
        "spaces": []
    });
    if recovery {
        bundle["recovery"] = json!("cmVjb3Zlcnk=");
    }
    bundle
}

fn auth(letter: char) -> String {
    letter.to_string().repeat(64)
}

async fn put(who: &Caller, body: Value, if_match: Option<&str>) -> TestResponse {
    let headers: Vec<_> = if_match
        .map(|version| ("if-match", version))
        .into_iter()
        .collect();
    who.send(
        Method::PUT,
        "/api/v1/keys",
        &headers,
        serde_json::to_vec(&body).unwrap(),
    )
    .await
}

/// Stores the account's first bundle.
pub(crate) async fn first_keys(who: &Caller, recovery: bool) -> TestResponse {
    let mut body = json!({"bundle": bundle(1, recovery), "auth": auth('a')});
    if recovery {
        body["recovery_auth"] = json!(auth('b'));
    }
    put(who, body, None).await
}

#[tokio::test]
async fn keys_are_made_once_and_come_back_as_they_were() {
    let world = World::new();
    let owner = world.owner();
    owner.get("/api/v1/keys").await.failed(404);
    put(
        &owner,
        json!({"bundle": bundle(1, false), "auth": "short"}),
        None,
    )
    .await
    .failed(400);
    put(
        &owner,
        json!({"bundle": bundle(0, false), "auth": auth('a')}),
        None,
    )
    .await
    .failed(400);
    put(
        &owner,
        json!({"bundle": bundle(1, false), "auth": auth('a')}),
        Some("\"4\""),
    )
    .await
    .failed(412);
    put(
        &owner,
        json!({"bundle": bundle(1, false), "auth": auth('a')}),
        None,
    )
    .await
    .done(200);
    let response = owner.get("/api/v1/keys").await;
    assert_eq!(response.header("etag"), "\"1\"");
    let stored: KeyBundle = response.ok();
    assert_eq!(serde_json::to_value(stored).unwrap(), bundle(1, false));
    world.outsider().get("/api/v1/keys").await.failed(404);
    let text = String::from_utf8(owner.get("/api/v1/keys").await.body.to_vec()).unwrap();
    assert!(!text.contains(&auth('a')));
}

#[tokio::test]
async fn only_who_knows_the_secret_in_force_replaces_them() {
    let world = World::new();
    let owner = world.owner();
    put(
        &owner,
        json!({"bundle": bundle(1, false), "auth": auth('a')}),
        None,
    )
    .await
    .done(200);
    let next = |version, extra: Value| {
        let mut body = json!({"bundle": bundle(version, false), "auth": auth('b')});
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        body
    };
    put(&owner, next(2, json!({})), None).await.failed(403);
    put(&owner, next(2, json!({"current_auth": auth('c')})), None)
        .await
        .failed(403);
    put(&owner, next(2, json!({"recovery_auth": auth('a')})), None)
        .await
        .failed(403);
    put(&owner, next(1, json!({"current_auth": auth('a')})), None)
        .await
        .failed(409);
    let stale = put(
        &owner,
        next(2, json!({"current_auth": auth('a')})),
        Some("\"7\""),
    )
    .await;
    stale.failed(412);
    assert_eq!(stale.header("etag"), "\"1\"");
    put(
        &owner,
        next(2, json!({"current_auth": auth('a')})),
        Some("\"1\""),
    )
    .await
    .done(200);
    put(&owner, next(3, json!({"current_auth": auth('a')})), None)
        .await
        .failed(403);
    put(&owner, next(3, json!({"current_auth": auth('b')})), None)
        .await
        .done(200);
}

#[tokio::test]
async fn a_recovery_key_stands_for_a_forgotten_passphrase() {
    let world = World::new();
    let owner = world.owner();
    let first = json!({"bundle": bundle(1, true), "auth": auth('a'), "recovery_auth": auth('e')});
    put(&owner, first, None).await.done(200);
    let with = |version, recovery, proof: Value| {
        let mut body = json!({"bundle": bundle(version, recovery), "auth": auth('b')});
        body.as_object_mut()
            .unwrap()
            .extend(proof.as_object().unwrap().clone());
        body
    };
    put(
        &owner,
        with(2, true, json!({"recovery_auth": auth('f')})),
        None,
    )
    .await
    .failed(403);
    put(
        &owner,
        with(2, true, json!({"recovery_auth": auth('e')})),
        None,
    )
    .await
    .done(200);
    // A change of the passphrase keeps it, a bundle without it ends it.
    put(
        &owner,
        with(3, true, json!({"current_auth": auth('b')})),
        None,
    )
    .await
    .done(200);
    put(
        &owner,
        with(4, true, json!({"recovery_auth": auth('e')})),
        None,
    )
    .await
    .done(200);
    put(
        &owner,
        with(5, false, json!({"current_auth": auth('b')})),
        None,
    )
    .await
    .done(200);
    put(
        &owner,
        with(6, true, json!({"recovery_auth": auth('e')})),
        None,
    )
    .await
    .failed(403);
}
