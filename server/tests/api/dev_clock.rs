//! The clock, quotas and a fresh start.

use super::world::World;
use cairn_wire::Page;
use cairn_wire::account::{AccountInfo, Quota};
use cairn_wire::nodes::Node;
use serde_json::{Value, json};

const DAY_MS: u64 = 24 * 3600 * 1000;

#[tokio::test]
async fn the_clock_goes_forward_on_request() {
    let world = World::new();
    let owner = world.owner();
    let before: Value = owner.get("/_dev/clock").await.ok();
    assert_eq!(before["now"], "2026-01-01T00:00:00.000Z");
    let after: Value = owner
        .post("/_dev/clock/advance", &json!({"ms": 90_000}))
        .await
        .ok();
    assert_eq!(after["now"], "2026-01-01T00:01:30.000Z");
    assert_eq!(
        owner.folder(None, "a").await.created_at.to_string(),
        "2026-01-01T00:01:30.000Z"
    );
    owner
        .post("/_dev/clock/advance", &json!({"ms": -1}))
        .await
        .failed(400);
}

#[tokio::test]
async fn the_clock_has_an_end() {
    let world = World::new();
    let owner = world.owner();
    for ms in [u64::MAX, i64::MAX as u64, 300_000_000_000_000] {
        owner
            .post("/_dev/clock/advance", &json!({"ms": ms}))
            .await
            .failed(400);
    }
    owner.folder(None, "a").await;
}

/// The buckets of the rate limits would else lie in the future, where nothing empties them. The count of wrong
/// passwords has a test of its own (`a_reset_forgets_wrong_passwords_of_a_time_to_come`).
#[tokio::test]
async fn a_reset_after_the_clock_went_forward_lets_requests_through() {
    let world = World::new();
    let owner = world.owner();
    owner
        .post("/_dev/clock/advance", &json!({"ms": 200 * DAY_MS}))
        .await
        .done(200);
    owner.folder(None, "a").await;
    owner.get("/api/v1/nodes").await.done(200);
    owner.post("/_dev/reset", &json!({})).await.done(204);
    owner.get("/api/v1/nodes").await.done(200);
    owner.folder(None, "a").await;
    owner
        .post("/_dev/clock/advance", &json!({"ms": 1}))
        .await
        .done(200);
}

#[tokio::test]
async fn a_quota_can_be_set() {
    let world = World::new();
    let body = json!({"email": "owner@example.com", "storage_limit": 3});
    let quota: Quota = world.nobody().post("/_dev/quota", &body).await.ok();
    assert_eq!(quota.storage_limit, 3);
    let unknown = json!({"email": "no@example.com", "storage_limit": 3});
    world
        .nobody()
        .post("/_dev/quota", &unknown)
        .await
        .failed(404);
}

#[tokio::test]
async fn a_reset_is_like_a_first_start() {
    let world = World::new();
    let owner = world.owner();
    let before: AccountInfo = owner.get("/api/v1/useraccount/composite").await.ok();
    let file = owner.file(None, "f", "x").await;
    owner
        .post("/_dev/clock/advance", &json!({"ms": 1000}))
        .await
        .done(200);
    owner
        .post(
            "/_dev/faults",
            &json!({"path_pattern": "/none", "status": 500}),
        )
        .await
        .done(201);
    owner.post("/_dev/reset", &json!({})).await.done(204);
    owner.node(file.id).await.failed(404);
    owner.chunk(file.id, "x").await.failed(404);
    let after: AccountInfo = owner.get("/api/v1/useraccount/composite").await.ok();
    assert_ne!(after.history_id, before.history_id);
    assert_eq!(
        (after.usage.storage_used, after.server_time),
        (0, before.server_time)
    );
    assert_eq!(
        owner
            .get("/api/v1/nodes")
            .await
            .ok::<Page<Node>>()
            .total_elements,
        0
    );
    assert_eq!(
        owner.get("/_dev/faults").await.ok::<Value>(),
        json!({"faults": []})
    );
    owner
        .upload(&super::world::Draft::new("f", "x"))
        .await
        .done(200);
}
