//! Copies of files and folders by a caller without keys: the content stays encrypted as it is.

use super::world::{Draft, RECORD, World, new_node};
use axum::http::Method;
use cairn_model::NodeId;
use cairn_server::{Limits, Options};
use cairn_wire::Page;
use cairn_wire::account::Quota;
use cairn_wire::nodes::{ContentSource, Node};
use serde_json::{Value, json};

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

#[tokio::test]
async fn a_folder_that_is_copied_into_itself_does_not_grow_without_a_bound() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let made: Vec<Value> = (0..999)
        .map(|n| json!({"op": "create_folder", "parent_id": top.id, "name": n.to_string()}))
        .collect();
    owner
        .post("/api/v1/nodes/batch", &json!({ "operations": made }))
        .await
        .done(200);
    let copy = async |round: u32| {
        let body = json!({"name": format!("round {round}"), "parent_id": top.id});
        owner
            .post(&format!("/api/v1/nodes/{}/copy", top.id), &body)
            .await
    };
    for round in 0..5 {
        copy(round).await.done(201);
    }
    let refused = copy(5).await.failed(400);
    assert!(refused.contains("20000 files and folders"), "{refused}");
    let listed: Page<Node> = owner
        .get(&format!("/api/v1/nodes?parent_id={}", top.id))
        .await
        .ok();
    assert_eq!(listed.total_elements, 999 + 5);
}

#[tokio::test]
async fn folders_are_bounded_as_files_are() {
    let limits = Limits {
        files: 4,
        ..Limits::default()
    };
    let world = World::with(Options {
        limits,
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    owner.folder(Some(top.id), "inner").await;
    let copy = async |name: &str| {
        owner
            .post(
                &format!("/api/v1/nodes/{}/copy", top.id),
                &json!({ "name": name }),
            )
            .await
    };
    copy("a").await.done(201);
    assert!(copy("b").await.failed(507).contains("folders"));
    let folder = |name: &str| json!({"kind": "folder", "name": name});
    owner.post("/api/v1/nodes", &folder("c")).await.failed(507);
    // In the trash they count, and no longer once they are gone for good.
    owner
        .delete(&format!("/api/v1/nodes/{}", top.id))
        .await
        .done(200);
    owner.post("/api/v1/nodes", &folder("c")).await.failed(507);
    owner.delete("/api/v1/trash").await.done(200);
    owner.post("/api/v1/nodes", &folder("c")).await.done(201);
}

#[tokio::test]
async fn metadata_is_storage_and_copies_of_it_are_too() {
    let world = World::new();
    let owner = world.owner();
    let used = async || {
        let quota: Quota = owner.get("/api/v1/userusage/quota-limit").await.ok();
        quota.storage_used
    };
    let folder = owner.folder(None, "a").await;
    let path = format!("/api/v1/nodes/{}", folder.id);
    let described = json!({"description": "ä".repeat(5_000), "tags": ["t"]});
    owner.put(&path, &described).await.done(200);
    assert_eq!(used().await, 10_000 + 5);
    let limit = json!({"email": "owner@example.com", "storage_limit": 25_000});
    owner.post("/_dev/quota", &limit).await.done(200);
    let copy = async |name: &str| {
        owner
            .post(&format!("{path}/copy"), &json!({ "name": name }))
            .await
    };
    copy("b").await.done(201);
    assert_eq!(used().await, 2 * 10_005);
    copy("c").await.failed(507);
    let longer = json!({"description": "x".repeat(10_000), "labels": {"k": "v".repeat(255), "l": "v".repeat(255)}});
    owner.put(&path, &longer).await.done(200);
    let other = owner.folder(None, "d").await;
    owner
        .put(
            &format!("/api/v1/nodes/{}", other.id),
            &json!({"description": "x".repeat(9_000)}),
        )
        .await
        .failed(507);
    // What takes no more than before is not refused.
    owner.put(&path, &json!({"name": "e"})).await.done(200);
    let checked = world.app.check(false).await.unwrap();
    assert_eq!(checked.problems, Vec::<String>::new());
    let all: Page<Node> = owner.get("/api/v1/nodes").await.ok();
    for node in all.content {
        owner
            .delete(&format!("/api/v1/nodes/{}", node.id))
            .await
            .done(200);
    }
    owner.delete("/api/v1/trash").await.done(200);
    assert_eq!(used().await, 0);
}

#[tokio::test]
async fn copies_of_a_file_with_many_chunks_count_their_lists() {
    let world = World::new();
    let owner = world.owner();
    let texts: Vec<String> = (0..100).map(|n| format!("{n:02}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let file: Node = owner.upload(&Draft::new("f", "").chunks(&texts)).await.ok();
    let used = async || {
        let quota: Quota = owner.get("/api/v1/userusage/quota-limit").await.ok();
        quota.storage_used
    };
    // Of 56 bytes for each chunk, the first 64 are free.
    let list = 36 * 56;
    assert_eq!(used().await, 200 + RECORD + list);
    owner
        .post(
            &format!("/api/v1/nodes/{}/copy", file.id),
            &json!({"name": "g"}),
        )
        .await
        .done(201);
    assert_eq!(used().await, 200 + 2 * (RECORD + list));
    let checked = world.app.check(false).await.unwrap();
    assert_eq!(checked.problems, Vec::<String>::new());
}

#[tokio::test]
async fn an_id_of_another_node_is_refused_however_much_it_looks_like_the_copy() {
    let world = World::new();
    let owner = world.owner();
    let original = owner.file(None, "f", "content").await;
    let folder = owner.folder(None, "d").await;
    let (file, other) = (
        owner.file(Some(folder.id), "g", "else").await,
        owner.folder(Some(folder.id), "e").await,
    );
    let copy = async |of: &Node, id: NodeId, name: &str| {
        let body = json!({"id": id, "name": name, "parent_id": folder.id});
        let path = format!("/api/v1/nodes/{}/copy", of.id);
        owner.post(&path, &body).await
    };
    copy(&original, file.id, "g").await.failed(409);
    copy(&folder, other.id, "e").await.failed(409);
    // The same request again finds its copy; one for another name or of another original doesn't.
    let id = new_node();
    copy(&original, id, "h").await.done(201);
    let again: Node = copy(&original, id, "h").await.ok();
    assert_eq!(again.id, id);
    copy(&original, id, "i").await.failed(409);
    copy(&file, id, "h").await.failed(409);
    let body = json!({"id": id, "name": "h"});
    let path = format!("/api/v1/nodes/{}/copy", original.id);
    owner.post(&path, &body).await.failed(409);
}
