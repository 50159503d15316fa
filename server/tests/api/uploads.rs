//! Resumable uploads, chunk by chunk.

use super::world::{Draft, World, digest, id_of, new_node, new_revision};
use axum::http::Method;
use cairn_wire::Timestamp;
use cairn_wire::nodes::{Node, NodeState};
use cairn_wire::transfer::{MAX_SEALED_CHUNK, RevisionContent, Upload};
use serde_json::json;

#[tokio::test]
async fn a_file_is_there_once_its_upload_is_complete() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "d").await;
    let draft = Draft::new("f.txt", "")
        .inside(Some(folder.id))
        .chunks(&["one", "two", "one"]);
    let begun = owner.post("/api/v1/uploads", &draft.create()).await;
    begun.done(201);
    let upload: Upload = begun.ok();
    assert_eq!(
        upload.missing,
        [id_of(b"one"), id_of(b"two")],
        "each once, in file order"
    );
    assert_eq!(upload.chunk_url, "http://cairn.test/api/v1");
    assert_eq!(
        upload.expires_at,
        Timestamp(1_767_225_600_000 + 7 * 24 * 3600 * 1000)
    );
    owner.node(draft.node).await.failed(404);
    owner.complete(&upload, &draft).await.failed(400);
    owner
        .put_chunk(&upload, &draft, id_of(b"two"))
        .await
        .done(204);
    owner
        .put_chunk(&upload, &draft, id_of(b"two"))
        .await
        .done(204);
    let path = format!("/api/v1/uploads/{}", upload.upload_id);
    assert_eq!(
        owner.get(&path).await.ok::<Upload>().missing,
        [id_of(b"one")]
    );
    assert!(
        owner
            .complete(&upload, &draft)
            .await
            .failed(400)
            .contains(&id_of(b"one").to_string())
    );
    owner
        .put_chunk(&upload, &draft, id_of(b"one"))
        .await
        .done(204);
    let done = owner.complete(&upload, &draft).await;
    let node: Node = done.ok();
    assert_eq!(done.header("etag"), format!("\"1.{}\"", node.seq));
    assert_eq!(
        (node.id, node.revision_id, node.size),
        (draft.node, Some(draft.revision), 9)
    );
    assert_eq!(
        (node.parent_id, node.name.as_str()),
        (Some(folder.id), "f.txt")
    );
    assert_eq!(
        owner.complete(&upload, &draft).await.ok::<Node>(),
        node,
        "repeating it answers the same"
    );
    assert!(owner.get(&path).await.ok::<Upload>().missing.is_empty());
    let content: RevisionContent = owner
        .get(&format!(
            "/api/v1/nodes/{}/revisions/{}/manifest",
            node.id, draft.revision
        ))
        .await
        .ok();
    assert_eq!(content.manifest, draft.complete().manifest);
    assert_eq!(
        content
            .chunks
            .iter()
            .map(|chunk| chunk.id)
            .collect::<Vec<_>>(),
        [id_of(b"one"), id_of(b"two")]
    );
}

#[tokio::test]
async fn the_same_request_finds_the_same_upload_before_and_after() {
    let world = World::new();
    let owner = world.owner();
    let draft = Draft::new("f", "x");
    let first: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    let second: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    assert_eq!(first, second);
    owner
        .post(
            "/api/v1/uploads",
            &draft.clone().chunks(&["other"]).create(),
        )
        .await
        .failed(409);
    owner.put_chunk(&first, &draft, id_of(b"x")).await.done(204);
    let node: Node = owner.complete(&first, &draft).await.ok();
    let third: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    assert!(third.missing.is_empty());
    assert_eq!(owner.complete(&third, &draft).await.ok::<Node>(), node);
}

#[tokio::test]
async fn a_new_revision_needs_only_the_chunks_that_its_node_lacks() {
    let world = World::new();
    let owner = world.owner();
    let draft = Draft::new("f", "").chunks(&["one", "two"]);
    let first: Node = owner.upload(&draft).await.ok();
    let edit = Draft::of(&first, "").chunks(&["one", "new"]);
    let upload: Upload = owner.post("/api/v1/uploads", &edit.create()).await.ok();
    assert_eq!(upload.missing, [id_of(b"new")]);
    owner
        .put_chunk(&upload, &edit, id_of(b"new"))
        .await
        .done(204);
    let second: Node = owner.complete(&upload, &edit).await.ok();
    assert_eq!(
        (second.version, second.revision_id),
        (2, Some(edit.revision))
    );
    // Another node gains nothing from it: chunks are sealed to their node.
    let other: Upload = owner
        .post("/api/v1/uploads", &Draft::new("g", "one").create())
        .await
        .ok();
    assert_eq!(other.missing, [id_of(b"one")]);
}

#[tokio::test]
async fn the_base_has_to_be_the_head() {
    let world = World::new();
    let owner = world.owner();
    let node = owner.file(None, "f", "1").await;
    let head = format!("\"{}\"", node.revision_id.unwrap());
    let refused = owner
        .upload(&Draft {
            base: Some(new_revision()),
            ..Draft::of(&node, "2")
        })
        .await;
    refused.failed(409);
    assert_eq!(refused.header("etag"), head);
    let refused = owner
        .upload(&Draft {
            base: None,
            ..Draft::of(&node, "2")
        })
        .await;
    refused.failed(409);
    assert_eq!(refused.header("etag"), head);
    owner
        .upload(&Draft {
            node: new_node(),
            ..Draft::of(&node, "2")
        })
        .await
        .failed(404);
    // Overtaken between the beginning and the end.
    let slow = Draft::of(&node, "slow");
    let upload: Upload = owner.post("/api/v1/uploads", &slow.create()).await.ok();
    owner
        .put_chunk(&upload, &slow, id_of(b"slow"))
        .await
        .done(204);
    let fast: Node = owner.upload(&Draft::of(&node, "fast")).await.ok();
    let refused = owner.complete(&upload, &slow).await;
    refused.failed(409);
    assert_eq!(
        refused.header("etag"),
        format!("\"{}\"", fast.revision_id.unwrap())
    );
    assert_eq!(
        owner.node(node.id).await.ok::<Node>(),
        fast,
        "nothing has changed"
    );
}

#[tokio::test]
async fn a_revision_is_for_the_version_that_its_seal_was_made_for() {
    let world = World::new();
    let owner = world.owner();
    let node = owner.file(None, "f", "1").await;
    let draft = Draft {
        version: Some(node.version),
        ..Draft::of(&node, "2")
    };
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    owner
        .put_chunk(&upload, &draft, id_of(b"2"))
        .await
        .done(204);
    let path = format!("/api/v1/nodes/{}", node.id);
    let changed: Node = owner.put(&path, &json!({"executable": true})).await.ok();
    owner.complete(&upload, &draft).await.failed(412);
    assert_eq!(owner.node(node.id).await.ok::<Node>(), changed);
    let again = Draft {
        version: Some(changed.version),
        ..draft.clone()
    };
    let done: Node = owner.complete(&upload, &again).await.ok();
    assert_eq!(done.revision_id, Some(draft.revision));
    // The revision is there: a repeat makes nothing, whatever it was made for.
    let repeated: Node = owner.complete(&upload, &draft).await.ok();
    assert_eq!(repeated, done);
}

#[tokio::test]
async fn a_new_file_needs_a_free_name_in_an_active_folder() {
    let world = World::new();
    let owner = world.owner();
    owner.file(None, "taken", "1").await;
    owner.upload(&Draft::new("taken", "2")).await.failed(409);
    owner.upload(&Draft::new("a/b", "2")).await.failed(400);
    owner
        .upload(&Draft {
            name: None,
            ..Draft::new("", "2")
        })
        .await
        .failed(400);
    owner
        .upload(&Draft::new("f", "2").inside(Some(new_node())))
        .await
        .failed(404);
    // Taken while the chunks were on their way.
    let slow = Draft::new("contested", "slow");
    let upload: Upload = owner.post("/api/v1/uploads", &slow.create()).await.ok();
    owner
        .put_chunk(&upload, &slow, id_of(b"slow"))
        .await
        .done(204);
    owner.folder(None, "contested").await;
    owner.complete(&upload, &slow).await.failed(409);
    owner.node(slow.node).await.failed(404);
}

#[tokio::test]
async fn ids_of_others_are_of_no_use() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    let node = owner.file(None, "f", "1").await;
    outsider
        .upload(&Draft {
            node: node.id,
            ..Draft::new("x", "2")
        })
        .await
        .failed(409);
    outsider.upload(&Draft::of(&node, "2")).await.failed(403);
    outsider
        .upload(&Draft {
            revision: node.revision_id.unwrap(),
            ..Draft::new("x", "2")
        })
        .await
        .failed(409);
    let draft = Draft::new("g", "x");
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    outsider
        .get(&format!("/api/v1/uploads/{}", upload.upload_id))
        .await
        .failed(403);
    outsider
        .put_chunk(&upload, &draft, id_of(b"x"))
        .await
        .failed(403);
    owner
        .put_chunk(&upload, &draft, id_of(b"x"))
        .await
        .done(204);
    outsider
        .put_chunk(&upload, &draft, id_of(b"x"))
        .await
        .failed(403);
    outsider.complete(&upload, &draft).await.failed(403);
    outsider
        .delete(&format!("/api/v1/uploads/{}", upload.upload_id))
        .await
        .failed(403);
    owner.complete(&upload, &draft).await.done(200);
}

#[tokio::test]
async fn a_chunk_is_what_was_announced_or_it_is_refused() {
    let world = World::new();
    let owner = world.owner();
    let draft = Draft::new("f", "abc");
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    let put = async |chunk: &str, digest: &str, bytes: Vec<u8>| {
        let path = format!("/api/v1/uploads/{}/chunks/{chunk}", upload.upload_id);
        owner
            .send(Method::PUT, &path, &[("content-digest", digest)], bytes)
            .await
    };
    let id = id_of(b"abc").to_string();
    put(&id, &digest(b"abd"), b"abc".to_vec()).await.failed(400);
    put(&id, "sha-256=abc", b"abc".to_vec()).await.failed(400);
    put(&id, &digest(b"ab"), b"ab".to_vec()).await.failed(400);
    put(
        &id_of(b"other").to_string(),
        &digest(b"abc"),
        b"abc".to_vec(),
    )
    .await
    .failed(404);
    put("ABC", &digest(b"abc"), b"abc".to_vec())
        .await
        .failed(404);
    put(&id, &digest(b"abc"), vec![0; MAX_SEALED_CHUNK + 1])
        .await
        .failed(413);
    let now: Upload = owner
        .get(&format!("/api/v1/uploads/{}", upload.upload_id))
        .await
        .ok();
    assert_eq!(now.missing, upload.missing, "nothing of it was stored");
    put(&id, &digest(b"abc"), b"abc".to_vec()).await.done(204);
}

#[tokio::test]
async fn a_damaged_chunk_can_be_sent_again_until_a_revision_uses_it() {
    let world = World::new();
    let owner = world.owner();
    let draft = Draft::new("f", "good");
    let next = Draft::new("f", "good");
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    let put = async |upload: &Upload, bytes: &'static str| {
        let id = id_of(b"good");
        let path = format!("/api/v1/uploads/{}/chunks/{id}", upload.upload_id);
        owner.send(Method::PUT, &path, &[], bytes).await
    };
    put(&upload, "bxxd").await.done(204);
    put(&upload, "good").await.done(204);
    let node: Node = owner.complete(&upload, &draft).await.ok();
    assert_eq!(owner.chunk(node.id, "good").await.body, "good");
    // Nothing takes the place of what a revision is made of; the same bytes are no change.
    let next = Draft {
        node: node.id,
        base: node.revision_id,
        ..next
    };
    let upload: Upload = owner.post("/api/v1/uploads", &next.create()).await.ok();
    put(&upload, "good").await.done(204);
    put(&upload, "bxxd").await.failed(409);
    assert_eq!(owner.chunk(node.id, "good").await.body, "good");
}

#[tokio::test]
async fn what_can_not_be_a_file_is_refused_at_the_beginning() {
    let world = World::new();
    let owner = world.owner();
    let with = |size: u64, chunks: serde_json::Value| json!({"node_id": new_node(), "revision_id": new_revision(), "name": "f", "size": size, "chunks": chunks});
    let id = id_of(b"x");
    owner
        .post("/api/v1/uploads", &with(5, json!([])))
        .await
        .failed(400);
    owner
        .post("/api/v1/uploads", &with(5, json!([{"id": id, "size": 0}])))
        .await
        .failed(400);
    owner
        .post(
            "/api/v1/uploads",
            &with(5, json!([{"id": id, "size": MAX_SEALED_CHUNK + 1}])),
        )
        .await
        .failed(400);
    owner
        .post(
            "/api/v1/uploads",
            &with(5, json!([{"id": id, "size": 1}, {"id": id, "size": 2}])),
        )
        .await
        .failed(400);
    owner
        .post(
            "/api/v1/uploads",
            &with(u64::MAX, json!([{"id": id, "size": 1}])),
        )
        .await
        .failed(400);
    owner
        .post(
            "/api/v1/uploads",
            &with(5, json!([{"id": "xyz", "size": 1}])),
        )
        .await
        .failed(400);
    let folder = owner.folder(None, "d").await;
    let into_folder =
        json!({"node_id": folder.id, "revision_id": new_revision(), "size": 0, "chunks": []});
    owner
        .post("/api/v1/uploads", &into_folder)
        .await
        .failed(400);
}

#[tokio::test]
async fn an_empty_file_needs_no_chunk() {
    let world = World::new();
    let owner = world.owner();
    let node: Node = owner
        .upload(&Draft::new("empty", "").chunks(&[]))
        .await
        .ok();
    assert_eq!(node.size, 0);
    let edited: Node = owner.upload(&Draft::of(&node, "more")).await.ok();
    assert_eq!(edited.size, 4);
    owner
        .upload(&Draft::of(&edited, "").chunks(&[]))
        .await
        .done(200);
}

#[tokio::test]
async fn an_upload_that_is_given_up_leaves_nothing() {
    let world = World::new();
    let owner = world.owner();
    let draft = Draft::new("f", "").chunks(&["shared", "own"]);
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    for chunk in &upload.missing {
        owner.put_chunk(&upload, &draft, *chunk).await.done(204);
    }
    // Another try for the same node still wants one of them.
    let other = Draft {
        revision: new_revision(),
        ..draft.clone().chunks(&["shared"])
    };
    let kept: Upload = owner.post("/api/v1/uploads", &other.create()).await.ok();
    let path = format!("/api/v1/uploads/{}", upload.upload_id);
    owner.delete(&path).await.done(204);
    owner.delete(&path).await.failed(404);
    owner.get(&path).await.failed(404);
    owner
        .put_chunk(&upload, &draft, id_of(b"own"))
        .await
        .failed(404);
    owner.complete(&upload, &draft).await.failed(404);
    assert!(
        owner
            .get(&format!("/api/v1/uploads/{}", kept.upload_id))
            .await
            .ok::<Upload>()
            .missing
            .is_empty()
    );
    let again: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    assert_eq!(again.missing, [id_of(b"own")]);
}

#[tokio::test]
async fn a_file_in_the_trash_takes_no_new_content() {
    let world = World::new();
    let owner = world.owner();
    let node = owner.file(None, "f", "1").await;
    let late = Draft::of(&node, "2");
    let upload: Upload = owner.post("/api/v1/uploads", &late.create()).await.ok();
    owner.put_chunk(&upload, &late, id_of(b"2")).await.done(204);
    owner
        .delete(&format!("/api/v1/nodes/{}", node.id))
        .await
        .done(200);
    let refused = owner.complete(&upload, &late).await;
    refused.failed(409);
    assert_eq!(refused.header("etag"), "", "the head has not moved");
    owner.upload(&Draft::of(&node, "3")).await.failed(409);
    assert_eq!(
        owner.node(node.id).await.ok::<Node>().state,
        NodeState::Trashed
    );
    owner
        .delete(&format!("/api/v1/trash/{}", node.id))
        .await
        .done(200);
    owner.complete(&upload, &late).await.failed(404);
    owner.upload(&Draft::of(&node, "4")).await.failed(404);
    owner
        .upload(&Draft {
            node: node.id,
            ..Draft::new("f", "5")
        })
        .await
        .failed(409);
}

#[tokio::test]
async fn a_size_that_the_announced_chunks_can_not_hold_is_refused() {
    let world = World::new();
    let owner = world.owner();
    let with = |size: u64, chunks: &[&str]| {
        let mut create = Draft::new("a", "").chunks(chunks).create();
        create.size = size;
        create
    };
    const MIB: u64 = 1024 * 1024;
    for (size, chunks) in [
        (i64::MAX.unsigned_abs(), ["x"].as_slice()),
        (5 * MIB + 1, &["x"]),
        (10 * MIB + 1, &["x", "y"]),
    ] {
        let refused = owner.post("/api/v1/uploads", &with(size, chunks)).await;
        let message = refused.failed(400);
        assert!(message.contains("`size`"), "{message}");
    }
    // A list names a chunk as often as it is in the file: a long run of one byte is a few objects.
    let list = "l".repeat(16_384 * 68);
    for (size, chunks) in [
        (4 * MIB, ["x"].as_slice()),
        (8 * MIB, &["x", "y"]),
        (16_384 * 4 * MIB, &["x", &list]),
    ] {
        let taken = owner.post("/api/v1/uploads", &with(size, chunks)).await;
        taken.done(201);
    }
}
