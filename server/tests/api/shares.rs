//! Share links from their owner's side: settings, limits, states, logs, mail.

use super::world::{Caller, World};
use cairn_wire::nodes::Node;
use cairn_wire::shares::{
    AccessMode, Audit, BulkShares, Share, ShareCondition, ShareDefaults, ShareHealth, ShareIssue,
    ShareStatus, ShareTheme, SharedByEmail, StorageType, ToggledShare,
};
use cairn_wire::{Page, Sealed};
use serde_json::{Value, json};

pub(crate) const DAY: u64 = 86_400_000;

pub(crate) async fn share(caller: &Caller, node: &Node, settings: Value) -> Share {
    let mut body = settings;
    body["file_id"] = json!(node.id);
    caller.post("/api/v1/shares", &body).await.ok()
}

#[tokio::test]
async fn a_link_is_made_with_all_its_settings_and_found_by_id_and_code() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let response = owner
        .post(
            "/api/v1/shares/",
            &json!({
                "file_id": file.id, "storage_type": "VR_FILE", "expiry_days": 7, "password": "gate",
                "download_limit": 3, "allowed_emails": ["A@Example.com ", "a@example.com"],
                "access_mode": "view_only", "active_from": "2026-01-02T00:00:00Z",
                "active_until": "2026-01-09T00:00:00+00:00"
            }),
        )
        .await;
    response.done(201);
    let link: Share = response.json();
    assert_eq!(link.url, format!("http://cairn.test/s/{}", link.short_code));
    assert_eq!(
        (link.file_name.as_str(), link.storage_type, link.is_active),
        ("a.txt", StorageType::File, true)
    );
    assert_eq!(
        link.expires_at.unwrap().to_string(),
        "2026-01-08T00:00:00.000Z"
    );
    assert_eq!(link.allowed_emails, ["a@example.com"]);
    assert_eq!(
        (link.access_mode, link.download_limit, link.has_password),
        (AccessMode::ViewOnly, Some(3), true)
    );
    assert_eq!(link.status, ShareStatus::NotYetActive);
    assert!(!String::from_utf8_lossy(&response.body).contains("gate\""));
    for path in [
        format!("/api/v1/shares/{}", link.id),
        format!("/api/v1/shares/{}/", link.short_code),
        format!("/api/v1/webshare/url/{}", link.id),
    ] {
        assert_eq!(owner.get(&path).await.ok::<Share>(), link);
    }
    let page: Page<Share> = owner.get("/api/v1/webshare/url?page=0&size=50").await.ok();
    assert_eq!((page.page, page.page_size, page.total_elements), (0, 50, 1));
    assert_eq!(page.content, [link]);
}

#[tokio::test]
async fn settings_out_of_range_are_refused_by_name() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let many: Vec<String> = (0..21).map(|n| format!("a{n}@example.com")).collect();
    for (field, bad) in [
        ("storage_type", json!("VR_FOLDER")),
        ("expiry_days", json!(0)),
        ("expiry_days", json!(-1)),
        ("expiry_days", json!(1e-9)),
        ("expiry_days", json!(4000)),
        ("download_limit", json!(0)),
        ("allowed_emails", json!(many)),
        ("allowed_emails", json!(["nobody"])),
        ("password", json!("x".repeat(73))),
        ("active_until", json!("2025-01-01T00:00:00Z")),
        ("kdf", json!({"iterations": 1, "salt": "AAAA"})),
    ] {
        let mut body = json!({"file_id": file.id, "active_from": "2026-01-01T00:00:00Z"});
        body[field] = bad;
        let message = owner.post("/api/v1/shares", &body).await.failed(400);
        assert!(message.contains(field), "{field}: {message}");
    }
    owner.post("/api/v1/shares", &json!({})).await.failed(400);
    let unknown = json!({"file_id": super::world::new_node()});
    owner.post("/api/v1/shares", &unknown).await.failed(404);
    owner.get("/api/v1/shares?page_size=101").await.failed(400);
}

#[tokio::test]
async fn links_of_others_are_refused_and_unknown_ones_not_found() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(&owner, &file, json!({})).await;
    let path = format!("/api/v1/shares/{}", link.id);
    outsider.get(&path).await.failed(403);
    outsider
        .put(&path, &json!({"is_active": false}))
        .await
        .failed(403);
    outsider.delete(&path).await.failed(403);
    owner
        .get(&format!(
            "/api/v1/shares/{}",
            uuid::Uuid::from_bytes([7; 16])
        ))
        .await
        .failed(404);
    for part in ["toggle", "access-log", "audit", "health"] {
        let path = format!("{path}/{part}");
        let response = if part == "toggle" {
            outsider.post(&path, &json!({})).await
        } else {
            outsider.get(&path).await
        };
        response.failed(403);
    }
    outsider
        .put(&format!("{path}/files"), &json!({"files": []}))
        .await
        .failed(403);
    outsider
        .post("/api/v1/shares", &json!({"file_id": file.id}))
        .await
        .failed(403);
    let page: Page<Share> = outsider.get("/api/v1/shares").await.ok();
    assert_eq!(page.total_elements, 0);
    assert_eq!(owner.get(&path).await.ok::<Share>(), link);
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_clears_what_it_nulls() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(
        &owner,
        &file,
        json!({"expiry_days": 1, "password": "p", "download_limit": 2, "allowed_emails": ["a@example.com"]}),
    )
    .await;
    let path = format!("/api/v1/shares/{}", link.short_code);
    world.app.source().advance(DAY / 2);
    let changed: Share = owner
        .put(
            &path,
            &json!({"expiry_days": 2, "access_mode": "view_only"}),
        )
        .await
        .ok();
    assert_eq!(
        changed.expires_at.unwrap().to_string(),
        "2026-01-03T12:00:00.000Z"
    );
    assert_eq!(
        (
            changed.access_mode,
            changed.has_password,
            changed.download_limit
        ),
        (AccessMode::ViewOnly, true, Some(2))
    );
    assert_eq!(changed.allowed_emails, ["a@example.com"]);
    let cleared: Share = owner
        .put(
            &path,
            &json!({"expiry_days": null, "password": null, "download_limit": null, "allowed_emails": []}),
        )
        .await
        .ok();
    assert_eq!(
        (
            cleared.expires_at,
            cleared.has_password,
            cleared.download_limit
        ),
        (None, false, None)
    );
    assert!(cleared.allowed_emails.is_empty());
    owner
        .put(&path, &json!({"expiry_days": 0}))
        .await
        .failed(400);
    let off: Share = owner.put(&path, &json!({"is_active": false})).await.ok();
    assert_eq!(
        (off.is_active, off.status),
        (false, ShareStatus::Deactivated)
    );
    let toggled: ToggledShare = owner.post(&format!("{path}/toggle"), &json!({})).await.ok();
    assert_eq!(
        (toggled.previous, toggled.current, toggled.share.is_active),
        (false, true, true)
    );
    owner.delete(&path).await.done(204);
    owner.get(&path).await.failed(404);
    owner.delete(&path).await.failed(404);
}

#[tokio::test]
async fn a_link_that_shows_none_of_the_files_there_are_is_not_healthy() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "d").await;
    let carried = owner.file(Some(folder.id), "a.txt", "a").await;
    let other = owner.file(Some(folder.id), "b.txt", "b").await;
    let link = share(&owner, &folder, json!({})).await;
    super::visitors::put_file(&owner, &link, &carried)
        .await
        .done(200);
    let path = format!("/api/v1/shares/{}/health", link.short_code);
    let issues = async || owner.get(&path).await.ok::<ShareHealth>().issues;
    assert_eq!(issues().await, []);
    let node = format!("/api/v1/nodes/{}", carried.id);
    owner
        .put(&node, &json!({"parent_id": null}))
        .await
        .done(200);
    assert_eq!(issues().await, [ShareIssue::NoFiles]);
    owner
        .put(&node, &json!({"parent_id": folder.id}))
        .await
        .done(200);
    assert_eq!(issues().await, []);
    owner.delete(&node).await.done(200);
    assert_eq!(issues().await, [ShareIssue::NoFiles]);
    // An empty folder has no file to show.
    owner
        .delete(&format!("/api/v1/nodes/{}", other.id))
        .await
        .done(200);
    assert_eq!(issues().await, []);
}

#[tokio::test]
async fn health_names_every_issue() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(
        &owner,
        &file,
        json!({"expiry_days": 1, "active_until": "2026-01-01T12:00:00Z"}),
    )
    .await;
    let path = format!("/api/v1/shares/{}", link.short_code);
    let health = async || {
        owner
            .get(&format!("{path}/health"))
            .await
            .ok::<ShareHealth>()
    };
    assert_eq!(health().await.issues, [ShareIssue::NoFiles]);
    let carried =
        json!({"files": [{"node_id": file.id, "revision_id": file.revision_id, "sealed": "eA=="}]});
    owner
        .put(&format!("{path}/files"), &carried)
        .await
        .done(200);
    let healthy = health().await;
    assert_eq!(
        (healthy.status, healthy.issues.len()),
        (ShareCondition::Healthy, 0)
    );
    world.app.source().advance(DAY / 2);
    assert_eq!(health().await.issues, [ShareIssue::ActiveWindowEnded]);
    world.app.source().advance(DAY / 2);
    owner
        .put(&path, &json!({"is_active": false}))
        .await
        .done(200);
    let ill = health().await;
    assert_eq!(ill.status, ShareCondition::IssuesFound);
    assert_eq!(
        ill.issues,
        [
            ShareIssue::Deactivated,
            ShareIssue::Expired,
            ShareIssue::ActiveWindowEnded
        ]
    );
    let later = json!({"active_from": "2027-01-01T00:00:00Z", "active_until": null, "is_active": true, "expiry_days": null});
    owner.put(&path, &later).await.done(200);
    assert_eq!(health().await.issues, [ShareIssue::NotYetActive]);
    let node = format!("/api/v1/nodes/{}", file.id);
    owner.delete(&node).await.done(200);
    let gone = health().await;
    assert_eq!(
        gone.issues,
        [ShareIssue::FileGone, ShareIssue::NotYetActive]
    );
    assert_eq!(gone.link.status, ShareStatus::FileGone);
}

#[tokio::test]
async fn defaults_shape_new_links_and_a_theme_its_page() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let first: ShareDefaults = owner.get("/api/v1/shares/defaults").await.ok();
    assert_eq!(first, ShareDefaults::default());
    owner
        .put(
            "/api/v1/shares/defaults",
            &json!({"default_expiry_days": 2, "default_access_mode": "view_only"}),
        )
        .await
        .done(200);
    let kept: ShareDefaults = owner
        .put(
            "/api/v1/shares/defaults",
            &json!({"notify_on_download": true}),
        )
        .await
        .ok();
    assert_eq!(kept.default_access_mode, AccessMode::ViewOnly);
    let link = share(&owner, &file, json!({})).await;
    assert_eq!(
        link.expires_at.unwrap().to_string(),
        "2026-01-03T00:00:00.000Z"
    );
    assert_eq!(
        (link.access_mode, link.notify_on_download),
        (AccessMode::ViewOnly, true)
    );
    let own = share(
        &owner,
        &file,
        json!({"expiry_days": 5, "access_mode": "download"}),
    )
    .await;
    assert_eq!(own.access_mode, AccessMode::Download);
    owner
        .put(
            "/api/v1/shares/defaults",
            &json!({"default_expiry_days": -1}),
        )
        .await
        .failed(400);

    let theme: ShareTheme = owner
        .put("/api/v1/shares/theme", &json!({"display_name": "Ada", "accent_color": "#aB0012", "css_class": "theme-dark", "logo_url": "https://example.com/l.png"}))
        .await
        .ok();
    let cleared: ShareTheme = owner
        .put("/api/v1/shares/theme", &json!({"css_class": ""}))
        .await
        .ok();
    assert_eq!(
        (cleared.display_name.as_str(), cleared.css_class.as_str()),
        ("Ada", "")
    );
    assert_eq!(theme.css_class, "theme-dark");
    for bad in [
        json!({"display_name": "x".repeat(101)}),
        json!({"bio": "x".repeat(501)}),
        json!({"logo_url": "http://example.com/l.png"}),
        json!({"logo_url": "https://a;script-src *"}),
        json!({"accent_color": "red"}),
        json!({"background_color": "#12345g"}),
        json!({"css_class": "theme-loud"}),
    ] {
        owner.put("/api/v1/shares/theme", &bad).await.failed(400);
    }
    assert_eq!(
        owner.get("/api/v1/shares/theme").await.ok::<ShareTheme>(),
        cleared
    );
}

#[tokio::test]
async fn a_link_by_mail_is_for_one_address_and_the_mail_lies_in_the_outbox() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let sent = owner
        .post(
            "/api/v1/shares/email",
            &json!({"file_id": file.id, "email": "Member@example.com", "expiry_days": 3, "view_only": true}),
        )
        .await;
    sent.done(201);
    let sent: SharedByEmail = sent.json();
    assert!(!sent.email_sent, "nothing sends it");
    assert_eq!(sent.share.allowed_emails, ["member@example.com"]);
    assert_eq!(sent.share.access_mode, AccessMode::ViewOnly);
    let outbox: Value = world.nobody().get("/_dev/mail").await.ok();
    let mail = &outbox["mails"][0];
    assert_eq!(mail["to"], "member@example.com");
    assert!(mail["body"].as_str().unwrap().contains(&sent.share.url));
    assert!(mail["subject"].as_str().unwrap().contains("a.txt"));
    owner
        .post(
            "/api/v1/shares/email",
            &json!({"file_id": file.id, "email": "nobody"}),
        )
        .await
        .failed(400);
}

#[tokio::test]
async fn the_name_of_a_file_begins_no_line_of_a_mail() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a\r\nYour account is closed", "x").await;
    owner
        .post(
            "/api/v1/shares/email",
            &json!({"file_id": file.id, "email": "member@example.com"}),
        )
        .await
        .done(201);
    let outbox: Value = world.nobody().get("/_dev/mail").await.ok();
    for part in ["subject", "body"] {
        let text = outbox["mails"][0][part].as_str().unwrap();
        assert!(text.contains("Your account is closed"), "{text}");
        assert!(
            !text.lines().any(|line| line.starts_with("Your account")),
            "{text}"
        );
    }
}

#[tokio::test]
async fn many_links_succeed_and_fail_one_by_one() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let folder = owner.folder(None, "d").await;
    let unknown = super::world::new_node();
    let made: BulkShares = owner
        .post(
            "/api/v1/shares/bulk",
            &json!({"file_ids": [file.id, unknown, folder.id]}),
        )
        .await
        .ok();
    assert_eq!((made.total, made.succeeded, made.failed), (3, 2, 1));
    assert_eq!(made.results[1].error.as_ref().unwrap().code, 404);
    assert_eq!(
        made.results[2].share.as_ref().unwrap().storage_type,
        StorageType::Folder
    );
    let too_many: Vec<_> = (0..21).map(|_| file.id).collect();
    for ids in [json!([]), json!(too_many)] {
        owner
            .post("/api/v1/shares/bulk", &json!({"file_ids": ids}))
            .await
            .failed(400);
    }
}

#[tokio::test]
async fn the_same_id_makes_the_same_link() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let other = owner.file(None, "b.txt", "y").await;
    let id = uuid::Uuid::from_bytes([9; 16]);
    let first = share(&owner, &file, json!({"id": id, "key_blob": "AAEC"})).await;
    let again = share(&owner, &file, json!({"id": id})).await;
    assert_eq!(first, again);
    assert_eq!(first.key_blob.unwrap().0, [0, 1, 2]);
    owner
        .post("/api/v1/shares", &json!({"file_id": other.id, "id": id}))
        .await
        .failed(409);
}

#[tokio::test]
async fn an_audit_is_a_span_of_the_log_with_its_sums() {
    let world = World::with(cairn_server::Options {
        behind_proxy: true,
        ..cairn_server::Options::ephemeral()
    });
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(&owner, &file, json!({})).await;
    let open = format!("/api/v1/public/shares/{}/open", link.short_code);
    for (ip, email, wait) in [
        ("203.0.113.7", json!("a@example.com"), 0),
        ("10.0.0.1, 203.0.113.8", json!(null), DAY),
        ("2001:db8::1", json!("A@example.com"), DAY),
    ] {
        world.app.source().advance(wait);
        world
            .nobody()
            .send(
                axum::http::Method::POST,
                &open,
                &[("x-forwarded-for", ip)],
                json!({ "email": email }).to_string(),
            )
            .await
            .done(200);
    }
    let path = format!("/api/v1/shares/{}/audit", link.id);
    let all: Audit = owner.get(&path).await.ok();
    let sums = all.summary.unwrap();
    assert_eq!(
        (
            sums.total_accesses,
            sums.unique_visitors_by_email,
            sums.unique_visitors_by_ip
        ),
        (3, 1, 2)
    );
    assert_eq!(sums.accesses_by_day["2026-01-02"], 1);
    assert_eq!(
        all.page.content[0].entry.masked_ip,
        "2001:db8:0:0:xxxx:xxxx:xxxx:xxxx"
    );
    assert_eq!(all.page.content[1].entry.masked_ip, "203.0.113.xxx");
    assert_eq!(all.page.content[1].entry.email, "anonymous");
    assert_eq!(all.page.content[1].bytes_formatted, "0 B");
    let second: Audit = owner.get(&format!("{path}?page_size=2&page=1")).await.ok();
    assert_eq!((second.page.content.len(), second.page.total_pages), (1, 2));
    assert_eq!(second.summary.unwrap().total_accesses, 3, "of all pages");
    let span: Audit = owner
        .get(&format!("{path}?date_from=2026-01-02T00:00:00Z&date_to=2026-01-02T23:00:00Z&include_summary=false"))
        .await
        .ok();
    assert_eq!((span.page.content.len(), span.summary), (1, None));
    let day: Audit = owner
        .get(&format!("{path}?date_from=2026-01-02&date_to=2026-01-02"))
        .await
        .ok();
    assert_eq!(day.page.content.len(), 1);
    owner
        .get(&format!("{path}?date_from=soon"))
        .await
        .failed(400);
    let log: Value = owner
        .get(&format!("/api/v1/shares/{}/access-log", link.short_code))
        .await
        .ok();
    assert_eq!(
        (&log["totalElements"], &log["content"][2]["action"]),
        (&json!(3), &json!("opened"))
    );
}

#[tokio::test]
async fn a_wrapped_secret_of_a_kibibyte_is_kept() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a", "1").await;
    let blob = |bytes: usize| json!({"file_id": file.id, "key_blob": Sealed(vec![7; bytes])});
    owner.post("/api/v1/shares", &blob(1024)).await.done(201);
    owner.post("/api/v1/shares", &blob(1027)).await.failed(400);
}

#[tokio::test]
async fn a_link_can_not_be_made_to_end_before_it_begins() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let body = json!({"file_id": file.id, "active_until": "2025-12-31T23:59:59Z"});
    let message = owner.post("/api/v1/shares", &body).await.failed(400);
    assert!(message.contains("has passed"), "{message}");
    let until = json!({"active_until": "2026-01-02T00:00:00Z"});
    let link = share(&owner, &file, until.clone()).await;
    let own = format!("/api/v1/shares/{}", link.id);
    let past = json!({"active_until": body["active_until"]});
    owner.put(&own, &past).await.failed(400);
    world.app.source().advance(2 * DAY);
    // What is there already may be sent again with another change.
    let mut again = until;
    again["is_active"] = json!(false);
    owner.put(&own, &again).await.done(200);
    let defaults = json!({"default_expiry_days": 1e-9});
    owner
        .put("/api/v1/shares/defaults", &defaults)
        .await
        .failed(400);
}
