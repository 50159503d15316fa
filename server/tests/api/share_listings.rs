//! Listings that share links carry count for the storage of the space that is shared.

use super::quota::quota;
use super::shares::share;
use super::visitors::put_file;
use super::world::{Caller, RECORD, TestResponse, World};
use cairn_wire::Sealed;
use cairn_wire::nodes::Node;
use cairn_wire::shares::{MAX_LISTING, PutSharedFiles, Share, SharedFile};
use serde_json::json;

async fn used(who: &Caller) -> u64 {
    quota(who).await.storage_used
}

/// Puts a listing of so many bytes into a link, in the place of what it carried.
async fn put(who: &Caller, link: &Share, file: &Node, bytes: usize) -> TestResponse {
    let put = PutSharedFiles {
        files: vec![SharedFile {
            node_id: file.id,
            revision_id: file.revision_id.unwrap(),
            sealed: Sealed(vec![7; bytes]),
        }],
        replace: true,
    };
    who.put(&format!("/api/v1/shares/{}/files", link.id), &put)
        .await
}

#[tokio::test]
async fn what_a_link_carries_counts_until_the_link_is_deleted() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a", "12345").await;
    let alone = 5 + RECORD;
    let link = share(&owner, &file, json!({})).await;
    put(&owner, &link, &file, 1_000).await.done(200);
    assert_eq!(used(&owner).await, alone + 1_000);
    put(&owner, &link, &file, 400).await.done(200);
    assert_eq!(used(&owner).await, alone + 400);
    put_file(&owner, &link, &file).await.done(200);
    assert_eq!(
        used(&owner).await,
        alone + 6,
        "in the place of what was there"
    );
    let other = share(&owner, &file, json!({})).await;
    put(&owner, &other, &file, 100).await.done(200);
    assert_eq!(used(&owner).await, alone + 106);
    owner
        .delete(&format!("/api/v1/shares/{}", link.id))
        .await
        .done(204);
    assert_eq!(used(&owner).await, alone + 100);
    let path = format!("/api/v1/nodes/{}", file.id);
    owner.delete(&path).await.done(200);
    let path = format!("/api/v1/trash/{}", file.id);
    owner.delete(&path).await.done(200);
    assert_eq!(used(&owner).await, 0);
}

#[tokio::test]
async fn what_a_link_carries_has_to_fit_into_the_storage() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a", "12345").await;
    let link = share(&owner, &file, json!({})).await;
    let limit = json!({"email": "owner@example.com", "storage_limit": 500});
    world.nobody().post("/_dev/quota", &limit).await.done(200);
    put(&owner, &link, &file, 1_000).await.failed(507);
    assert_eq!(used(&owner).await, 5 + RECORD);
    put(&owner, &link, &file, 300).await.done(200);
    // Less than before fits, even where the storage is too full.
    let limit = json!({"email": "owner@example.com", "storage_limit": 10});
    world.nobody().post("/_dev/quota", &limit).await.done(200);
    put(&owner, &link, &file, 299).await.done(200);
    put(&owner, &link, &file, 300).await.failed(507);
}

#[tokio::test]
async fn what_a_link_carries_of_a_file_has_a_bound() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a", "12345").await;
    let link = share(&owner, &file, json!({})).await;
    let refused = put(&owner, &link, &file, MAX_LISTING + 3).await.failed(400);
    assert!(refused.contains("sealed"), "{refused}");
    put(&owner, &link, &file, MAX_LISTING + 1).await.failed(400);
    put(&owner, &link, &file, MAX_LISTING).await.done(200);
}
