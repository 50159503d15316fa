//! Quotas: limits on what an account, or a team in its space (file tree), may store and transfer.

use super::world::{Caller, Draft, RECORD, World};
use axum::http::Method;
use cairn_model::NodeId;
use cairn_server::{Limits, Options};
use cairn_wire::account::Quota;
use cairn_wire::frame;
use cairn_wire::nodes::{Node, NodeResults};
use cairn_wire::teams::{Team, TeamQuota, TeamStorage};
use cairn_wire::transfer::{Upload, UploadBatch};
use serde_json::json;

pub(crate) async fn quota(who: &Caller) -> Quota {
    who.get("/api/v1/userusage/quota-limit").await.ok()
}

async fn limit(world: &World, bytes: u64) {
    let body = json!({"email": "owner@example.com", "storage_limit": bytes});
    world.nobody().post("/_dev/quota", &body).await.done(200);
}

async fn used_bytes(who: &Caller) -> u64 {
    quota(who).await.storage_used
}

/// Makes a team; returns it and the caller in its space.
async fn with_team(owner: &Caller) -> (Team, Caller) {
    let new = json!({"name": "T"});
    let team: Team = owner.post("/api/v1/teams", &new).await.ok();
    let there = owner.in_space(team.space_id);
    (team, there)
}

/// Begins an upload and sends the first of its chunks.
async fn begin_with_a_chunk(who: &Caller, draft: &Draft) -> Upload {
    let upload: Upload = who.post("/api/v1/uploads", &draft.create()).await.ok();
    let sent = who.put_chunk(&upload, draft, upload.missing[0]).await;
    sent.done(204);
    upload
}

#[tokio::test]
async fn usage_follows_every_change_of_content() {
    let world = World::new();
    let owner = world.owner();
    let a = owner.file(None, "a", "12345").await;
    assert_eq!(used_bytes(&owner).await, 5 + RECORD);
    let a: Node = owner.upload(&Draft::of(&a, "123")).await.ok();
    assert_eq!(
        used_bytes(&owner).await,
        8 + 2 * RECORD,
        "old revisions count"
    );
    let path = format!("/api/v1/nodes/{}/copy", a.id);
    owner.post(&path, &json!({"name": "b"})).await.done(201);
    owner.folder(None, "folders cost nothing").await;
    let now = quota(&owner).await;
    let copied = (8 + 3 * RECORD, 2);
    assert_eq!((now.storage_used, now.file_count), copied, "chunks once");
    assert_eq!(used_bytes(&world.outsider()).await, 0);
}

#[tokio::test]
async fn a_full_account_is_refused_before_it_sends_anything() {
    let world = World::new();
    let owner = world.owner();
    limit(&world, 2 * RECORD + 10).await;
    let a = owner.file(None, "a", "12345678").await;
    let large = Draft::new("b", &"x".repeat(94));
    let refused = owner.post("/api/v1/uploads", &large.create()).await;
    assert!(refused.failed(507).contains("56 of 106 bytes"));
    owner.file(None, "c", "12").await;
    // A smaller revision needs room as well: the larger one stays.
    owner.upload(&Draft::of(&a, "1")).await.failed(507);
}

#[tokio::test]
async fn a_declared_size_buys_nothing() {
    let world = World::new();
    let owner = world.owner();
    limit(&world, 400).await;
    let draft = Draft::new("a", "").chunks(&[&"x".repeat(200), &"y".repeat(201)]);
    let mut file = draft.batch_file();
    file.create.size = 0;
    owner
        .post("/api/v1/uploads", &file.create)
        .await
        .failed(507);
    let head = UploadBatch { files: vec![file] };
    let frame = frame::encode(&head, &draft.chunks).unwrap();
    let path = "/api/v1/uploads/batch";
    let batch: NodeResults = owner.send(Method::POST, path, &[], frame).await.ok();
    assert_eq!(batch.results[0].status, 507);
    // A manifest is stored, too.
    let empty = Draft::new("b", "").chunks(&[]);
    let mut complete = empty.complete();
    complete.manifest.0 = vec![0; 401];
    let upload: Upload = owner.post("/api/v1/uploads", &empty.create()).await.ok();
    let path = format!("/api/v1/uploads/{}/complete", upload.upload_id);
    owner.post(&path, &complete).await.failed(507);
    assert_eq!(used_bytes(&owner).await, 0);
}

#[tokio::test]
async fn kept_revisions_fill_the_storage() {
    let world = World::new();
    let owner = world.owner();
    limit(&world, 3 * (RECORD + 100)).await;
    let mut node = owner.file(None, "a", &"1".repeat(100)).await;
    let first = node.revision_id.unwrap();
    for content in ["2", "3"] {
        node = owner
            .upload(&Draft::of(&node, &content.repeat(100)))
            .await
            .ok();
    }
    assert_eq!(used_bytes(&owner).await, 3 * (RECORD + 100));
    owner.upload(&Draft::of(&node, "4")).await.failed(507);
    let path = format!("/api/v1/nodes/{}/revisions/{first}/restore", node.id);
    owner.post(&path, &json!({})).await.failed(507);
    let copy = format!("/api/v1/nodes/{}/copy", node.id);
    owner.post(&copy, &json!({"name": "b"})).await.failed(507);
    assert_eq!(used_bytes(&owner).await, 3 * (RECORD + 100));
    limit(&world, 4 * RECORD + 300).await;
    owner.post(&path, &json!({})).await.done(200);
}

#[tokio::test]
async fn a_begun_upload_keeps_room_until_it_ends() {
    let world = World::new();
    let owner = world.owner();
    limit(&world, 200).await;
    let draft = Draft::new("a", "").chunks(&[&"1".repeat(60), &"2".repeat(40)]);
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    assert_eq!(used_bytes(&owner).await, 100);
    owner
        .post("/api/v1/uploads", &draft.create())
        .await
        .done(201);
    owner
        .put_chunk(&upload, &draft, upload.missing[0])
        .await
        .done(204);
    owner
        .put_chunk(&upload, &draft, upload.missing[0])
        .await
        .done(204);
    assert_eq!(
        used_bytes(&owner).await,
        100,
        "set aside once, and then used"
    );
    let other = Draft::new("b", &"3".repeat(101));
    owner
        .post("/api/v1/uploads", &other.create())
        .await
        .failed(507);

    // Given up, or too old: everything comes back.
    let path = format!("/api/v1/uploads/{}", upload.upload_id);
    owner.delete(&path).await.done(204);
    assert_eq!(used_bytes(&owner).await, 0);
    owner
        .post("/api/v1/uploads", &other.create())
        .await
        .done(201);
    assert_eq!(used_bytes(&owner).await, 101);
    world.app.source().advance(8 * 24 * 3600 * 1000);
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    assert_eq!(used_bytes(&owner).await, 100);
    for chunk in &upload.missing {
        owner.put_chunk(&upload, &draft, *chunk).await.done(204);
    }
    owner.complete(&upload, &draft).await.done(200);
    assert_eq!(used_bytes(&owner).await, 100 + RECORD);
}

#[tokio::test]
async fn room_that_was_kept_is_there_at_the_end_unless_the_limit_fell() {
    let world = World::new();
    let owner = world.owner();
    limit(&world, RECORD + 10).await;
    let draft = Draft::new("a", "123456");
    let upload = begin_with_a_chunk(&owner, &draft).await;
    limit(&world, RECORD).await;
    owner.complete(&upload, &draft).await.failed(507);
    owner.node(draft.node).await.failed(404);
    limit(&world, RECORD + 6).await;
    owner.complete(&upload, &draft).await.done(200);
}

#[tokio::test]
async fn a_team_s_space_is_bounded_as_well() {
    let limits = Limits {
        storage: 2 * (RECORD + 10),
        ..Limits::default()
    };
    let world = World::with(Options {
        limits,
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let (_, there) = with_team(&owner).await;
    let node = there.file(None, "a", "1234567890").await;
    let node: Node = there.upload(&Draft::of(&node, "0987654321")).await.ok();
    there.upload(&Draft::of(&node, "1")).await.failed(507);
    let begun = Draft::new("b", "1");
    there
        .post("/api/v1/uploads", &begun.create())
        .await
        .failed(507);
    // An upload belongs to the space that it was begun in.
    let upload = begin_with_a_chunk(&owner, &begun).await;
    let refused = there.complete(&upload, &begun).await;
    assert!(refused.failed(400).contains("X-Space-Id"));
    assert_eq!(used_bytes(&owner).await, 1);
}

/// Chunks of a new node are paid by the space that stores them first: no other can take them over.
#[tokio::test]
async fn the_id_of_a_node_that_another_space_uploads_is_refused() {
    let world = World::new();
    let owner = world.owner();
    let (_, there) = with_team(&owner).await;
    let draft = Draft::new("a", "1234567890");
    let upload = begin_with_a_chunk(&there, &draft).await;
    let mut other = json!(draft.create());
    other["revision_id"] = json!(NodeId::from_random_bytes([9; 16]));
    owner.post("/api/v1/uploads", &other).await.failed(409);
    assert_eq!(used_bytes(&owner).await, 0);
    there.complete(&upload, &draft).await.done(200);
}

/// Every place shows the sum of the bytes that lie there, whichever way they came and went.
#[tokio::test]
async fn what_is_used_is_the_sum_of_what_is_stored() {
    let world = World::new();
    let owner = world.owner();
    let (team, there) = with_team(&owner).await;
    let shown = async || {
        let own: TeamQuota = owner
            .get(&format!("/api/v1/teams/{}/quota", team.id))
            .await
            .ok();
        let all: TeamStorage = owner
            .get(&format!("/api/v1/teams/{}/storage", team.id))
            .await
            .ok();
        let members: u64 = all.page.content.iter().map(|one| one.storage_used).sum();
        assert_eq!(
            (own.storage_used, members),
            (all.storage_used, all.storage_used)
        );
        all.storage_used
    };
    // Two revisions that share a chunk, a copy, an old revision again: 9 bytes, 4 records.
    let draft = Draft::new("a", "").chunks(&["123", "456"]);
    let node: Node = there.upload(&draft).await.ok();
    let next = Draft::of(&node, "").chunks(&["123", "789"]);
    let node: Node = there.upload(&next).await.ok();
    let path = format!("/api/v1/nodes/{}/copy", node.id);
    let copy: Node = there.post(&path, &json!({"name": "b"})).await.ok();
    let path = format!(
        "/api/v1/nodes/{}/revisions/{}/restore",
        node.id, draft.revision
    );
    there.post(&path, &json!({})).await.done(200);
    assert_eq!(shown().await, 9 + 4 * RECORD);
    // A batch, of which one file is refused, and an upload that one chunk has come for.
    let (good, bad) = (Draft::new("c", "12"), Draft::new("a", "taken"));
    let head = UploadBatch {
        files: vec![good.batch_file(), bad.batch_file()],
    };
    let chunks = [good.chunks.clone(), bad.chunks.clone()].concat();
    let frame = frame::encode(&head, &chunks).unwrap();
    let path = "/api/v1/uploads/batch";
    there.send(Method::POST, path, &[], frame).await.done(200);
    let open = Draft::new("d", "").chunks(&["1", "22"]);
    let upload = begin_with_a_chunk(&there, &open).await;
    assert_eq!(shown().await, 14 + 5 * RECORD);
    // The original goes, its copy stays: only what the copy needs remains.
    let purge = async |id: NodeId| {
        there.delete(&format!("/api/v1/nodes/{id}")).await.done(200);
        there.delete(&format!("/api/v1/trash/{id}")).await.done(200);
    };
    purge(node.id).await;
    assert_eq!(shown().await, 6 + 5 + 2 * RECORD);
    purge(copy.id).await;
    purge(good.node).await;
    assert_eq!(shown().await, 3);
    there
        .delete(&format!("/api/v1/uploads/{}", upload.upload_id))
        .await
        .done(204);
    assert_eq!(shown().await, 0);
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

#[tokio::test]
async fn an_upload_that_the_bandwidth_refuses_keeps_no_room() {
    let world = World::new();
    let owner = world.owner();
    limit_bandwidth(&world, 4).await;
    let draft = Draft::new("a", "12345");
    let begun = owner.post("/api/v1/uploads", &draft.create()).await;
    assert!(begun.failed(507).contains("bandwidth"));
    assert_eq!(used_bytes(&owner).await, 0);
    limit_bandwidth(&world, 5).await;
    owner.upload(&draft).await.done(200);
}

#[tokio::test]
async fn what_an_upload_set_aside_and_does_not_need_is_room_for_it() {
    let world = World::new();
    let owner = world.owner();
    let bytes = "x".repeat(50);
    let node = owner.file(None, "a", "1").await;
    let (first, second) = (Draft::of(&node, &bytes), Draft::of(&node, &bytes));
    let upload: Upload = owner.post("/api/v1/uploads", &first.create()).await.ok();
    let late: Upload = owner.post("/api/v1/uploads", &second.create()).await.ok();
    owner
        .put_chunk(&upload, &first, upload.missing[0])
        .await
        .done(204);
    assert_eq!(used_bytes(&owner).await, 1 + RECORD + 100);
    limit(&world, 1 + 2 * RECORD + 50).await;
    let done: Node = owner.complete(&late, &second).await.ok();
    // The account is over its limit now, and a repeated request answers as the first did.
    limit(&world, 1).await;
    assert_eq!(owner.complete(&late, &second).await.ok::<Node>(), done);
}

#[tokio::test]
async fn the_list_of_chunks_of_an_open_upload_counts_as_that_of_a_revision_does() {
    let world = World::new();
    let owner = world.owner();
    let contents: Vec<String> = (0..84).map(|number| format!("{number:03}")).collect();
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    let draft = Draft::new("a", "").chunks(&contents);
    // 20 chunks beyond the 64 that are free.
    let list = 20 * 56;
    limit(&world, 84 * 3 + list - 1).await;
    let refused = owner.post("/api/v1/uploads", &draft.create()).await;
    refused.failed(507);
    limit(&world, 84 * 3 + list + RECORD).await;
    owner
        .post("/api/v1/uploads", &draft.create())
        .await
        .done(201);
    assert_eq!(used_bytes(&owner).await, 84 * 3 + list);
    limit(&world, 84 * 3 + list + RECORD - 1).await;
    owner.upload(&draft).await.failed(507);
    limit(&world, 84 * 3 + list + RECORD).await;
    owner.upload(&draft).await.done(200);
    assert_eq!(used_bytes(&owner).await, 84 * 3 + list + RECORD);
}
