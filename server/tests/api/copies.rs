//! Copies without keys.

use super::world::{Draft, RECORD, World, new_node};
use axum::http::Method;
use cairn_wire::Page;
use cairn_wire::account::Quota;
use cairn_wire::nodes::{ContentSource, Node};
use serde_json::json;

#[tokio::test]
async fn a_folder_is_copied_with_everything_below() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let sub = owner.folder(Some(top.id), "sub").await;
    let file = owner.file(Some(sub.id), "f", "content").await;
    owner
        .put(
            &format!("/api/v1/nodes/{}", file.id),
            &json!({"tags": ["t"]}),
        )
        .await
        .done(200);
    let trashed = owner.file(Some(sub.id), "gone", "x").await;
    owner
        .delete(&format!("/api/v1/nodes/{}", trashed.id))
        .await
        .done(200);
    let id = new_node();
    let copy = json!({"id": id, "name": "copy", "seal": "c2VhbA=="});
    let response = owner
        .post(&format!("/api/v1/nodes/{}/copy", top.id), &copy)
        .await;
    response.done(201);
    let made: Node = response.ok();
    assert_eq!(
        (made.id, made.name.as_str(), made.parent_id),
        (id, "copy", None)
    );
    assert_eq!(made.seal.unwrap().0, b"seal");
    let list = async |parent| {
        owner
            .get(&format!("/api/v1/nodes?parent_id={parent}"))
            .await
            .ok::<Page<Node>>()
            .content
    };
    let subs = list(id).await;
    assert_eq!((subs.len(), subs[0].name.as_str()), (1, "sub"));
    let files = list(subs[0].id).await;
    assert_eq!(
        (files.len(), files[0].name.as_str(), files[0].size),
        (1, "f", 7)
    );
    assert_eq!(files[0].tags, ["t"]);
    let source = ContentSource {
        node_id: file.id,
        revision_id: file.revision_id.unwrap(),
    };
    assert_eq!(files[0].content_source, Some(source));
    assert_eq!(owner.chunk(files[0].id, "content").await.body, "content");
    assert_eq!(
        owner
            .post(&format!("/api/v1/nodes/{}/copy", top.id), &copy)
            .await
            .ok::<Node>()
            .id,
        id
    );
}

#[tokio::test]
async fn a_copy_lives_on_without_its_original() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "f", "content").await;
    let copy: Node = owner
        .post(
            &format!("/api/v1/nodes/{}/copy", file.id),
            &json!({"name": "g"}),
        )
        .await
        .ok();
    let second: Node = owner
        .post(
            &format!("/api/v1/nodes/{}/copy", copy.id),
            &json!({"name": "h"}),
        )
        .await
        .ok();
    assert_eq!(
        second.content_source.unwrap().node_id,
        file.id,
        "it names where the content was sealed"
    );
    for id in [file.id, copy.id] {
        owner.delete(&format!("/api/v1/nodes/{id}")).await.done(200);
    }
    owner.delete("/api/v1/trash").await.done(200);
    assert_eq!(owner.chunk(second.id, "content").await.body, "content");
    // An edit of the copy is sealed to itself.
    let edited: Node = owner.upload(&Draft::of(&second, "content")).await.ok();
    assert_eq!(edited.content_source, None);
    assert_eq!(owner.chunk(second.id, "content").await.body, "content");
    owner
        .delete(&format!("/api/v1/nodes/{}", second.id))
        .await
        .done(200);
    owner.delete("/api/v1/trash").await.done(200);
    owner.chunk(second.id, "content").await.failed(404);
}

#[tokio::test]
async fn a_copy_that_can_not_be_made_leaves_nothing() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    owner.file(Some(top.id), "f", "12345").await;
    let path = format!("/api/v1/nodes/{}/copy", top.id);
    owner.post(&path, &json!({})).await.failed(409);
    owner.post(&path, &json!({"name": "a/b"})).await.failed(400);
    owner
        .post(&path, &json!({"name": "x", "parent_id": new_node()}))
        .await
        .failed(404);
    owner
        .post(&path, &json!({"name": "x", "id": top.id}))
        .await
        .failed(409);
    owner
        .post(
            &format!("/api/v1/nodes/{}/copy", new_node()),
            &json!({"name": "x"}),
        )
        .await
        .failed(404);
    owner
        .post(
            "/_dev/quota",
            &json!({"email": "owner@example.com", "storage_limit": 2 * RECORD}),
        )
        .await
        .done(200);
    owner.post(&path, &json!({"name": "x"})).await.failed(507);
    assert_eq!(
        owner
            .get("/api/v1/nodes")
            .await
            .ok::<Page<Node>>()
            .total_elements,
        1
    );
    owner
        .post(
            "/_dev/quota",
            &json!({"email": "owner@example.com", "storage_limit": 2 * RECORD + 5}),
        )
        .await
        .done(200);
    // Even into itself: what is copied was there before the copy.
    let inside: Node = owner
        .post(&path, &json!({"name": "x", "parent_id": top.id}))
        .await
        .ok();
    let list: Page<Node> = owner
        .get(&format!("/api/v1/nodes?parent_id={}", inside.id))
        .await
        .ok();
    assert_eq!(
        list.content
            .iter()
            .map(|node| node.name.as_str())
            .collect::<Vec<_>>(),
        ["f"]
    );
    assert_eq!(
        owner
            .get("/api/v1/userusage/quota-limit")
            .await
            .ok::<Quota>()
            .storage_used,
        2 * RECORD + 5
    );
}

#[tokio::test]
async fn a_copy_that_was_decided_on_another_version_is_not_made() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "f", "12345").await;
    let change = json!({"description": "another version"});
    let path = format!("/api/v1/nodes/{}", file.id);
    let changed: Node = owner.put(&path, &change).await.ok();
    let copy = async |version: u64, name: &str| {
        let body = serde_json::to_vec(&json!({"name": name})).unwrap();
        let seen = format!("\"{version}\"");
        let path = format!("{path}/copy");
        owner
            .send(Method::POST, &path, &[("if-match", &seen)], body)
            .await
    };
    let stale = copy(file.version, "g").await;
    stale.failed(412);
    copy(changed.version, "g").await.done(201);
}
