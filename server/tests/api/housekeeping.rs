//! Background deletion: uploads, chunks and stored objects that nothing needs any more.

use super::world::{Draft, World, id_of};
use axum::http::Method;
use cairn_wire::frame;
use cairn_wire::transfer::{Upload, UploadBatch};
use serde_json::json;
use std::path::Path;

fn objects(data: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![data.join("objects")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found
}

#[tokio::test]
async fn an_upload_can_be_resumed_for_a_week_and_then_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let draft = Draft::new("f", "").chunks(&["one", "two"]);
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    owner
        .put_chunk(&upload, &draft, id_of(b"one"))
        .await
        .done(204);
    assert_eq!(objects(dir.path()).len(), 1);
    let week = 7 * 24 * 3600 * 1000;
    owner
        .post("/_dev/clock/advance", &json!({"ms": week - 1}))
        .await
        .done(200);
    let path = format!("/api/v1/uploads/{}", upload.upload_id);
    assert_eq!(
        owner.get(&path).await.ok::<Upload>().missing,
        [id_of(b"two")]
    );
    owner
        .post("/_dev/clock/advance", &json!({"ms": 1}))
        .await
        .done(200);
    owner.get(&path).await.failed(404);
    owner
        .put_chunk(&upload, &draft, id_of(b"two"))
        .await
        .failed(404);
    assert!(objects(dir.path()).is_empty());
    owner.upload(&draft).await.done(200);
}

#[tokio::test]
async fn purging_deletes_objects_from_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let file = owner.file(None, "f", "1").await;
    owner.upload(&Draft::of(&file, "2")).await.done(200);
    assert_eq!(objects(dir.path()).len(), 2);
    owner
        .delete(&format!("/api/v1/nodes/{}", file.id))
        .await
        .done(200);
    owner.delete("/api/v1/trash").await.done(200);
    assert!(objects(dir.path()).is_empty());
}

#[tokio::test]
async fn objects_without_a_chunk_are_swept_up() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let file = owner.file(None, "f", "content").await;
    let orphan = dir.path().join("objects/zz");
    std::fs::create_dir_all(&orphan).unwrap();
    std::fs::write(orphan.join("orphan"), "left by a crash").unwrap();
    assert_eq!(world.app.sweep_objects(0).await.unwrap(), 0, "too young");
    assert_eq!(world.app.sweep_objects(i64::MAX).await.unwrap(), 1);
    assert!(!orphan.join("orphan").exists());
    owner.chunk(file.id, "content").await.done(200);
}

fn bytes(data: &Path) -> u64 {
    let files = objects(data);
    files
        .iter()
        .map(|file| file.metadata().unwrap().len())
        .sum()
}

#[tokio::test]
async fn an_object_that_is_mostly_unreferenced_is_rewritten() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let content = |n: usize| format!("content {n}").repeat(100);
    let drafts: Vec<Draft> = (0..10)
        .map(|n| Draft::new(&format!("f{n}"), &content(n)))
        .collect();
    let head = UploadBatch {
        files: drafts.iter().map(Draft::batch_file).collect(),
    };
    let payload: Vec<_> = drafts.iter().map(|draft| draft.chunks[0].clone()).collect();
    let frame = frame::encode(&head, &payload).unwrap();
    let path = "/api/v1/uploads/batch";
    owner.send(Method::POST, path, &[], frame).await.done(200);
    let purge = async |from: usize, to: usize| {
        for draft in &drafts[from..to] {
            let path = format!("/api/v1/nodes/{}", draft.node);
            owner.delete(&path).await.done(200);
        }
        owner.delete("/api/v1/trash").await.done(200);
    };
    purge(0, 4).await;
    assert_eq!(
        world.app.compact_objects(0).await.unwrap(),
        0,
        "most of it is needed"
    );
    assert_eq!(bytes(dir.path()), 9000);
    purge(4, 8).await;
    assert_eq!(
        world.app.compact_objects(10_000).await.unwrap(),
        0,
        "it is small"
    );
    assert_eq!(world.app.compact_objects(0).await.unwrap(), 1);
    // The old object stays for those who read it, until the next sweep.
    assert_eq!(bytes(dir.path()), 9000 + 1800);
    assert_eq!(world.app.sweep_objects(i64::MAX).await.unwrap(), 1);
    assert_eq!(bytes(dir.path()), 1800);
    assert_eq!(world.app.compact_objects(0).await.unwrap(), 0);
    for n in [8, 9] {
        assert_eq!(
            owner.chunk(drafts[n].node, &content(n)).await.body,
            content(n)
        );
    }
    purge(8, 10).await;
    assert!(objects(dir.path()).is_empty());
}

#[tokio::test]
async fn an_object_that_can_not_be_read_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let (kept, gone) = (Draft::new("a", "1"), Draft::new("b", "22"));
    let head = UploadBatch {
        files: vec![kept.batch_file(), gone.batch_file()],
    };
    let frame = frame::encode(&head, &[kept.chunks[0].clone(), gone.chunks[0].clone()]).unwrap();
    let path = "/api/v1/uploads/batch";
    owner.send(Method::POST, path, &[], frame).await.done(200);
    let path = format!("/api/v1/nodes/{}", gone.node);
    owner.delete(&path).await.done(200);
    owner.delete("/api/v1/trash").await.done(200);
    let object = objects(dir.path()).remove(0);
    let whole = std::fs::read(&object).unwrap();
    // The chunk that is needed lies beyond the end of what is there.
    std::fs::write(&object, "").unwrap();
    assert_eq!(world.app.compact_objects(0).await.unwrap(), 0);
    std::fs::write(&object, whole).unwrap();
    assert_eq!(world.app.compact_objects(0).await.unwrap(), 1);
    assert_eq!(owner.chunk(kept.node, "1").await.body, "1");
}
