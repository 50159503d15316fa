//! The numbers of a share link and of its log: an access is an opening in both.

use super::shares::share;
use super::world::World;
use axum::http::Method;
use cairn_wire::shares::{Audit, OpenedShare, Share};
use serde_json::json;

#[tokio::test]
async fn a_link_and_its_log_count_the_same_accesses_and_downloads() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(
        &owner,
        &file,
        json!({"allowed_emails": ["ada@example.com"]}),
    )
    .await;
    let files = json!({"files": [{"node_id": file.id, "revision_id": file.revision_id, "sealed": "c2VhbGVk"}]});
    let own = format!("/api/v1/shares/{}", link.id);
    owner.put(&format!("{own}/files"), &files).await.done(200);

    let public = format!("/api/v1/public/shares/{}", link.short_code);
    let open = format!("{public}/open");
    let eve = json!({"email": "eve@example.com"});
    stranger.post(&open, &eve).await.failed(403);
    let ada = json!({"email": "ada@example.com"});
    stranger.post(&open, &ada).await.done(200);
    let opened: OpenedShare = stranger.post(&open, &ada).await.ok();
    let begin = format!("{public}/downloads");
    let access = [("x-share-access", opened.access.as_str())];
    stranger
        .send(Method::POST, &begin, &access, "{}")
        .await
        .done(200);

    let link: Share = owner.get(&own).await.ok();
    let audit: Audit = owner.get(&format!("{own}/audit")).await.ok();
    let sums = audit.summary.unwrap();
    assert_eq!((link.access_count, link.download_count), (2, 1));
    assert_eq!(
        (sums.total_accesses, sums.total_downloads, sums.total_denied),
        (2, 1, 1)
    );
    assert_eq!(sums.accesses_by_day["2026-01-01"], 2);
    assert_eq!(sums.unique_visitors_by_email, 1, "who got in");
    assert_eq!(audit.page.total_elements, 4, "the log has everything");
}
