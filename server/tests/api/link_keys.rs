//! The content keys that links hand out: nothing later is stored under them.

use super::shares::share;
use super::world::{Caller, Draft, World};
use axum::http::Method;
use cairn_wire::Sealed;
use cairn_wire::frame;
use cairn_wire::nodes::{Node, NodeResults};
use cairn_wire::shares::Share;
use cairn_wire::transfer::{CreateUpload, Upload, UploadBatch};
use serde_json::json;

/// Makes a link that carries the head of a file.
async fn hand_out(owner: &Caller, file: &Node) -> Share {
    let link = share(owner, file, json!({})).await;
    let files = json!({"files": [{"node_id": file.id, "revision_id": file.revision_id, "sealed": "c2VhbGVk"}]});
    owner
        .put(&format!("/api/v1/shares/{}/files", link.id), &files)
        .await
        .ok()
}

#[tokio::test]
async fn a_key_that_a_link_has_seals_no_later_content() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "first").await;
    let same_key = Draft::of(&file, "second");
    let announced = CreateUpload {
        base_key: Some(Sealed(same_key.key().into_bytes())),
        ..same_key.create()
    };
    // Begun while no link had the key; it is refused when it would be committed.
    let begun: Upload = owner.post("/api/v1/uploads", &announced).await.ok();
    for chunk in &begun.missing {
        owner.put_chunk(&begun, &same_key, *chunk).await.done(204);
    }
    let link = hand_out(&owner, &file).await;
    owner.complete(&begun, &same_key).await.failed(422);
    owner
        .delete(&format!("/api/v1/uploads/{}", begun.upload_id))
        .await
        .done(204);
    owner.post("/api/v1/uploads", &announced).await.failed(422);

    // The end of the link does not take the key back.
    owner
        .delete(&format!("/api/v1/shares/{}", link.id))
        .await
        .done(204);
    owner.upload(&same_key).await.failed(422);
    let now: Node = owner.get(&format!("/api/v1/nodes/{}", file.id)).await.ok();
    assert_eq!(now.revision_id, file.revision_id);

    let new_key = Draft::of(&file, "second").under("another");
    let second: Node = owner.upload(&new_key).await.ok();
    let third = Draft::of(&second, "third").under("another");
    owner.upload(&third).await.done(200);
}

#[tokio::test]
async fn a_file_of_a_batch_under_such_a_key_is_refused_alone() {
    let world = World::new();
    let owner = world.owner();
    let linked = owner.file(None, "a.txt", "first").await;
    let other = owner.file(None, "b.txt", "first").await;
    hand_out(&owner, &linked).await;
    let drafts = [Draft::of(&linked, "second"), Draft::of(&other, "second")];
    let head = UploadBatch {
        files: drafts.iter().map(Draft::batch_file).collect(),
    };
    let payload: Vec<_> = drafts.iter().flat_map(|one| one.chunks.clone()).collect();
    let body = frame::encode(&head, &payload).unwrap();
    let done: NodeResults = owner
        .send(Method::POST, "/api/v1/uploads/batch", &[], body)
        .await
        .ok();
    let statuses: Vec<u16> = done.results.iter().map(|one| one.status).collect();
    assert_eq!(statuses, [422, 200]);
}
