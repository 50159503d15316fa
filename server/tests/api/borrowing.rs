//! Keyless copies whose new versions use chunks that are stored for the original, and stored bytes that nobody has
//! compared yet with what a client meant.

use super::quota::quota;
use super::upload_batch;
use super::world::{Caller, Draft, RECORD, TestResponse, World, id_of, new_revision};
use axum::http::Method;
use cairn_server::{KeptRevisions, Options};
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use cairn_wire::teams::Team;
use cairn_wire::transfer::Upload;
use serde_json::json;

/// The owner and a member, both in the space of their team.
async fn colleagues(world: &World) -> (Caller, Caller) {
    let teams: Page<Team> = world.owner().get("/api/v1/teams").await.ok();
    let space = teams.content[0].space_id;
    (
        world.owner().in_space(space),
        world.member().in_space(space),
    )
}

async fn copy(who: &Caller, node: &Node, name: &str) -> Node {
    let path = format!("/api/v1/nodes/{}/copy", node.id);
    who.post(&path, &json!({ "name": name })).await.ok()
}

async fn purge(who: &Caller, node: &Node) {
    who.delete(&format!("/api/v1/nodes/{}", node.id))
        .await
        .done(200);
    who.delete(&format!("/api/v1/trash/{}", node.id))
        .await
        .done(200);
}

async fn begin(who: &Caller, draft: &Draft) -> Upload {
    who.post("/api/v1/uploads", &draft.create()).await.ok()
}

/// Sends bytes for the chunk that `named` is the content of.
async fn put(who: &Caller, upload: &Upload, named: &str, bytes: &'static str) -> TestResponse {
    let id = id_of(named.as_bytes());
    let path = format!("/api/v1/uploads/{}/chunks/{id}", upload.upload_id);
    who.send(Method::PUT, &path, &[], bytes).await
}

async fn missing_chunks(who: &Caller, upload: &Upload) -> Vec<cairn_model::ChunkId> {
    let path = format!("/api/v1/uploads/{}", upload.upload_id);
    who.get(&path).await.ok::<Upload>().missing
}

/// Begins an upload of each for one new node with one chunk, which only the first has sent.
async fn rivals(first: &Caller, second: &Caller) -> [(Draft, Upload); 2] {
    let mine = Draft::new("a", "good");
    let upload = begin(first, &mine).await;
    put(first, &upload, "good", "good").await.done(204);
    let other = Draft {
        revision: new_revision(),
        ..mine.clone()
    };
    let theirs = begin(second, &other).await;
    [(mine, upload), (other, theirs)]
}

#[tokio::test]
async fn nobody_slips_other_bytes_under_what_a_copy_has_of_its_original() {
    let world = World::new();
    let (owner, member) = colleagues(&world).await;
    let original = owner.file(None, "a", "good").await;
    let copied = copy(&owner, &original, "b").await;
    let mine = Draft::of(&copied, "").chunks(&["good", "new"]);
    let upload = begin(&owner, &mine).await;
    assert_eq!(upload.missing, [id_of(b"new")]);
    let theirs = begin(&member, &Draft::of(&copied, "good")).await;
    let refused = put(&member, &theirs, "good", "evil").await;
    assert!(refused.failed(409).contains("a revision"));
    put(&member, &theirs, "good", "good").await.done(204);
    put(&owner, &upload, "new", "new").await.done(204);
    owner.complete(&upload, &mine).await.done(200);
    assert_eq!(owner.chunk(copied.id, "good").await.body, "good");
}

#[tokio::test]
async fn a_revision_s_bytes_come_before_those_that_an_upload_has_sent() {
    let world = World::new();
    let (owner, member) = colleagues(&world).await;
    let original = owner.file(None, "a", "first").await;
    let copied = copy(&owner, &original, "b").await;
    let theirs = begin(&member, &Draft::of(&copied, "good")).await;
    put(&member, &theirs, "good", "evil").await.done(204);
    owner.upload(&Draft::of(&original, "good")).await.done(200);
    let mine = Draft::of(&copied, "good");
    let upload = begin(&owner, &mine).await;
    assert!(upload.missing.is_empty(), "the original has it");
    let node: Node = owner.complete(&upload, &mine).await.ok();
    assert_eq!(owner.chunk(copied.id, "good").await.body, "good");
    // A batch stores its own bytes, and not what lies there for the upload.
    let batch = Draft::of(&node, "").chunks(&["good", "more"]);
    let results = upload_batch::upload(&owner, &[batch]).await;
    assert_eq!(results.results[0].status, 200, "{results:?}");
    assert_eq!(owner.chunk(copied.id, "good").await.body, "good");
}

#[tokio::test]
async fn an_upload_is_not_completed_on_bytes_that_only_others_have_sent() {
    let world = World::new();
    let (owner, member) = colleagues(&world).await;
    let original = owner.file(None, "a", "first").await;
    let copied = copy(&owner, &original, "b").await;
    owner.upload(&Draft::of(&original, "good")).await.done(200);
    let mine = Draft::of(&copied, "good");
    let upload = begin(&owner, &mine).await;
    assert!(upload.missing.is_empty(), "the original has it");
    purge(&owner, &original).await;
    let theirs = begin(&member, &Draft::of(&copied, "good")).await;
    put(&member, &theirs, "good", "evil").await.done(204);
    let refused = owner.complete(&upload, &mine).await.failed(400);
    assert!(refused.contains("PUT"), "{refused}");
    owner.chunk(copied.id, "good").await.failed(404);
    assert_eq!(missing_chunks(&owner, &upload).await, [id_of(b"good")]);
    put(&owner, &upload, "good", "good").await.failed(409);
    let path = format!("/api/v1/uploads/{}", theirs.upload_id);
    member.delete(&path).await.done(204);
    put(&owner, &upload, "good", "good").await.done(204);
    owner.complete(&upload, &mine).await.done(200);
    assert_eq!(owner.chunk(copied.id, "good").await.body, "good");
}

#[tokio::test]
async fn bytes_that_two_have_sent_are_both_s_until_a_revision_has_them() {
    let world = World::new();
    let (owner, member) = colleagues(&world).await;
    let [(mine, upload), (other, theirs)] = rivals(&owner, &member).await;
    member.complete(&theirs, &other).await.failed(400);
    put(&member, &theirs, "good", "good").await.done(204);
    assert!(missing_chunks(&member, &theirs).await.is_empty());
    // Who sent them first can't change them any more either.
    let refused = put(&owner, &upload, "good", "evil").await;
    assert!(refused.failed(409).contains("another member's upload"));
    assert!(missing_chunks(&owner, &upload).await.is_empty());
    member.complete(&theirs, &other).await.done(200);
    assert_eq!(owner.chunk(mine.node, "good").await.body, "good");
}

#[tokio::test]
async fn what_was_compared_before_the_bytes_changed_counts_no_more() {
    let world = World::new();
    let (owner, member) = colleagues(&world).await;
    let [(_, upload), (other, theirs)] = rivals(&owner, &member).await;
    put(&member, &theirs, "good", "good").await.done(204);
    let path = format!("/api/v1/uploads/{}", theirs.upload_id);
    member.delete(&path).await.done(204);
    put(&owner, &upload, "good", "evil").await.done(204);
    let again = begin(&member, &other).await;
    assert_eq!(again.missing, [id_of(b"good")]);
    member.complete(&again, &other).await.failed(400);
}

#[tokio::test]
async fn an_upload_that_uses_the_original_survives_its_purge() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "a", "kept").await;
    let copied = copy(&owner, &original, "b").await;
    let again: Node = owner.upload(&Draft::of(&original, "later")).await.ok();
    let draft = Draft::of(&copied, "").chunks(&["kept", "later", "new"]);
    let upload = begin(&owner, &draft).await;
    assert_eq!(upload.missing, [id_of(b"new")]);
    put(&owner, &upload, "new", "new").await.done(204);
    purge(&owner, &again).await;
    // The copy's first revision keeps what it has; the rest has gone with the original.
    assert_eq!(missing_chunks(&owner, &upload).await, [id_of(b"later")]);
    owner.complete(&upload, &draft).await.failed(400);
    put(&owner, &upload, "later", "later").await.done(204);
    owner.complete(&upload, &draft).await.done(200);
    for content in ["kept", "later", "new"] {
        assert_eq!(owner.chunk(copied.id, content).await.body, content);
    }
    let checked = world.app.check(true).await.unwrap();
    assert!(checked.problems.is_empty(), "{checked:?}");
    purge(&owner, &copied).await;
    assert_eq!(quota(&owner).await.storage_used, 0);
}

#[tokio::test]
async fn what_the_original_has_costs_nothing_and_is_sent_for_nothing() {
    let world = World::new();
    let owner = world.owner();
    let used = async || quota(&owner).await.storage_used;
    let original = owner.file(None, "a", "1234567").await;
    let copied = copy(&owner, &original, "b").await;
    let before = used().await;
    let draft = Draft::of(&copied, "").chunks(&["1234567", "12"]);
    let upload = begin(&owner, &draft).await;
    assert_eq!(used().await, before + 2);
    // Sent all the same, it is compared and not stored again.
    put(&owner, &upload, "1234567", "1234567").await.done(204);
    put(&owner, &upload, "1234567", "7654321").await.failed(409);
    assert_eq!(used().await, before + 2);
    put(&owner, &upload, "12", "12").await.done(204);
    owner.complete(&upload, &draft).await.done(200);
    assert_eq!(used().await, before + 2 + RECORD);
    purge(&owner, &original).await;
    assert_eq!(used().await, 9 + 2 * RECORD);
}

#[tokio::test]
async fn a_batch_over_a_copy_pays_for_what_it_stores() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "a", "1234567").await;
    let copied = copy(&owner, &original, "b").await;
    let limit = async |bytes: u64| {
        let body = json!({"email": "owner@example.com", "storage_limit": bytes});
        owner.post("/_dev/quota", &body).await.done(200);
    };
    let before = quota(&owner).await.storage_used;
    let batch = [Draft::of(&copied, "1234567")];
    limit(before + RECORD + 6).await;
    let refused = upload_batch::upload(&owner, &batch).await;
    assert_eq!(refused.results[0].status, 507);
    assert_eq!(quota(&owner).await.storage_used, before);
    limit(before + RECORD + 7).await;
    let stored = upload_batch::upload(&owner, &batch).await;
    assert_eq!(stored.results[0].status, 200);
    assert_eq!(quota(&owner).await.storage_used, before + RECORD + 7);
    purge(&owner, &original).await;
    assert_eq!(owner.chunk(copied.id, "1234567").await.body, "1234567");
    let checked = world.app.check(true).await.unwrap();
    assert!(checked.problems.is_empty(), "{checked:?}");
}

#[tokio::test]
async fn a_copy_that_has_nothing_of_its_original_any_more_reaches_nothing_of_it() {
    let world = World::with(Options {
        revisions: KeptRevisions {
            newest: Some(1),
            days: None,
        },
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let original = owner.file(None, "a", "first").await;
    let copied = copy(&owner, &original, "b").await;
    owner
        .upload(&Draft::of(&original, "second"))
        .await
        .done(200);
    owner.chunk(copied.id, "second").await.done(200);
    owner.upload(&Draft::of(&copied, "own")).await.done(200);
    world.app.housekeep().await.unwrap();
    owner.chunk(copied.id, "second").await.failed(404);
    owner.chunk(copied.id, "own").await.done(200);
    let checked = world.app.check(true).await.unwrap();
    assert!(checked.problems.is_empty(), "{checked:?}");
}
