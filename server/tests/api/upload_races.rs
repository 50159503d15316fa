//! Several clients that upload at once, on several threads, to a disk, where reads and writes really run side by side.

use super::world::{Draft, World};
use cairn_wire::Page;
use cairn_wire::nodes::{Node, Revision};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_writers_on_one_base_exactly_one_wins() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let node = owner.file(None, "f", "start").await;
    let writers: Vec<_> = (0..16)
        .map(|number| {
            let (owner, draft) = (owner.clone(), Draft::of(&node, &format!("writer {number}")));
            tokio::spawn(async move { (draft.revision, owner.upload(&draft).await) })
        })
        .collect();
    let mut winners = Vec::new();
    for writer in writers {
        let (revision, response) = writer.await.unwrap();
        if response.status.is_success() {
            winners.push(revision);
        } else {
            response.failed(409);
            assert!(!response.header("etag").is_empty());
        }
    }
    let head: Node = owner.node(node.id).await.ok();
    assert_eq!(winners, [head.revision_id.unwrap()]);
    let revisions: Page<Revision> = owner
        .get(&format!("/api/v1/nodes/{}/revisions", node.id))
        .await
        .ok();
    assert_eq!(revisions.total_elements, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_creators_of_one_name_exactly_one_wins() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let creators: Vec<_> = (0..16)
        .map(|number| {
            let (owner, draft) = (
                owner.clone(),
                Draft::new("same", &format!("creator {number}")),
            );
            tokio::spawn(async move { owner.upload(&draft).await.status })
        })
        .collect();
    let mut won = 0;
    for creator in creators {
        let status = creator.await.unwrap();
        won += u32::from(status.is_success());
        assert!(status.is_success() || status.as_u16() == 409, "{status}");
    }
    assert_eq!(won, 1);
    assert_eq!(
        owner
            .get("/api/v1/nodes")
            .await
            .ok::<Page<Node>>()
            .total_elements,
        1
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_chunk_from_many_sides_is_stored_once() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let owner = world.owner();
    let draft = Draft::new("f", "the same bytes");
    let upload: cairn_wire::transfer::Upload =
        owner.post("/api/v1/uploads", &draft.create()).await.ok();
    let puts: Vec<_> = (0..16)
        .map(|_| {
            let (owner, draft, upload) = (owner.clone(), draft.clone(), upload.clone());
            tokio::spawn(async move { owner.put_chunk(&upload, &draft, upload.missing[0]).await })
        })
        .collect();
    for put in puts {
        put.await.unwrap().done(204);
    }
    owner.complete(&upload, &draft).await.done(200);
    assert_eq!(
        owner.chunk(draft.node, "the same bytes").await.body,
        "the same bytes"
    );
    let objects = walk(&dir.path().join("objects"));
    assert_eq!(objects, 1, "what lost the race was deleted");
}

fn walk(dir: &std::path::Path) -> usize {
    std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| if path.is_dir() { walk(&path) } else { 1 })
        .sum()
}
