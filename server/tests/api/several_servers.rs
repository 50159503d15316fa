//! Two servers on one database of PostgreSQL, which `CAIRN_TEST_POSTGRES` names.

use super::identity::post_form;
use super::world::{World, fresh_database};
use axum::http::Method;
use cairn_server::{Options, RateLimits, build_dev};
use cairn_wire::account::CreatedApiKey;
use cairn_wire::identity::TokenResponse;
use cairn_wire::nodes::Node;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The two servers, and their data directories.
struct Pair {
    one: World,
    other: World,
    _data: [TempDir; 2],
}

fn pair(limits: RateLimits) -> Pair {
    let database = fresh_database().unwrap();
    let data = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let options = |number: usize| Options {
        data: data[number].path().to_owned(),
        database: Some(database.clone()),
        serving: true,
        rate_limits: limits,
        ..Options::default()
    };
    let one = World::with_seed(options(0), 1);
    for file in ["records.key", "objects.id"] {
        std::fs::copy(data[0].path().join(file), data[1].path().join(file)).unwrap();
    }
    let other = World::with_seed(options(1), 2);
    Pair {
        one,
        other,
        _data: data,
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
async fn a_repeated_request_is_carried_out_by_one_of_them() {
    let pair = pair(RateLimits::default());
    let post = async |world: &World, path: &str, key: &str, body: Value| {
        let body = serde_json::to_vec(&body).unwrap();
        let headers = [("idempotency-key", key)];
        world.owner().send(Method::POST, path, &headers, body).await
    };
    let folder = || json!({"kind": "folder", "name": "a"});
    // At the same time on both, and then again.
    let (first, second) = tokio::join!(
        post(&pair.one, "/api/v1/nodes", "k", folder()),
        post(&pair.other, "/api/v1/nodes", "k", folder())
    );
    let (first, second): (Node, Node) = (first.ok(), second.ok());
    assert_eq!(first, second);
    let again = post(&pair.other, "/api/v1/nodes", "k", folder()).await;
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(again.ok::<Node>(), first);
    // The response with a secret is not written down, and nothing is done twice for that.
    let path = "/api/v1/apikeys";
    let key: CreatedApiKey = post(&pair.one, path, "s", json!({"name": "x"})).await.ok();
    let again: CreatedApiKey = post(&pair.one, path, "s", json!({"name": "x"})).await.ok();
    assert_eq!(again, key);
    let elsewhere = post(&pair.other, path, "s", json!({"name": "x"})).await;
    let message = elsewhere.failed(409);
    assert!(message.contains("was carried out"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
async fn limits_hold_for_both_together() {
    let limits = RateLimits {
        write: 4,
        ..RateLimits::default()
    };
    let pair = pair(limits);
    let body = |number: usize| json!({"kind": "folder", "name": number.to_string()});
    for number in 0..4 {
        let world = [&pair.one, &pair.other][number % 2];
        let made = world.owner().post("/api/v1/nodes", &body(number)).await;
        made.done(201);
        let left = format!("\"write\";r={};", 3 - number);
        let header = made.header("ratelimit");
        assert!(header.starts_with(&left), "{header}");
    }
    for world in [&pair.one, &pair.other] {
        let refused = world.owner().post("/api/v1/nodes", &body(9)).await;
        refused.failed(429);
        assert_eq!(refused.header("retry-after"), "15");
    }
}

/// Asks until so many requests are left in the bucket, or none is let through; returns how many were.
async fn ask_until(world: &World, left: u32) -> u32 {
    let mut admitted = 0;
    loop {
        let response = world.owner().get("/api/v1/nodes").await;
        let header = response.header("ratelimit");
        let remaining = header.split("r=").nth(1).and_then(|r| r.split(';').next());
        let remaining: u32 = remaining.unwrap().parse().unwrap();
        if response.status == 429 {
            return admitted;
        }
        admitted += 1;
        if remaining <= left {
            return admitted;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
async fn requests_that_are_taken_in_advance_are_within_the_limit_and_the_last_one_is_given() {
    let limits = RateLimits {
        read: 200,
        ..RateLimits::default()
    };
    let pair = pair(limits);
    // The first one asks often enough to want several at once, and believes that there are more than the second leaves.
    let mut admitted = ask_until(&pair.one, 150).await;
    admitted += ask_until(&pair.other, 1).await;
    admitted += ask_until(&pair.one, 0).await;
    assert_eq!(admitted, 200);
    for world in [&pair.one, &pair.other] {
        world.owner().get("/api/v1/nodes").await.failed(429);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
async fn what_ends_on_one_has_ended_on_the_other() {
    let pair = pair(RateLimits::default());
    let owner = pair.one.owner();
    let made: Value = owner
        .post("/api/v1/service-accounts", &json!({"name": "export"}))
        .await
        .ok();
    let text = |name: &str| made[name].as_str().unwrap();
    let client = [
        ("client_id", text("client_id")),
        ("client_secret", text("client_secret")),
    ];
    let nobody = pair.one.nobody();
    let grant = [&[("grant_type", "client_credentials")][..], &client].concat();
    let token = async || -> String {
        let response = post_form(&nobody, "/oauth/token", &grant).await;
        response.ok::<TokenResponse>().access_token
    };
    let answers = async |token: &str| {
        let caller = pair.other.caller(Some(token));
        caller.get("/api/v1/nodes").await.status.as_u16()
    };
    let (first, second) = (token().await, token().await);
    assert_eq!([answers(&first).await, answers(&second).await], [200, 200]);
    let revoked = [&[("token", first.as_str())][..], &client].concat();
    post_form(&nobody, "/oauth/revoke", &revoked)
        .await
        .done(200);
    assert_eq!([answers(&first).await, answers(&second).await], [401, 200]);
    let path = format!("/api/v1/service-accounts/{}", text("id"));
    owner.delete(&path).await.done(204);
    assert_eq!(answers(&second).await, 401);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
async fn a_server_with_other_keys_or_objects_does_not_start() {
    let database = fresh_database().unwrap();
    let start = |data: &TempDir| {
        let options = Options {
            data: data.path().to_owned(),
            database: Some(database.clone()),
            serving: true,
            ..Options::default()
        };
        build_dev(options).map(drop).map_err(|e| e.to_string())
    };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(start(&first), Ok(()));
    assert_eq!(start(&first), Ok(()), "again");
    let refusal = start(&second).unwrap_err();
    assert!(refusal.contains("records.key"), "{refusal}");
    let copy = |name: &str| {
        std::fs::copy(first.path().join(name), second.path().join(name)).unwrap();
    };
    copy("records.key");
    let refusal = start(&second).unwrap_err();
    assert!(refusal.contains("bucket"), "{refusal}");
    // What the refusal says is enough where nobody has the file any more.
    let id = std::fs::read_to_string(first.path().join("objects.id")).unwrap();
    assert!(refusal.contains(&format!("write {id} into")), "{refusal}");
    copy("objects.id");
    assert_eq!(start(&second), Ok(()));
    std::fs::write(second.path().join("objects.id"), "ab".repeat(16)).unwrap();
    let refusal = start(&second).unwrap_err();
    assert!(refusal.contains("bucket"), "{refusal}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
async fn a_start_that_was_cut_off_after_its_objects_were_named_is_made_up_for() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("objects.id"), "cd".repeat(16)).unwrap();
    for _ in 0..2 {
        let options = Options {
            data: data.path().to_owned(),
            database: fresh_database(),
            serving: true,
            ..Options::default()
        };
        assert!(options.database.is_some());
        drop(build_dev(options).unwrap());
        std::fs::remove_file(data.path().join("records.key")).unwrap();
    }
}
