//! `Idempotency-Key`: a repeated request gets the response of the first time.

use super::world::{Caller, TestResponse, World};
use axum::http::Method;
use cairn_wire::account::CreatedApiKey;
use cairn_wire::nodes::{Node, NodeResults};
use serde_json::{Value, json};

async fn post(who: &Caller, path: &str, key: &str, body: &Value) -> TestResponse {
    who.send(
        Method::POST,
        path,
        &[("idempotency-key", key)],
        serde_json::to_vec(body).unwrap(),
    )
    .await
}

#[tokio::test]
async fn the_same_key_gives_the_same_response_for_a_day() {
    let world = World::new();
    let owner = world.owner();
    let body = json!({"kind": "folder", "name": "a"});
    let first = post(&owner, "/api/v1/nodes", "k1", &body).await;
    first.done(201);
    let second = post(&owner, "/api/v1/nodes/", "k1", &body).await;
    assert_eq!((second.status, &second.body), (first.status, &first.body));
    assert_eq!(second.header("etag"), first.header("etag"));
    assert_eq!(second.header("idempotent-replayed"), "true");
    assert_ne!(second.header("x-request-id"), first.header("x-request-id"));
    post(
        &owner,
        "/api/v1/nodes",
        "k1",
        &json!({"kind": "folder", "name": "b"}),
    )
    .await
    .failed(400);
    post(&owner, "/api/v1/nodes", "k2", &body).await.failed(409);
    post(&world.outsider(), "/api/v1/nodes", "k1", &body)
        .await
        .done(201);
    world.app.source().advance(24 * 3600 * 1000);
    post(&owner, "/api/v1/nodes", "k1", &body).await.failed(409);
}

#[tokio::test]
async fn a_failure_of_the_moment_is_not_kept() {
    let world = World::new();
    let owner = world.owner();
    let body = json!({"kind": "folder", "name": "a"});
    owner
        .post(
            "/_dev/faults",
            &json!({"path_pattern": "/api/v1/nodes", "status": 503, "count": 1}),
        )
        .await
        .done(201);
    post(&owner, "/api/v1/nodes", "k", &body).await.failed(503);
    post(&owner, "/api/v1/nodes", "k", &body).await.done(201);
    post(&world.nobody(), "/api/v1/nodes", "k", &body)
        .await
        .failed(401);
    post(&owner, "/api/v1/nodes", "", &body).await.failed(400);
    post(&owner, "/api/v1/nodes", &"x".repeat(256), &body)
        .await
        .failed(400);
}

#[tokio::test]
async fn what_is_carried_out_is_answered_though_the_response_can_not_be_kept() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let database = rusqlite::Connection::open(dir.path().join("cairn.db")).unwrap();
    let full =
        "CREATE TRIGGER full BEFORE INSERT ON idempotency BEGIN SELECT RAISE(ABORT, 'full'); END";
    database.execute_batch(full).unwrap();
    let body = json!({"kind": "folder", "name": "a"});
    let made = post(&owner, "/api/v1/nodes", "k", &body).await;
    let made: Node = made.ok();
    owner.node(made.id).await.done(200);
    // A response that is kept in memory alone.
    let key = json!({"name": "backup"});
    let made = post(&owner, "/api/v1/apikeys", "l", &key).await;
    let made: CreatedApiKey = made.ok();
    world
        .caller(Some(&made.key))
        .get("/api/v1/nodes")
        .await
        .done(200);
}

#[tokio::test]
async fn a_response_that_got_lost_is_given_again() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "a").await;
    let path = format!("/api/v1/nodes/{}/copy", folder.id);
    let fault = json!({"path_pattern": path, "status": 502, "processed": true, "count": 1});
    owner.post("/_dev/faults", &fault).await.done(201);
    post(&owner, &path, "k", &json!({"name": "b"}))
        .await
        .failed(502);
    let copy: Node = post(&owner, &path, "k", &json!({"name": "b"})).await.ok();
    let all: Value = owner.get("/api/v1/nodes").await.ok();
    assert_eq!(all["totalElements"], 2);
    assert_eq!(copy.name, "b");
}

#[tokio::test]
async fn a_new_api_key_is_shown_again_but_never_written_down() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let body = json!({"name": "machine"});
    let first: CreatedApiKey = post(&owner, "/api/v1/apikeys", "k", &body).await.ok();
    let second: CreatedApiKey = post(&owner, "/api/v1/apikeys", "k", &body).await.ok();
    assert_eq!(first, second);
    for file in ["cairn.db", "cairn.db-wal"] {
        let bytes = std::fs::read(dir.path().join(file)).unwrap();
        assert!(
            !bytes
                .windows(first.key.len())
                .any(|window| window == first.key.as_bytes()),
            "{file}"
        );
    }
}

#[tokio::test]
async fn what_only_reads_is_not_kept() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "f", "content").await;
    let body = json!({"files": [{"node_id": file.id, "revision_id": file.revision_id}]});
    for _ in 0..2 {
        let read = post(&owner, "/api/v1/downloads/batch", "k", &body).await;
        read.done(200);
        assert_eq!(read.header("idempotent-replayed"), "");
    }
    // The key is free for a change.
    let folder = json!({"kind": "folder", "name": "a"});
    post(&owner, "/api/v1/nodes", "k", &folder).await.done(201);
}

#[tokio::test]
async fn a_response_that_is_too_long_to_be_kept_is_given_once() {
    let world = World::new();
    let owner = world.owner();
    let seal = "c2Vh".repeat(1_000);
    let operations: Vec<Value> = (0..600)
        .map(|n| json!({"op": "create_folder", "name": n.to_string(), "seal": seal}))
        .collect();
    let body = json!({ "operations": operations });
    let first: NodeResults = post(&owner, "/api/v1/nodes/batch", "k", &body).await.ok();
    assert_eq!(first.results.len(), 600);
    assert!(first.results.iter().all(|result| result.status == 201));
    let again = post(&owner, "/api/v1/nodes/batch", "k", &body).await;
    assert_eq!(again.header("idempotent-replayed"), "true");
    let message = again.failed(409);
    assert!(message.contains("was carried out"), "{message}");
    let all: Value = owner.get("/api/v1/nodes").await.ok();
    assert_eq!(all["totalElements"], 600);
}
