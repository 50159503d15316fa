//! The numbers of a share link and of its log: an access is an opening in both.

use super::shares::share;
use super::visitors::{begin, open, put_file};
use super::world::World;
use cairn_wire::shares::{Audit, OpenedShare, Share};
use serde_json::json;

#[tokio::test]
async fn a_link_and_its_log_count_the_same_accesses_and_downloads() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let only_ada = json!({"allowed_emails": ["ada@example.com"]});
    let link = share(&owner, &file, only_ada).await;
    put_file(&owner, &link, &file).await.done(200);
    let eve = json!({"email": "eve@example.com"});
    open(&stranger, &link, eve).await.failed(403);
    let ada = json!({"email": "ada@example.com"});
    open(&stranger, &link, ada.clone()).await.done(200);
    let opened: OpenedShare = open(&stranger, &link, ada).await.ok();
    begin(&stranger, &link, &opened.access).await.done(200);

    let own = format!("/api/v1/shares/{}", link.id);
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
