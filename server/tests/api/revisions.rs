//! Revisions: the versions of a file's content, and restoring one.

use super::world::{Caller, Draft, RECORD, World, new_node, new_revision};
use cairn_wire::Page;
use cairn_wire::account::Quota;
use cairn_wire::nodes::{ContentSource, FileRevisions, FilesRevisions, Node, Revision};
use cairn_wire::transfer::RevisionContent;
use serde_json::{Value, json};

#[tokio::test]
async fn revisions_are_listed_newest_first() {
    let world = World::new();
    let owner = world.owner().on_device(3);
    let mut node = owner.file(None, "f", "1").await;
    for content in ["22", "333"] {
        world.app.source().advance(1_000);
        node = owner.upload(&Draft::of(&node, content)).await.ok();
    }
    let list: Page<Revision> = owner
        .get(&format!("/api/v1/nodes/{}/revisions", node.id))
        .await
        .ok();
    let seen: Vec<_> = list
        .content
        .iter()
        .map(|r| (r.number, r.size, r.current))
        .collect();
    assert_eq!(seen, [(3, 3, true), (2, 2, false), (1, 1, false)]);
    assert_eq!(list.content[0].id, node.revision_id.unwrap());
    assert_eq!(list.content[0].uploaded_by, "owner@example.com");
    assert_eq!(list.content[0].device_id.unwrap().as_bytes(), &[3; 16]);
    let second: Page<Revision> = owner
        .get(&format!(
            "/api/v1/nodes/{}/revisions?page=2&page_size=2",
            node.id
        ))
        .await
        .ok();
    assert_eq!((second.content.len(), second.total_pages), (1, 2));
    let folder = owner.folder(None, "d").await;
    owner
        .get(&format!("/api/v1/nodes/{}/revisions", folder.id))
        .await
        .failed(400);
}

#[tokio::test]
async fn restoring_makes_a_new_revision_with_the_old_content() {
    let world = World::new();
    let owner = world.owner();
    let first = owner.file(None, "f", "old content").await;
    let second: Node = owner.upload(&Draft::of(&first, "new")).await.ok();
    let old = first.revision_id.unwrap();
    let restore = async |revision| {
        owner
            .post(
                &format!("/api/v1/nodes/{}/revisions/{revision}/restore", first.id),
                &json!({}),
            )
            .await
    };
    let restored: Node = restore(old).await.ok();
    let source = ContentSource {
        node_id: first.id,
        revision_id: old,
    };
    assert_eq!(
        (restored.content_source, restored.size, restored.version),
        (Some(source), 11, 3)
    );
    assert!(![Some(old), second.revision_id].contains(&restored.revision_id));
    let head = restored.revision_id.unwrap();
    assert_eq!(
        restore(head).await.ok::<Node>(),
        restored,
        "the current one stays as it is"
    );
    let content: RevisionContent = owner
        .get(&format!(
            "/api/v1/nodes/{}/revisions/{head}/manifest",
            first.id
        ))
        .await
        .ok();
    assert_eq!(content.content_source, Some(source));
    assert_eq!(
        content.manifest.0,
        format!("manifest of {old}").into_bytes()
    );
    owner.chunk(first.id, "old content").await.done(200);
    // The next edit and another restore go on from there.
    let edited: Node = owner.upload(&Draft::of(&restored, "third")).await.ok();
    assert_eq!(edited.content_source, None);
    let again: Node = restore(head).await.ok();
    assert_eq!(
        again.content_source,
        Some(source),
        "it names where the content was sealed, not a copy of it"
    );
    assert_eq!(
        owner
            .get("/api/v1/userusage/quota-limit")
            .await
            .ok::<Quota>()
            .storage_used,
        19 + 5 * RECORD
    );
    restore(new_revision()).await.failed(404);
    owner
        .delete(&format!("/api/v1/nodes/{}", first.id))
        .await
        .done(200);
    restore(old).await.failed(409);
    let other = owner.file(None, "g", "x").await;
    owner
        .post(
            &format!("/api/v1/nodes/{}/revisions/{old}/restore", other.id),
            &json!({}),
        )
        .await
        .failed(404);
}

#[tokio::test]
async fn many_files_tell_in_one_request_what_they_were_at_a_time() {
    let world = World::new();
    let owner = world.owner();
    let (first, whole) = (
        owner.file(None, "f", "1").await,
        owner.file(None, "g", "1").await,
    );
    let folder = owner.folder(None, "d").await;
    world.app.source().advance(1_000);
    let second: Node = owner.upload(&Draft::of(&first, "22")).await.ok();
    let at = second.updated_at;
    world.app.source().advance(1_000);
    let third: Node = owner.upload(&Draft::of(&second, "333")).await.ok();
    let later = owner.file(None, "later", "x").await;
    let path = format!("/api/v1/nodes/{}", first.id);
    owner.delete(&path).await.done(200);
    let unknown = new_node();
    let nodes = [first.id, later.id, folder.id, unknown, whole.id];
    let ask = async |who: &Caller, body: Value| who.post("/api/v1/revisions/batch", &body).await;
    let found: FilesRevisions = ask(&owner, json!({"nodes": nodes, "at": at})).await.ok();
    let brief = |one: &FileRevisions| {
        let ids = one.revisions.iter().map(|one| (Some(one.id), one.current));
        (one.node_id, ids.collect::<Vec<_>>())
    };
    assert_eq!(
        found.files.iter().map(brief).collect::<Vec<_>>(),
        [
            (
                first.id,
                vec![(third.revision_id, true), (second.revision_id, false)]
            ),
            (later.id, vec![(later.revision_id, true)]),
            (folder.id, vec![]),
            (unknown, vec![]),
            (whole.id, vec![(whole.revision_id, true)]),
        ]
    );
    let list: Page<Revision> = owner
        .get(&format!("/api/v1/nodes/{}/revisions", first.id))
        .await
        .ok();
    assert_eq!(found.files[0].revisions, list.content[..2]);
    ask(&owner, json!({"nodes": vec![unknown; 1_001], "at": at}))
        .await
        .failed(400);
    // What is in other people's spaces is not there.
    let stranger = world.outsider();
    let found: FilesRevisions = ask(&stranger, json!({"nodes": [first.id], "at": at}))
        .await
        .ok();
    assert_eq!(found.files[0].revisions, []);
}
