//! Missing folders of paths in one call, favorites, descriptions, labels and tags.

use super::world::{World, new_node};
use cairn_wire::nodes::{CreatedFolders, Node};
use serde_json::json;

#[tokio::test]
async fn a_path_is_made_once_and_reused() {
    let world = World::new();
    let owner = world.owner();
    let make = async |path: &str, parent| {
        owner
            .post(
                "/api/v1/nodes/folders",
                &json!({"path": path, "parent_id": parent}),
            )
            .await
    };
    let response = make("a/b/c", None).await;
    response.done(201);
    let made: CreatedFolders = response.json();
    assert_eq!((made.folders.len(), made.created.len()), (3, 3));
    assert_eq!(made.leaf_id, made.folders[2].id);
    assert_eq!(made.folders[2].parent_id, Some(made.folders[1].id));
    let again: CreatedFolders = make("/a//b/d/", None).await.ok();
    assert_eq!(again.folders[1].id, made.folders[1].id);
    assert_eq!(again.created, [again.leaf_id]);
    let below: CreatedFolders = make("x", Some(made.leaf_id)).await.ok();
    assert_eq!(below.folders[0].parent_id, Some(made.leaf_id));
    owner.file(None, "file", "x").await;
    make("new/file", None).await.done(201);
    make("file/new", None).await.failed(409);
    make("bad/\u{0}", None).await.failed(400);
    make("", None).await.failed(400);
    make(&["d"; 21].join("/"), None).await.failed(400);
    make(&["d"; 20].join("/"), None).await.done(201);
    make("x", Some(new_node())).await.failed(404);
    world
        .outsider()
        .post(
            "/api/v1/nodes/folders",
            &json!({"path": "x", "parent_id": made.leaf_id}),
        )
        .await
        .failed(403);
}

#[tokio::test]
async fn a_path_that_fails_leaves_nothing() {
    let world = World::new();
    let owner = world.owner();
    let first: CreatedFolders = owner
        .post("/api/v1/nodes/folders", &json!({"path": "a"}))
        .await
        .ok();
    owner.file(Some(first.leaf_id), "taken", "x").await;
    owner
        .post("/api/v1/nodes/folders", &json!({"path": "a/taken/c"}))
        .await
        .failed(409);
    let below: cairn_wire::Page<Node> = owner
        .get(&format!("/api/v1/nodes?parent_id={}", first.leaf_id))
        .await
        .ok();
    assert_eq!(below.total_elements, 1);
}

#[tokio::test]
async fn a_node_carries_what_people_say_about_it() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let path = format!("/api/v1/nodes/{}", file.id);
    let favorite = format!("{path}/favorite");
    assert!(owner.put(&favorite, &json!({})).await.ok::<Node>().favorite);
    let twice: Node = owner.put(&favorite, &json!({})).await.ok();
    assert_eq!(
        (twice.favorite, twice.version),
        (true, 2),
        "said twice, done once"
    );
    assert!(!owner.delete(&favorite).await.ok::<Node>().favorite);
    world
        .outsider()
        .put(&favorite, &json!({}))
        .await
        .failed(403);
    let described: Node = owner
        .put(
            &path,
            &json!({"description": "what it is", "labels": {"k": "v"}, "tags": ["t", "u"]}),
        )
        .await
        .ok();
    assert_eq!(
        (
            described.description.as_str(),
            described.labels["k"].as_str()
        ),
        ("what it is", "v")
    );
    assert_eq!(described.tags, ["t", "u"]);
    let cleared: Node = owner.put(&path, &json!({"description": ""})).await.ok();
    assert_eq!((cleared.description.as_str(), cleared.tags.len()), ("", 2));
}
