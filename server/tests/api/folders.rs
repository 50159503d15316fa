//! Missing folders of paths in one call, favorites, descriptions, labels and tags.

use super::world::{World, new_node};
use cairn_wire::nodes::{CreatedFolders, FolderSizes, Node};
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
async fn a_folder_s_size_is_that_of_all_files_below_it() {
    let world = World::new();
    let owner = world.owner();
    let photos = owner.folder(None, "photos").await;
    let deep = owner.folder(Some(photos.id), "2026").await;
    let empty = owner.folder(None, "empty").await;
    owner.file(None, "beside", "not counted").await;
    owner.file(Some(photos.id), "a", "12").await;
    let file = owner.file(Some(deep.id), "b", "12345").await;
    let trashed = owner.file(Some(deep.id), "c", "1234567").await;
    owner
        .delete(&format!("/api/v1/nodes/{}", trashed.id))
        .await
        .done(200);
    let sizes = async |query: String| {
        let path = format!("/api/v1/nodes/folder-sizes{query}");
        owner.get(&path).await.ok::<FolderSizes>()
    };
    let of = |found: &FolderSizes, node: &Node| {
        let found = found.folders.iter().find(|one| one.node_id == node.id);
        found.map(|one| (one.files, one.bytes))
    };
    let top = sizes(String::new()).await;
    assert!(top.complete && top.folders.len() == 2, "{top:?}");
    assert_eq!(of(&top, &photos), Some((2, 7)));
    assert_eq!(of(&top, &empty), Some((0, 0)));
    let below = sizes(format!("?parent_id={}", photos.id)).await;
    assert_eq!(of(&below, &deep), Some((1, 5)));
    let none = sizes(format!("?parent_id={}", empty.id)).await;
    assert!(none.complete && none.folders.is_empty(), "{none:?}");
    for (id, status) in [(file.id, 400), (new_node(), 404)] {
        let path = format!("/api/v1/nodes/folder-sizes?parent_id={id}");
        owner.get(&path).await.failed(status);
    }
    let path = format!("/api/v1/nodes/folder-sizes?parent_id={}", photos.id);
    world.outsider().get(&path).await.failed(403);
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
