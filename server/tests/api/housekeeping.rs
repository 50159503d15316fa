//! Things that go away by themselves.

use super::world::{Draft, World, id_of};
use cairn_server::Options;
use cairn_wire::transfer::Upload;
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
    let world = World::with(Options {
        data: dir.path().to_owned(),
        ..Options::default()
    });
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
    let world = World::with(Options {
        data: dir.path().to_owned(),
        ..Options::default()
    });
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
    let world = World::with(Options {
        data: dir.path().to_owned(),
        ..Options::default()
    });
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
