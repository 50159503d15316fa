//! Into the trash, out of it, and gone for good.

use super::world::{Draft, RECORD, World, new_node};
use axum::http::Method;
use cairn_wire::Page;
use cairn_wire::account::Quota;
use cairn_wire::changes::{ChangeKind, Changes};
use cairn_wire::nodes::{Emptied, Node, NodeState};
use serde_json::json;

#[tokio::test]
async fn a_folder_takes_its_contents_along_as_one_change() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let sub = owner.folder(Some(top.id), "sub").await;
    let file = owner.file(Some(sub.id), "f", "x").await;
    let before: Changes = owner.get("/api/v1/changes").await.ok();
    let trashed: Node = owner
        .delete(&format!("/api/v1/nodes/{}", top.id))
        .await
        .ok();
    assert_eq!((trashed.state, trashed.version), (NodeState::Trashed, 2));
    let after: Changes = owner
        .get(&format!("/api/v1/changes?cursor={}", before.cursor))
        .await
        .ok();
    let changes: Vec<_> = after
        .changes
        .iter()
        .map(|change| (change.kind, change.node_id))
        .collect();
    assert_eq!(changes, [(ChangeKind::Trashed, top.id)]);
    for id in [sub.id, file.id] {
        assert_eq!(owner.node(id).await.ok::<Node>().state, NodeState::Trashed);
    }
    // Sent again because the response was lost.
    assert_eq!(
        owner
            .delete(&format!("/api/v1/nodes/{}", top.id))
            .await
            .ok::<Node>(),
        trashed
    );
    for path in ["/api/v1/trash", "/api/v1/nodes?state=trashed"] {
        let trash: Page<Node> = owner.get(path).await.ok();
        assert_eq!(
            trash.content.iter().map(|node| node.id).collect::<Vec<_>>(),
            [top.id],
            "{path}"
        );
    }
    // The name is free again, and what lies in the trash can't be changed.
    owner.folder(None, "top").await;
    owner
        .put(&format!("/api/v1/nodes/{}", file.id), &json!({"name": "g"}))
        .await
        .failed(409);
}

#[tokio::test]
async fn restoring_brings_everything_back_with_a_change_for_each() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let sub = owner.folder(Some(top.id), "sub").await;
    let file = owner.file(Some(sub.id), "f.txt", "x").await;
    let earlier = owner.file(Some(sub.id), "earlier", "y").await;
    owner
        .delete(&format!("/api/v1/nodes/{}", earlier.id))
        .await
        .done(200);
    owner
        .delete(&format!("/api/v1/nodes/{}", top.id))
        .await
        .done(200);
    let before: Changes = owner.get("/api/v1/changes").await.ok();
    owner
        .post(&format!("/api/v1/trash/{}/restore", file.id), &json!({}))
        .await
        .failed(409);
    let restored: Node = owner
        .post(&format!("/api/v1/trash/{}/restore", top.id), &json!({}))
        .await
        .ok();
    assert_eq!(
        (restored.state, restored.name.as_str()),
        (NodeState::Active, "top")
    );
    let after: Changes = owner
        .get(&format!("/api/v1/changes?cursor={}", before.cursor))
        .await
        .ok();
    let ids: Vec<_> = after.changes.iter().map(|change| change.node_id).collect();
    assert_eq!(
        ids,
        [top.id, sub.id, file.id],
        "parents first, and not what was trashed before"
    );
    assert!(
        after
            .changes
            .iter()
            .all(|change| change.node.as_ref().unwrap().state == NodeState::Active)
    );
    assert_eq!(
        owner.node(earlier.id).await.ok::<Node>().state,
        NodeState::Trashed
    );
    owner.chunk(file.id, "x").await.done(200);
    let again: Node = owner
        .post(&format!("/api/v1/nodes/{}/restore", top.id), &json!({}))
        .await
        .ok();
    assert_eq!(again, restored);
    owner
        .post(&format!("/api/v1/trash/{}/restore", new_node()), &json!({}))
        .await
        .failed(404);
}

#[tokio::test]
async fn what_is_deleted_after_its_folder_does_not_come_back_with_it() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let sub = owner.folder(Some(top.id), "sub").await;
    let file = owner.file(Some(sub.id), "f.txt", "x").await;
    let other = owner.file(Some(top.id), "other", "y").await;
    for id in [top.id, sub.id] {
        owner.delete(&format!("/api/v1/nodes/{id}")).await.done(200);
    }
    let trash: Page<Node> = owner.get("/api/v1/trash").await.ok();
    let mut ids: Vec<_> = trash.content.iter().map(|node| node.id).collect();
    ids.sort();
    let mut both = [top.id, sub.id];
    both.sort();
    assert_eq!(ids, both);
    owner
        .post(&format!("/api/v1/trash/{}/restore", top.id), &json!({}))
        .await
        .done(200);
    let state = async |id| owner.node(id).await.ok::<Node>().state;
    assert_eq!(state(other.id).await, NodeState::Active);
    for id in [sub.id, file.id] {
        assert_eq!(state(id).await, NodeState::Trashed);
    }
    owner
        .post(&format!("/api/v1/trash/{}/restore", sub.id), &json!({}))
        .await
        .done(200);
    for id in [sub.id, file.id] {
        assert_eq!(state(id).await, NodeState::Active);
    }
    let back: Node = owner.node(sub.id).await.ok();
    assert_eq!(back.parent_id, Some(top.id));
}

#[tokio::test]
async fn restoring_finds_another_name_and_another_folder() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "d").await;
    let file = owner.file(Some(folder.id), "f.txt", "x").await;
    owner
        .delete(&format!("/api/v1/nodes/{}", file.id))
        .await
        .done(200);
    owner.file(Some(folder.id), "f.txt", "y").await;
    owner.file(Some(folder.id), "f (2).txt", "z").await;
    let restored: Node = owner
        .post(&format!("/api/v1/trash/{}/restore", file.id), &json!({}))
        .await
        .ok();
    assert_eq!(
        (restored.name.as_str(), restored.parent_id),
        ("f (3).txt", Some(folder.id))
    );
    owner
        .delete(&format!("/api/v1/nodes/{}", file.id))
        .await
        .done(200);
    owner
        .delete(&format!("/api/v1/nodes/{}", folder.id))
        .await
        .done(200);
    let restored: Node = owner
        .post(&format!("/api/v1/trash/{}/restore", file.id), &json!({}))
        .await
        .ok();
    assert_eq!(
        (restored.name.as_str(), restored.parent_id),
        ("f (3).txt", None)
    );
}

#[tokio::test]
async fn a_deletion_never_reaches_what_its_device_has_not_seen() {
    let world = World::new();
    let (laptop, phone) = (world.owner().on_device(1), world.owner().on_device(2));
    let folder = laptop.folder(None, "d").await;
    let file = laptop.file(Some(folder.id), "f", "1").await;
    let cursor =
        async |who: &super::world::Caller| who.get("/api/v1/changes").await.ok::<Changes>().cursor;
    let seen = cursor(&laptop).await;
    let delete = format!("/api/v1/nodes/{}?seen={seen}", folder.id);
    phone.upload(&Draft::of(&file, "2")).await.done(200);
    laptop.delete(&delete).await.failed(409);
    assert_eq!(
        laptop.node(file.id).await.ok::<Node>().state,
        NodeState::Active
    );
    // What the device itself did after that position it knows.
    let seen = cursor(&laptop).await;
    laptop.folder(Some(folder.id), "own").await;
    laptop
        .delete(&format!("/api/v1/nodes/{}?seen={seen}", folder.id))
        .await
        .done(200);

    let other = laptop.folder(None, "e").await;
    let seen = cursor(&laptop).await;
    world.owner().folder(Some(other.id), "anonymous").await;
    laptop
        .delete(&format!("/api/v1/nodes/{}?seen={seen}", other.id))
        .await
        .failed(409);
    laptop
        .delete(&format!("/api/v1/nodes/{}?seen=garbage", other.id))
        .await
        .failed(400);
    laptop
        .delete(&format!("/api/v1/nodes/{}?seen=deadbeef.1.0", other.id))
        .await
        .failed(410);
    laptop
        .delete(&format!("/api/v1/nodes/{}", other.id))
        .await
        .done(200);
}

#[tokio::test]
async fn purging_frees_the_content_and_keeps_the_id_taken() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "d").await;
    let file = owner.file(Some(folder.id), "f", "12345").await;
    owner
        .delete(&format!("/api/v1/trash/{}", folder.id))
        .await
        .failed(409);
    owner
        .delete(&format!("/api/v1/nodes/{}", folder.id))
        .await
        .done(200);
    owner
        .delete(&format!("/api/v1/trash/{}", file.id))
        .await
        .failed(409);
    let used = async || {
        owner
            .get("/api/v1/userusage/quota-limit")
            .await
            .ok::<Quota>()
    };
    assert_eq!(
        (used().await.storage_used, used().await.file_count),
        (5 + RECORD, 1),
        "the trash counts"
    );
    let gone: Emptied = owner
        .delete(&format!("/api/v1/trash/{}", folder.id))
        .await
        .ok();
    assert_eq!(gone.deleted, 2);
    assert_eq!((used().await.storage_used, used().await.file_count), (0, 0));
    owner.node(file.id).await.failed(404);
    owner.chunk(file.id, "12345").await.failed(404);
    owner
        .delete(&format!("/api/v1/trash/{}", folder.id))
        .await
        .failed(404);
    owner
        .post(
            "/api/v1/nodes",
            &json!({"id": folder.id, "kind": "folder", "name": "d"}),
        )
        .await
        .failed(409);
    let feed: Changes = owner.get("/api/v1/changes").await.ok();
    assert!(
        feed.changes
            .iter()
            .all(|change| change.kind == ChangeKind::Deleted && change.node.is_none())
    );
}

#[tokio::test]
async fn emptying_takes_everything_in_the_trash_and_nothing_else() {
    let world = World::new();
    let owner = world.owner();
    let keep = owner.file(None, "keep", "k").await;
    for name in ["a", "b"] {
        let folder = owner.folder(None, name).await;
        owner.file(Some(folder.id), "f", name).await;
        owner
            .delete(&format!("/api/v1/nodes/{}", folder.id))
            .await
            .done(200);
    }
    let theirs = world.outsider().folder(None, "theirs").await;
    world
        .outsider()
        .delete(&format!("/api/v1/nodes/{}", theirs.id))
        .await
        .done(200);
    assert_eq!(
        owner.delete("/api/v1/trash").await.ok::<Emptied>().deleted,
        4
    );
    assert_eq!(
        owner.delete("/api/v1/trash").await.ok::<Emptied>().deleted,
        0
    );
    owner.chunk(keep.id, "k").await.done(200);
    assert_eq!(
        world
            .outsider()
            .get("/api/v1/trash")
            .await
            .ok::<Page<Node>>()
            .total_elements,
        1
    );
}

#[tokio::test]
async fn what_goes_along_with_its_folder_has_another_tag_in_each_state() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let file = owner.file(Some(top.id), "f", "x").await;
    let (path, folder) = (
        format!("/api/v1/nodes/{}", file.id),
        format!("/api/v1/nodes/{}", top.id),
    );
    let tag = async || owner.get(&path).await.header("etag").to_owned();
    let known = async |tag: &str| {
        let headers = [("if-none-match", tag)];
        owner.send(Method::GET, &path, &headers, "").await.status == 304
    };
    let active = tag().await;
    assert!(known(&active).await);
    owner.delete(&folder).await.done(200);
    assert!(!known(&active).await);
    let trashed = tag().await;
    owner
        .post(&format!("{folder}/restore"), &json!({}))
        .await
        .done(200);
    assert!(!known(&active).await && !known(&trashed).await);
    // A change that was decided on before is one of another state, although the version is the same.
    let change = async |tag: &str| {
        let body = r#"{"tags": ["t"]}"#;
        owner
            .send(Method::PUT, &path, &[("if-match", tag)], body)
            .await
    };
    change(&active).await.failed(412);
    change(&format!("\"{}\"", file.version)).await.done(200);
}
