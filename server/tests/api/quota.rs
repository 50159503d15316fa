//! Limits on what an account may use.

use super::world::{Caller, Draft, World};
use axum::http::Method;
use cairn_server::{Limits, Options};
use cairn_wire::account::Quota;
use cairn_wire::frame;
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{Upload, UploadBatch};
use serde_json::json;

async fn quota(who: &Caller) -> Quota {
    who.get("/api/v1/userusage/quota-limit").await.ok()
}

async fn limit(world: &World, bytes: u64) {
    let body = json!({"email": "owner@example.com", "storage_limit": bytes});
    world.nobody().post("/_dev/quota", &body).await.done(200);
}

#[tokio::test]
async fn usage_follows_every_change_of_content() {
    let world = World::new();
    let owner = world.owner();
    let a = owner.file(None, "a", "12345").await;
    assert_eq!(
        (
            quota(&owner).await.storage_used,
            quota(&owner).await.file_count
        ),
        (5, 1)
    );
    let a: Node = owner.upload(&Draft::of(&a, "123")).await.ok();
    assert_eq!(
        quota(&owner).await.storage_used,
        3,
        "only current revisions count"
    );
    owner
        .post(
            &format!("/api/v1/nodes/{}/copy", a.id),
            &json!({"name": "b"}),
        )
        .await
        .done(201);
    owner.folder(None, "folders cost nothing").await;
    assert_eq!(
        (
            quota(&owner).await.storage_used,
            quota(&owner).await.file_count
        ),
        (6, 2)
    );
    assert_eq!(quota(&world.outsider()).await.storage_used, 0);
}

#[tokio::test]
async fn a_full_account_is_refused_before_it_sends_anything() {
    let world = World::new();
    let owner = world.owner();
    limit(&world, 10).await;
    let a = owner.file(None, "a", "12345678").await;
    let refused = owner
        .post("/api/v1/uploads", &Draft::new("b", "123").create())
        .await;
    assert!(refused.failed(507).contains("8 of 10 bytes"));
    owner.file(None, "c", "12").await;
    // A smaller revision always fits, and one that grows does not.
    owner.upload(&Draft::of(&a, "123456789")).await.failed(507);
    limit(&world, 1).await;
    let a: Node = owner.upload(&Draft::of(&a, "1234567")).await.ok();
    owner.upload(&Draft::of(&a, "12345678")).await.failed(507);
}

#[tokio::test]
async fn room_that_is_gone_at_the_end_is_refused_at_the_end() {
    let world = World::new();
    let owner = world.owner();
    limit(&world, 10).await;
    let draft = Draft::new("a", "123456");
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    owner
        .put_chunk(&upload, &draft, upload.missing[0])
        .await
        .done(204);
    owner.file(None, "b", "123456").await;
    owner.complete(&upload, &draft).await.failed(507);
    owner.node(draft.node).await.failed(404);
    limit(&world, 12).await;
    owner.complete(&upload, &draft).await.done(200);
}

#[tokio::test]
async fn the_number_of_files_is_bounded() {
    let limits = Limits {
        files: 1,
        ..Limits::default()
    };
    let world = World::with(Options {
        limits,
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let a = owner.file(None, "a", "x").await;
    owner.upload(&Draft::new("b", "y")).await.failed(507);
    owner.upload(&Draft::of(&a, "longer")).await.done(200);
}

#[tokio::test]
async fn bandwidth_counts_both_ways_by_month() {
    let world = World::new();
    let owner = world.owner();
    let a = owner.file(None, "a", "12345").await;
    owner.chunk(a.id, "12345").await.done(200);
    assert_eq!(quota(&owner).await.bandwidth_used, 10);
    world.app.source().advance(32 * 24 * 3600 * 1000);
    assert_eq!(quota(&owner).await.bandwidth_used, 0);
}

async fn limit_bandwidth(world: &World, bytes: u64) {
    let body = json!({"email": "owner@example.com", "bandwidth_limit": bytes});
    world.nobody().post("/_dev/quota", &body).await.done(200);
}

#[tokio::test]
async fn a_month_s_bandwidth_ends_and_begins_anew() {
    let world = World::new();
    let owner = world.owner();
    limit_bandwidth(&world, 12).await;
    let a = owner.file(None, "a", "12345").await;
    owner.chunk(a.id, "12345").await.done(200);
    assert_eq!(quota(&owner).await.bandwidth_used, 10);

    // Down, up, in a batch, and through a link: nothing goes beyond it, and nothing is counted.
    let down = owner.chunk(a.id, "12345").await.failed(507);
    assert!(
        down.contains("10 of 12 bytes") && down.contains("5 more"),
        "{down}"
    );
    let range = [("range", "bytes=0-1")];
    let path = format!(
        "/api/v1/chunks/{}?node={}",
        super::world::id_of(b"12345"),
        a.id
    );
    owner.send(Method::GET, &path, &range, "").await.done(206);
    let b = Draft::new("b", "123");
    let begun = owner.post("/api/v1/uploads", &b.create()).await;
    assert!(begun.failed(507).contains("12 of 12 bytes"));
    let head = UploadBatch {
        files: vec![b.batch_file()],
    };
    let frame = frame::encode(&head, &b.chunks).unwrap();
    let path = "/api/v1/uploads/batch";
    owner.send(Method::POST, path, &[], frame).await.failed(507);
    let files = json!({"files": [{"node_id": a.id, "revision_id": a.revision_id}]});
    owner
        .post("/api/v1/downloads/batch", &files)
        .await
        .failed(507);
    assert_eq!(quota(&owner).await.bandwidth_used, 12);

    // What moves no content goes on: folders, names, manifests.
    owner.folder(None, "d").await;
    let manifests = json!({"files": files["files"], "content": false});
    owner
        .post("/api/v1/downloads/batch", &manifests)
        .await
        .done(200);
    assert_eq!(quota(&world.outsider()).await.bandwidth_used, 0);

    world.app.source().advance(32 * 24 * 3600 * 1000);
    owner.upload(&b).await.done(200);
}

#[tokio::test]
async fn what_is_not_written_down_yet_belongs_to_its_month_too() {
    let world = World::new();
    let owner = world.owner();
    limit_bandwidth(&world, 12).await;
    let a = owner.file(None, "a", "1234567").await;
    owner.chunk(a.id, "1234567").await.failed(507);
    world.app.source().advance(32 * 24 * 3600 * 1000);
    owner.chunk(a.id, "1234567").await.done(200);
    owner.chunk(a.id, "1234567").await.failed(507);
    assert_eq!(quota(&owner).await.bandwidth_used, 7);
}

#[tokio::test]
async fn a_chunk_that_stands_twice_in_a_file_is_sent_and_counted_once() {
    let world = World::new();
    let owner = world.owner();
    limit_bandwidth(&world, 5).await;
    let draft = Draft::new("a", "").chunks(&["12345", "12345"]);
    owner.upload(&draft).await.done(200);
    assert_eq!(quota(&owner).await.bandwidth_used, 5);
}

#[tokio::test]
async fn bandwidth_that_ends_in_the_middle_of_an_upload_stops_it_there() {
    let world = World::new();
    let owner = world.owner();
    let draft = Draft::new("a", "").chunks(&["12345", "67890"]);
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    limit_bandwidth(&world, 7).await;
    let put = async |index: usize| {
        owner
            .put_chunk(&upload, &draft, upload.missing[index])
            .await
    };
    put(0).await.done(204);
    put(1).await.failed(507);
    // A chunk that is there costs nothing.
    put(0).await.done(204);
    limit_bandwidth(&world, 10).await;
    put(1).await.done(204);
    owner.complete(&upload, &draft).await.done(200);
}
