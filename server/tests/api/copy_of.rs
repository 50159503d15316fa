//! New files with `copy_of`: made of the stored content of another file's version, so that nothing of it is sent.

use super::quota::quota;
use super::world::{Caller, Draft, RECORD, World, new_node, new_revision};
use axum::http::Method;
use cairn_wire::frame;
use cairn_wire::nodes::{ContentSource, Node, NodeResult, NodeResults};
use cairn_wire::transfer::{BatchFile, UploadBatch};
use serde_json::json;

/// A new file called `name` of all that a node has now.
fn copy_of(node: &Node, name: &str) -> BatchFile {
    let mut file = Draft::new(name, "").chunks(&[]).batch_file();
    file.create.size = node.size;
    file.create.copy_of = Some(ContentSource {
        node_id: node.id,
        revision_id: node.revision_id.unwrap(),
    });
    file
}

async fn send(who: &Caller, files: Vec<BatchFile>) -> Vec<NodeResult> {
    let body = frame::encode(&UploadBatch { files }, &[]).unwrap();
    let path = "/api/v1/uploads/batch";
    let results: NodeResults = who.send(Method::POST, path, &[], body).await.ok();
    results.results
}

/// Makes one file that the service takes.
async fn made(who: &Caller, file: BatchFile) -> Node {
    let mut results = send(who, vec![file]).await;
    assert_eq!(results[0].status, 200, "{results:?}");
    results.remove(0).node.unwrap()
}

async fn purge(who: &Caller, node: &Node) {
    let path = format!("/api/v1/nodes/{}", node.id);
    who.delete(&path).await.done(200);
    let path = format!("/api/v1/trash/{}", node.id);
    who.delete(&path).await.done(200);
}

async fn check_store(world: &World) {
    let checked = world.app.check(true).await.unwrap();
    assert!(checked.problems.is_empty(), "{checked:?}");
}

#[tokio::test]
async fn a_file_is_made_of_a_revision_and_costs_its_record() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "a", "content").await;
    let before = quota(&owner).await.storage_used;
    let file = copy_of(&original, "b");
    let node = made(&owner, file.clone()).await;
    assert_eq!(
        (node.id, node.revision_id, node.size),
        (
            file.create.node_id,
            Some(file.create.revision_id),
            original.size
        )
    );
    assert_eq!(node.content_source, None, "it has a record of its own");
    assert_eq!(owner.chunk(node.id, "content").await.body, "content");
    assert_eq!(quota(&owner).await.storage_used, before + RECORD);
    assert_eq!(made(&owner, file).await, node, "a repeat makes nothing");
    // It takes edits like any other, and a copy of it names what it was made of.
    owner.upload(&Draft::of(&node, "edited")).await.done(200);
    let second = made(&owner, copy_of(&node, "c")).await;
    assert_eq!(owner.chunk(second.id, "content").await.body, "content");
    check_store(&world).await;
}

#[tokio::test]
async fn it_lives_on_without_the_original() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "a", "content").await;
    let node = made(&owner, copy_of(&original, "b")).await;
    purge(&owner, &original).await;
    assert_eq!(owner.chunk(node.id, "content").await.body, "content");
    check_store(&world).await;
    purge(&owner, &node).await;
    assert_eq!(quota(&owner).await.storage_used, 0);
    check_store(&world).await;
}

#[tokio::test]
async fn earlier_revisions_and_files_in_the_trash_can_be_named() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "a", "first").await;
    owner
        .upload(&Draft::of(&original, "second"))
        .await
        .done(200);
    let path = format!("/api/v1/nodes/{}", original.id);
    owner.delete(&path).await.done(200);
    let node = made(&owner, copy_of(&original, "b")).await;
    assert_eq!(owner.chunk(node.id, "first").await.body, "first");
}

#[tokio::test]
async fn a_full_account_takes_none() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "a", "content").await;
    let before = quota(&owner).await.storage_used;
    let limit = json!({"email": "owner@example.com", "storage_limit": before + RECORD - 1});
    owner.post("/_dev/quota", &limit).await.done(200);
    let results = send(&owner, vec![copy_of(&original, "b")]).await;
    assert_eq!(results[0].status, 507);
    assert_eq!(quota(&owner).await.storage_used, before);
    check_store(&world).await;
}

#[tokio::test]
async fn the_list_of_its_chunks_has_to_fit() {
    let world = World::new();
    let owner = world.owner();
    let texts: Vec<String> = (0..100).map(|n| format!("{n:02}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let draft = Draft::new("a", "").chunks(&texts);
    let original: Node = owner.upload(&draft).await.ok();
    let before = quota(&owner).await.storage_used;
    // Of 56 bytes for each chunk, the first 64 are free.
    let needed = before + RECORD + 36 * 56;
    for (limit, status) in [(needed - 1, 507), (needed, 200)] {
        let limit = json!({"email": "owner@example.com", "storage_limit": limit});
        owner.post("/_dev/quota", &limit).await.done(200);
        let results = send(&owner, vec![copy_of(&original, "b")]).await;
        assert_eq!(results[0].status, status);
    }
    assert_eq!(quota(&owner).await.storage_used, needed);
    check_store(&world).await;
}

#[tokio::test]
async fn what_is_not_there_or_does_not_fit_is_refused_alone() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "a", "content").await;
    let theirs = world.member().file(None, "theirs", "secret").await;
    let mut files: Vec<BatchFile> = (0..6)
        .map(|n| copy_of(&original, &format!("copy {n}")))
        .collect();
    files[1].create.copy_of.as_mut().unwrap().node_id = new_node();
    files[2].create.copy_of.as_mut().unwrap().revision_id = new_revision();
    files[3].create.size += 1;
    files[4] = copy_of(&theirs, "copy 4");
    files[5].create.name = Some("a".into());
    let results = send(&owner, files).await;
    let statuses: Vec<u16> = results.iter().map(|result| result.status).collect();
    assert_eq!(statuses, [200, 404, 404, 400, 403, 409]);
    check_store(&world).await;
}

#[tokio::test]
async fn it_names_no_chunks_and_is_no_upload_of_its_own() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "a", "content").await;
    let mut file = copy_of(&original, "b");
    let alone = owner.post("/api/v1/uploads", &file.create).await;
    assert!(alone.failed(400).contains("batch"));
    file.create.chunks = Draft::new("", "content").create().chunks;
    let body = frame::encode(&UploadBatch { files: vec![file] }, &["content".into()]).unwrap();
    let path = "/api/v1/uploads/batch";
    let both = owner.send(Method::POST, path, &[], body).await;
    assert!(both.failed(400).contains("`copy_of`"));
}

#[tokio::test]
async fn a_new_revision_is_made_of_an_earlier_one() {
    let world = World::new();
    let owner = world.owner();
    let first = owner.file(None, "a", "first").await;
    let second: Node = owner.upload(&Draft::of(&first, "second")).await.ok();
    let mut file = Draft::of(&second, "").chunks(&[]).batch_file();
    file.create.size = first.size;
    file.create.copy_of = Some(ContentSource {
        node_id: first.id,
        revision_id: first.revision_id.unwrap(),
    });
    let back = made(&owner, file.clone()).await;
    assert_eq!(
        (back.id, back.revision_id, back.size, back.content_source),
        (first.id, Some(file.create.revision_id), first.size, None)
    );
    assert_eq!(owner.chunk(back.id, "first").await.body, "first");
    assert_eq!(
        made(&owner, file.clone()).await,
        back,
        "a repeat makes nothing"
    );
    // Of a head that is another one by now nothing is replaced.
    file.create.revision_id = new_revision();
    assert_eq!(send(&owner, vec![file]).await[0].status, 409);
    check_store(&world).await;
}
