//! Uploads of many small files in one frame (a JSON head, then bytes).

use super::quota::quota;
use super::world::{Caller, Draft, RECORD, TestResponse, World, digest, id_of, new_revision};
use axum::http::Method;
use bytes::Bytes;
use cairn_server::{Limits, Options};
use cairn_wire::frame;
use cairn_wire::nodes::{Node, NodeResults};
use cairn_wire::transfer::{BATCH_FILES, BatchFile, Upload, UploadBatch};
use cairn_wire::{Sealed, Timestamp};
use serde_json::{Value, json};

fn frame_of(drafts: &[Draft]) -> Bytes {
    let head = UploadBatch {
        files: drafts.iter().map(Draft::batch_file).collect(),
    };
    let payload: Vec<Bytes> = drafts
        .iter()
        .flat_map(|draft| draft.chunks.clone())
        .collect();
    frame::encode(&head, &payload).unwrap()
}

async fn send(who: &Caller, body: Bytes) -> TestResponse {
    who.send(Method::POST, "/api/v1/uploads/batch", &[], body)
        .await
}

pub(crate) async fn upload(who: &Caller, drafts: &[Draft]) -> NodeResults {
    send(who, frame_of(drafts)).await.ok()
}

fn statuses(results: &NodeResults) -> Vec<u16> {
    results.results.iter().map(|result| result.status).collect()
}

#[tokio::test]
async fn a_batch_stores_files_of_all_shapes() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "d").await;
    let old = owner.file(Some(folder.id), "old", "1").await;
    let drafts = [
        Draft::new("a", "alpha").inside(Some(folder.id)),
        Draft::new("empty", "").chunks(&[]),
        Draft::new("many", "").chunks(&["x", "y", "x"]),
        Draft::of(&old, "2"),
    ];
    let results = upload(&owner, &drafts).await;
    assert_eq!(statuses(&results), [200; 4]);
    for (draft, result) in drafts.iter().zip(&results.results) {
        let node = result.node.as_ref().unwrap();
        assert_eq!(
            (node.id, node.revision_id, node.size),
            (draft.node, Some(draft.revision), draft.size())
        );
        for bytes in &draft.chunks {
            let got = owner
                .chunk(draft.node, std::str::from_utf8(bytes).unwrap())
                .await;
            assert_eq!(&got.body, bytes);
        }
    }
    assert_eq!(
        statuses(&upload(&owner, &drafts).await),
        [200; 4],
        "repeating it is harmless"
    );
    let feed: cairn_wire::changes::Changes = owner.get("/api/v1/changes").await.ok();
    assert_eq!(feed.changes.len(), 5);
}

#[tokio::test]
async fn what_is_new_is_returned_as_it_is_read() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "d").await;
    let read: Node = owner.node(folder.id).await.ok();
    assert_eq!(read, folder);
    let drafts = [
        Draft::new("photo.jpg", "x").inside(Some(folder.id)),
        Draft::new("no ending", "y"),
    ];
    let mut files: Vec<BatchFile> = drafts.iter().map(Draft::batch_file).collect();
    files[1].complete.executable = true;
    files[1].complete.modified_at = Some(Timestamp(5));
    files[1].complete.seal = Some(Sealed(vec![1; 40]));
    let payload: Vec<Bytes> = drafts.iter().flat_map(|d| d.chunks.clone()).collect();
    let body = frame::encode(&UploadBatch { files }, &payload).unwrap();
    let results: NodeResults = send(&owner, body).await.ok();
    for (draft, result) in drafts.iter().zip(results.results) {
        let read: Node = owner.node(draft.node).await.ok();
        assert_eq!(Some(read), result.node);
    }
}

#[tokio::test]
async fn each_file_succeeds_or_fails_alone() {
    let world = World::new();
    let owner = world.owner();
    owner.file(None, "taken", "1").await;
    let old = owner.file(None, "old", "1").await;
    let drafts = [
        Draft::new("a", "alpha"),
        Draft::new("taken", "2"),
        Draft::new("a", "beta"),
        Draft {
            base: Some(new_revision()),
            ..Draft::of(&old, "2")
        },
        Draft::new("b/c", "x"),
        Draft {
            version: Some(old.version + 1),
            ..Draft::of(&old, "2")
        },
        Draft::new("z", "omega"),
    ];
    let results = upload(&owner, &drafts).await;
    assert_eq!(statuses(&results), [200, 409, 409, 409, 400, 412, 200]);
    assert_eq!(
        owner.chunk(drafts[6].node, "omega").await.body,
        "omega",
        "places are right beside failures"
    );
    let message = &results.results[1].error.as_ref().unwrap().message;
    assert!(message.contains("taken"), "{message}");
    owner.node(drafts[2].node).await.failed(404);
    // A batch in which nothing is new and nothing succeeds.
    assert_eq!(statuses(&upload(&owner, &drafts[1..2]).await), [409]);
}

#[tokio::test]
async fn a_batch_that_is_none_is_refused_whole() {
    let world = World::new();
    let owner = world.owner();
    let good = frame_of(&[Draft::new("a", "alpha")]);
    send(&owner, good.slice(..good.len() - 1)).await.failed(400);
    send(&owner, good.slice(..3)).await.failed(400);
    send(&owner, Bytes::from_static(&[255; 64]))
        .await
        .failed(400);
    send(&owner, frame::encode(&json!({"files": [{}]}), &[]).unwrap())
        .await
        .failed(400);
    let many: Vec<_> = (0..=BATCH_FILES)
        .map(|n| Draft::new(&format!("f{n}"), "x"))
        .collect();
    send(&owner, frame_of(&many)).await.failed(400);
    let wrong = [("content-digest", digest(b"other"))];
    let headers: Vec<_> = wrong
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    owner
        .send(
            Method::POST,
            "/api/v1/uploads/batch",
            &headers,
            good.clone(),
        )
        .await
        .failed(400);
    let feed: Value = owner.get("/api/v1/changes").await.ok();
    assert_eq!(feed["changes"], json!([]));
    let right = [("content-digest", digest(&good))];
    let headers: Vec<_> = right
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    owner
        .send(Method::POST, "/api/v1/uploads/batch", &headers, good)
        .await
        .done(200);
}

#[tokio::test]
async fn a_full_batch_fits() {
    let world = World::new();
    let owner = world.owner();
    let drafts: Vec<_> = (0..BATCH_FILES)
        .map(|n| Draft::new(&format!("f{n}"), &format!("content {n}")))
        .collect();
    assert_eq!(
        statuses(&upload(&owner, &drafts).await),
        vec![200; BATCH_FILES]
    );
    let last = drafts.last().unwrap();
    assert_eq!(
        owner.chunk(last.node, "content 255").await.body,
        "content 255"
    );
}

#[tokio::test]
async fn files_that_do_not_fit_the_quota_fail_and_the_others_are_stored() {
    let world = World::new();
    let owner = world.owner();
    owner
        .post(
            "/_dev/quota",
            &json!({"email": "owner@example.com", "storage_limit": 2 * RECORD + 10}),
        )
        .await
        .done(200);
    let drafts = [
        Draft::new("a", "12345"),
        Draft::new("b", "1234567"),
        Draft::new("c", "12345"),
    ];
    let results = upload(&owner, &drafts).await;
    assert_eq!(statuses(&results), [200, 507, 200]);
    assert_eq!(owner.node(drafts[2].node).await.ok::<Node>().size, 5);
    assert_eq!(statuses(&upload(&owner, &drafts[1..2]).await), [507]);
}

#[tokio::test]
async fn a_batch_stores_as_many_files_as_there_may_be_and_new_content_beyond() {
    let limits = Limits {
        files: 3,
        ..Limits::default()
    };
    let world = World::with(Options {
        limits,
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let old = owner.file(None, "old", "1").await;
    let drafts = [
        Draft::new("a", "1"),
        Draft::new("b", "2"),
        Draft::new("c", "3"),
        Draft::of(&old, "4"),
    ];
    let results = upload(&owner, &drafts).await;
    assert_eq!(statuses(&results), [200, 200, 507, 200]);
    assert_eq!(quota(&owner).await.file_count, 3);
    assert_eq!(statuses(&upload(&owner, &drafts[2..3]).await), [507]);
}

#[tokio::test]
async fn a_purged_file_of_a_batch_leaves_its_neighbours_alone() {
    let world = World::new();
    let owner = world.owner();
    let drafts = [
        Draft::new("a", "alpha"),
        Draft::new("b", "beta"),
        Draft::new("c", "gamma"),
    ];
    upload(&owner, &drafts).await;
    for index in [1, 0] {
        owner
            .delete(&format!("/api/v1/nodes/{}", drafts[index].node))
            .await
            .done(200);
        owner
            .delete(&format!("/api/v1/trash/{}", drafts[index].node))
            .await
            .done(200);
        assert_eq!(owner.chunk(drafts[2].node, "gamma").await.body, "gamma");
    }
}

/// Sends a batch whose payload is not what the ids of the chunks say.
async fn upload_as(who: &Caller, drafts: &[Draft], payload: &[&'static str]) -> NodeResults {
    let head = UploadBatch {
        files: drafts.iter().map(Draft::batch_file).collect(),
    };
    let payload: Vec<Bytes> = payload.iter().map(|text| Bytes::from(*text)).collect();
    send(who, frame::encode(&head, &payload).unwrap())
        .await
        .ok()
}

#[tokio::test]
async fn a_batch_replaces_a_damaged_chunk_that_no_revision_uses() {
    let world = World::new();
    let owner = world.owner();
    let draft = Draft::new("f", "good");
    let begun: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    let path = format!(
        "/api/v1/uploads/{}/chunks/{}",
        begun.upload_id,
        id_of(b"good")
    );
    owner.send(Method::PUT, &path, &[], "bxxd").await.done(204);
    let results = upload(&owner, std::slice::from_ref(&draft)).await;
    assert_eq!(statuses(&results), [200]);
    assert_eq!(owner.chunk(draft.node, "good").await.body, "good");
    // Nothing takes the place of what a revision is made of.
    let node = results.results[0].node.clone().unwrap();
    let next = Draft::of(&node, "good");
    let refused = upload_as(&owner, std::slice::from_ref(&next), &["bxxd"]).await;
    assert_eq!(statuses(&refused), [409]);
    assert_eq!(statuses(&upload(&owner, &[next]).await), [200]);
    assert_eq!(owner.chunk(draft.node, "good").await.body, "good");
}

#[tokio::test]
async fn files_before_one_whose_chunk_has_to_be_compared_are_stored_once() {
    let world = World::new();
    let owner = world.owner();
    let compared = Draft::new("b", "beta");
    let begun: Upload = owner.post("/api/v1/uploads", &compared.create()).await.ok();
    let path = format!(
        "/api/v1/uploads/{}/chunks/{}",
        begun.upload_id,
        id_of(b"beta")
    );
    owner.send(Method::PUT, &path, &[], "beta").await.done(204);
    let before = quota(&owner).await.storage_used;
    let drafts = [Draft::new("a", "alpha"), compared];
    let results = upload(&owner, &drafts).await;
    assert_eq!(statuses(&results), [200, 200]);
    let versions = results
        .results
        .iter()
        .map(|one| one.node.as_ref().unwrap().version);
    assert_eq!(versions.collect::<Vec<_>>(), [1, 1]);
    let after = quota(&owner).await;
    assert_eq!(after.file_count, 2);
    let manifests: u64 = drafts
        .iter()
        .map(|one| one.complete().manifest.0.len() as u64)
        .sum();
    assert_eq!(
        after.storage_used - before,
        manifests + "alpha".len() as u64
    );
    let feed: Value = owner.get("/api/v1/changes").await.ok();
    assert_eq!(feed["changes"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn two_revisions_of_a_batch_agree_about_the_chunk_that_they_share() {
    let world = World::new();
    let owner = world.owner();
    let first = Draft::new("f", "good");
    let second = Draft {
        node: first.node,
        base: Some(first.revision),
        name: None,
        ..Draft::new("", "good")
    };
    let pair = [first.clone(), second.clone()];
    let results = upload_as(&owner, &pair, &["good", "bxxd"]).await;
    assert_eq!(statuses(&results), [200, 409]);
    assert_eq!(statuses(&upload(&owner, &[second]).await), [200]);
    assert_eq!(owner.chunk(first.node, "good").await.body, "good");
}
