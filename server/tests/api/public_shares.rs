//! Share links from a visitor's side: the password check (`gate`), the states, the counts, the chunks.

use super::quota::quota;
use super::shares::{DAY, share};
use super::visitors::{begin, open, path, put_file, with_access};
use super::world::{Caller, Draft, TestResponse, World, id_of};
use axum::http::Method;
use cairn_wire::Page;
use cairn_wire::account::Quota;
use cairn_wire::nodes::Node;
use cairn_wire::shares::{AccessEntry, OpenedShare, PublicShare, Share, VisitAction};
use serde_json::{Value, json};

/// Shares a folder with a file, and a folder in it with another: `d`, `d/e`, `d/a.txt`, `d/e/b.txt`.
async fn share_folder(owner: &Caller, settings: Value) -> (Share, [Node; 4]) {
    let folder = owner.folder(None, "d").await;
    let inner = owner.folder(Some(folder.id), "e").await;
    let first = owner.file(Some(folder.id), "a.txt", "one").await;
    let second = owner.file(Some(inner.id), "b.txt", "two").await;
    let link = share(owner, &folder, settings).await;
    put_file(owner, &link, &first).await.done(200);
    put_file(owner, &link, &second).await.done(200);
    (link, [folder, inner, first, second])
}

async fn chunk(
    stranger: &Caller,
    link: &Share,
    file: &Node,
    text: &str,
    access: &str,
) -> TestResponse {
    let part = format!("/chunks/{}?node={}", id_of(text.as_bytes()), file.id);
    with_access(stranger, Method::GET, &path(link, &part), access).await
}

#[tokio::test]
async fn whoever_has_the_link_fetches_what_it_carries_and_nothing_else() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "shared").await;
    let other = owner.file(None, "b.txt", "private").await;
    let link = share(&owner, &file, json!({})).await;
    let put: Share = put_file(&owner, &link, &file).await.ok();
    assert_eq!(put.files, 1);
    put_file(&owner, &link, &other).await.failed(400);
    let look: PublicShare = stranger.get(&path(&link, "")).await.ok();
    assert!(!look.has_password && !look.asks_email);
    assert_eq!(look.id, link.id);
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    assert_eq!((opened.name.as_str(), opened.may_view), ("a.txt", true));
    assert_eq!(opened.files[0].sealed.0, b"sealed");
    let got = chunk(&stranger, &link, &file, "shared", &opened.access).await;
    got.done(200);
    assert_eq!(&got.body[..], b"shared");
    let used = async || {
        let quota: Quota = owner.get("/api/v1/userusage/quota-limit").await.ok();
        quota.bandwidth_used
    };
    let before = used().await;
    let part = format!("/chunks/{}?node={}", id_of(b"shared"), file.id);
    let head = with_access(&stranger, Method::HEAD, &path(&link, &part), &opened.access).await;
    assert_eq!((head.header("content-length"), head.body.len()), ("6", 0));
    assert_eq!(used().await, before, "nothing was transferred");
    chunk(&stranger, &link, &other, "private", &opened.access)
        .await
        .failed(404);
    chunk(&stranger, &link, &file, "private", &opened.access)
        .await
        .failed(404);
    chunk(&stranger, &link, &file, "shared", "wrong")
        .await
        .failed(401);
    let second = share(&owner, &other, json!({})).await;
    chunk(&stranger, &second, &other, "private", &opened.access)
        .await
        .failed(401);
    begin(&stranger, &link, &opened.access).await.done(200);
    world.app.source().advance(DAY);
    chunk(&stranger, &link, &file, "shared", &opened.access)
        .await
        .failed(401);
    let log: Page<AccessEntry> = owner
        .get(&format!("/api/v1/shares/{}/access-log", link.id))
        .await
        .ok();
    let seen: Vec<_> = log
        .content
        .iter()
        .map(|entry| (entry.action, entry.bytes_served))
        .collect();
    assert_eq!(
        seen,
        [(VisitAction::Downloaded, 0), (VisitAction::Opened, 6)]
    );
    let counted: Share = owner.get(&format!("/api/v1/shares/{}", link.id)).await.ok();
    assert_eq!((counted.access_count, counted.download_count), (1, 1));
}

#[tokio::test]
async fn the_gate_wants_its_value_and_the_right_address() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let settings = json!({"password": "gate value", "allowed_emails": ["ada@example.com"],
        "kdf": {"iterations": 600_000, "salt": "CwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCws="}});
    let link = share(&owner, &file, settings).await;
    let look: PublicShare = stranger.get(&path(&link, "")).await.ok();
    assert!(look.has_password && look.asks_email);
    assert_eq!(look.kdf.unwrap().salt.0, [11; 32]);
    open(&stranger, &link, json!({"email": "ada@example.com"}))
        .await
        .failed(401);
    open(
        &stranger,
        &link,
        json!({"gate": "other", "email": "ada@example.com"}),
    )
    .await
    .failed(401);
    open(&stranger, &link, json!({"gate": "gate value"}))
        .await
        .failed(403);
    open(
        &stranger,
        &link,
        json!({"gate": "gate value", "email": "eve@example.com"}),
    )
    .await
    .failed(403);
    let opened: OpenedShare = open(
        &stranger,
        &link,
        json!({"gate": "gate value", "email": " ADA@example.com"}),
    )
    .await
    .ok();
    // A new password ends the visits that the old one began.
    owner
        .put(
            &format!("/api/v1/shares/{}", link.id),
            &json!({"password": "new"}),
        )
        .await
        .done(200);
    begin(&stranger, &link, &opened.access).await.failed(401);
    open(
        &stranger,
        &link,
        json!({"gate": "gate value", "email": "ada@example.com"}),
    )
    .await
    .failed(401);
    for _ in 0..16 {
        open(&stranger, &link, json!({"gate": "guess"}))
            .await
            .failed(401);
    }
    let limited = open(
        &stranger,
        &link,
        json!({"gate": "new", "email": "ada@example.com"}),
    )
    .await;
    limited.failed(429);
    assert_eq!(limited.header("retry-after"), "900");
    world.app.source().advance(900_000);
    open(
        &stranger,
        &link,
        json!({"gate": "new", "email": "ada@example.com"}),
    )
    .await
    .done(200);
}

#[tokio::test]
async fn a_link_at_its_download_limit_is_gone() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "shared").await;
    let link = share(&owner, &file, json!({"download_limit": 1})).await;
    put_file(&owner, &link, &file).await.done(200);
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    let late: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    assert!(!opened.may_view);
    chunk(&stranger, &link, &file, "shared", &opened.access)
        .await
        .failed(403);
    let begun: Value = begin(&stranger, &link, &opened.access).await.ok();
    begin(&stranger, &link, &late.access).await.failed(410);
    // The one that counted goes on to its end.
    chunk(
        &stranger,
        &link,
        &file,
        "shared",
        begun["access"].as_str().unwrap(),
    )
    .await
    .done(200);
    stranger.get(&path(&link, "")).await.failed(410);
    open(&stranger, &link, json!({})).await.failed(410);
    let page = stranger.get(&format!("/s/{}", link.short_code)).await;
    page.done(410);
    assert!(page.header("content-type").starts_with("text/html"));
    let more = json!({"download_limit": 2});
    owner
        .put(&format!("/api/v1/shares/{}", link.id), &more)
        .await
        .done(200);
    open(&stranger, &link, json!({})).await.done(200);
}

#[tokio::test]
async fn a_download_of_a_file_that_is_not_in_the_link_is_neither_begun_nor_counted() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let other = owner.file(None, "b.txt", "y").await;
    let link = share(&owner, &file, json!({"download_limit": 1})).await;
    put_file(&owner, &link, &file).await.done(200);
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    let begin = async |file: &Node| {
        let headers = [("x-share-access", opened.access.as_str())];
        let body = json!({"file_id": file.id}).to_string();
        let path = path(&link, "/downloads");
        stranger.send(Method::POST, &path, &headers, body).await
    };
    begin(&other).await.failed(404);
    begin(&file).await.done(200);
    begin(&file).await.failed(410);
}

#[tokio::test]
async fn a_download_of_a_file_that_came_into_the_folder_later_is_not_counted() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let (link, [folder, inner, first, _]) =
        share_folder(&owner, json!({"download_limit": 3})).await;
    let later = owner.file(Some(inner.id), "c.txt", "three").await;
    let empty = owner.folder(Some(folder.id), "empty").await;
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    let begin = async |node: &Node| {
        let headers = [("x-share-access", opened.access.as_str())];
        let body = json!({"file_id": node.id}).to_string();
        let path = path(&link, "/downloads");
        stranger.send(Method::POST, &path, &headers, body).await
    };
    for node in [&later, &empty] {
        begin(node).await.failed(404);
    }
    for node in [&first, &inner, &folder] {
        begin(node).await.done(200);
    }
    begin(&first).await.failed(410);
}

#[tokio::test]
async fn two_downloads_can_not_share_the_last_one() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(&owner, &file, json!({"download_limit": 1})).await;
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    let all =
        futures_util::future::join_all((0..8).map(|_| begin(&stranger, &link, &opened.access)))
            .await;
    let good = all.iter().filter(|response| response.status == 200).count();
    assert_eq!(good, 1);
}

#[tokio::test]
async fn every_state_has_its_response() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(
        &owner,
        &file,
        json!({"active_from": "2026-01-02T00:00:00Z", "active_until": "2026-01-05T00:00:00Z"}),
    )
    .await;
    let own = format!("/api/v1/shares/{}", link.id);
    let status = async || stranger.get(&path(&link, "")).await.status.as_u16();
    assert_eq!(status().await, 403);
    world.app.source().advance(DAY);
    assert_eq!(status().await, 200);
    owner
        .post(&format!("{own}/toggle"), &json!({}))
        .await
        .done(200);
    assert_eq!(status().await, 403);
    owner
        .post(&format!("{own}/toggle"), &json!({}))
        .await
        .done(200);
    owner.put(&own, &json!({"expiry_days": 1})).await.done(200);
    world.app.source().advance(DAY);
    assert_eq!(status().await, 410);
    owner
        .put(&own, &json!({"expiry_days": null}))
        .await
        .done(200);
    assert_eq!(status().await, 200);
    world.app.source().advance(2 * DAY);
    assert_eq!(status().await, 410);
    owner
        .put(&own, &json!({"active_until": null}))
        .await
        .done(200);
    owner
        .delete(&format!("/api/v1/nodes/{}", file.id))
        .await
        .done(200);
    assert_eq!(status().await, 404);
    owner
        .post(&format!("/api/v1/trash/{}/restore", file.id), &json!({}))
        .await
        .done(200);
    assert_eq!(status().await, 200);
    owner.delete(&own).await.done(204);
    assert_eq!(status().await, 404);
    stranger
        .get(&format!("/s/{}", link.short_code))
        .await
        .done(404);
}

#[tokio::test]
async fn a_view_only_link_is_looked_at_and_not_downloaded() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "seen").await;
    let link = share(
        &owner,
        &file,
        json!({"access_mode": "view_only", "download_limit": 1}),
    )
    .await;
    put_file(&owner, &link, &file).await.done(200);
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    assert!(opened.may_view);
    chunk(&stranger, &link, &file, "seen", &opened.access)
        .await
        .done(200);
    begin(&stranger, &link, &opened.access).await.failed(403);
}

#[tokio::test]
async fn a_folder_link_carries_what_lies_in_the_folder_and_keeps_the_shared_revision() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let (link, [folder, _, first, second]) = share_folder(&owner, json!({})).await;
    put_file(&owner, &link, &folder).await.failed(400);
    owner.upload(&Draft::of(&first, "later")).await.done(200);
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    assert_eq!(opened.files.len(), 2);
    chunk(&stranger, &link, &first, "one", &opened.access)
        .await
        .done(200);
    chunk(&stranger, &link, &first, "later", &opened.access)
        .await
        .failed(404);
    // What is moved out of the folder is shared no longer.
    owner
        .put(
            &format!("/api/v1/nodes/{}", second.id),
            &json!({"parent_id": null}),
        )
        .await
        .done(200);
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    assert_eq!(opened.files.len(), 1);
    chunk(&stranger, &link, &second, "two", &opened.access)
        .await
        .failed(404);
}

#[tokio::test]
async fn the_page_is_complete_and_lets_nothing_else_in() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(&owner, &file, json!({})).await;
    owner
        .put(
            "/api/v1/shares/theme",
            &json!({"logo_url": "https://logo.example/a/b.png"}),
        )
        .await
        .done(200);
    let page = stranger.get(&format!("/s/{}", link.short_code)).await;
    page.done(200);
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("default-src 'none'") && policy.contains("script-src 'self';"),
        "{policy}"
    );
    assert!(policy.contains("data: https://logo.example;"), "{policy}");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("style="));
    let mut wanted: Vec<String> = html
        .match_indices("/s/assets/")
        .map(|(at, _)| html[at..].split('"').next().unwrap().to_owned())
        .collect();
    assert_eq!(wanted.len(), 2);
    let mut seen = Vec::new();
    while let Some(path) = wanted.pop() {
        let asset = stranger.get(&path).await;
        asset.done(200);
        assert_eq!(asset.header("x-content-type-options"), "nosniff");
        let text = String::from_utf8(asset.body.to_vec()).unwrap();
        for import in text
            .match_indices("from \"./")
            .map(|(at, _)| text[at + 8..].split('"').next().unwrap())
        {
            let path = format!("/s/assets/{import}");
            if !seen.contains(&path) {
                wanted.push(path);
            }
        }
        seen.push(path);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 11);
    stranger.get("/s/assets/other.js").await.failed(404);
    let unknown = stranger.get("/s/nothing").await;
    unknown.done(404);
    assert!(unknown.header("content-type").starts_with("text/html"));
}

#[tokio::test]
async fn the_page_says_that_an_address_is_not_verified() {
    let page = World::new().nobody().get("/s/anycode").await;
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(text.contains("It is not verified."), "{text}");
}

#[tokio::test]
async fn many_wrong_passwords_at_once_are_counted_as_many_one_after_the_other() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(&owner, &file, json!({"password": "right"})).await;
    let mut checked = 0;
    for _ in 0..3 {
        let guesses = (0..40).map(|_| open(&stranger, &link, json!({"gate": "wrong"})));
        let all = futures_util::future::join_all(guesses).await;
        for response in &all {
            assert!([401, 429].contains(&response.status.as_u16()));
        }
        checked += all.iter().filter(|one| one.status == 401).count();
    }
    assert_eq!(checked, 20);
    open(&stranger, &link, json!({"gate": "right"}))
        .await
        .failed(429);
    let log: Page<AccessEntry> = owner
        .get(&format!("/api/v1/shares/{}/access-log", link.id))
        .await
        .ok();
    assert_eq!(log.total_elements, 20, "the log has what was checked");
}

#[tokio::test]
async fn visits_that_a_link_s_new_settings_do_not_let_in_end() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "shared").await;
    let link = share(&owner, &file, json!({})).await;
    put_file(&owner, &link, &file).await.done(200);
    let own = format!("/api/v1/shares/{}", link.id);
    let visit = async |email: &str| {
        let opened: OpenedShare = open(&stranger, &link, json!({ "email": email })).await.ok();
        opened.access
    };
    let fetch = async |access: &str| {
        let response = chunk(&stranger, &link, &file, "shared", access).await;
        response.status.as_u16()
    };
    // Anybody may have said to be Ada while the link was for all.
    let claimed = visit("ada@example.com").await;
    assert_eq!(fetch(&claimed).await, 200);
    let both = json!({"allowed_emails": ["ada@example.com", "eve@example.com"]});
    owner.put(&own, &both).await.done(200);
    assert_eq!(fetch(&claimed).await, 401);
    let (ada, eve) = (
        visit("ada@example.com").await,
        visit("eve@example.com").await,
    );
    let only_ada = json!({"allowed_emails": ["ada@example.com"]});
    owner.put(&own, &only_ada).await.done(200);
    assert_eq!((fetch(&ada).await, fetch(&eve).await), (200, 401));
    begin(&stranger, &link, &eve).await.failed(401);
    // Every other change that narrows the link is seen by each request.
    for (narrower, wider) in [
        (json!({"expiry_days": 0.001}), json!({"expiry_days": null})),
        (
            json!({"active_from": "2026-01-03T00:00:00Z"}),
            json!({"active_from": null}),
        ),
    ] {
        owner.put(&own, &narrower).await.done(200);
        let wait = narrower["expiry_days"].is_number();
        world.app.source().advance(if wait { 90_000 } else { 0 });
        assert!([403, 410].contains(&fetch(&ada).await), "{narrower}");
        owner.put(&own, &wider).await.done(200);
        assert_eq!(fetch(&ada).await, 200);
    }
    owner
        .put(&own, &json!({"access_mode": "view_only"}))
        .await
        .done(200);
    begin(&stranger, &link, &ada).await.failed(403);
    let toggle = format!("{own}/toggle");
    owner.post(&toggle, &json!({})).await.done(200);
    assert_eq!(fetch(&ada).await, 403);
    owner.post(&toggle, &json!({})).await.done(200);
    assert_eq!(fetch(&ada).await, 401, "switched on again, it begins anew");
}

#[tokio::test]
async fn a_download_that_counts_fetches_the_file_that_it_was_begun_of() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let settings = json!({"download_limit": 3});
    let (link, [_, inner, first, second]) = share_folder(&owner, settings).await;
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    let token = async |node: Value| {
        let headers = [("x-share-access", opened.access.as_str())];
        let body = json!({ "file_id": node }).to_string();
        let path = path(&link, "/downloads");
        let begun = stranger.send(Method::POST, &path, &headers, body).await;
        begun.ok::<Value>()["access"].as_str().unwrap().to_owned()
    };
    for (node, fetched) in [
        (json!(first.id), (200, 403)),
        (json!(inner.id), (403, 200)),
        (json!(null), (200, 200)),
    ] {
        let access = token(node.clone()).await;
        let one = chunk(&stranger, &link, &first, "one", &access).await;
        let two = chunk(&stranger, &link, &second, "two", &access).await;
        assert_eq!(
            (one.status.as_u16(), two.status.as_u16()),
            fetched,
            "{node}"
        );
    }
}

#[tokio::test]
async fn the_list_of_a_link_s_files_counts_towards_its_owner_s_bandwidth() {
    let world = World::new();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(&owner, &file, json!({})).await;
    put_file(&owner, &link, &file).await.done(200);
    let used = async || quota(&owner).await.bandwidth_used;
    let before = used().await;
    let opened = open(&stranger, &link, json!({})).await;
    opened.done(200);
    assert_eq!(opened.header("content-type"), "application/json");
    assert_eq!(used().await, before + opened.body.len() as u64);
    let limit = json!({"email": "owner@example.com", "bandwidth_limit": before});
    world.nobody().post("/_dev/quota", &limit).await.done(200);
    open(&stranger, &link, json!({})).await.failed(507);
}
