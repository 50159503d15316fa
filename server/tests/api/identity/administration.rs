//! Logins that the administrator ends, as from another process.

use super::browser::Browser;
use super::{EVERYTHING, assert_refused, code, log_in, redeem, refresh, request};
use crate::world::World;

const OWNER: &str = "owner@example.com";

#[tokio::test]
async fn a_login_is_listed_and_ends_with_its_tokens_alone() {
    let world = World::new();
    let (first, second) = (log_in(&world).await, log_in(&world).await);
    let all = world.app.user_sessions(OWNER).unwrap();
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|one| one.client == "cairn"));
    let ended = all[0].id;
    world.app.end_user_sessions(OWNER, Some(ended)).unwrap();
    assert!(world.app.end_user_sessions(OWNER, Some(ended)).is_err());
    let mut alive = 0;
    for tokens in [&first, &second] {
        let response = world
            .caller(Some(&tokens.access_token))
            .get("/api/v1/nodes")
            .await;
        alive += u16::from(response.status.is_success());
    }
    assert_eq!(alive, 1);
    assert_eq!(world.app.user_sessions(OWNER).unwrap().len(), 1);
}

#[tokio::test]
async fn a_new_password_ends_all_logins_and_opens_new_ones() {
    let world = World::new();
    let tokens = log_in(&world).await;
    let waiting = code(&world, EVERYTHING).await;
    world
        .app
        .reset_user_password(OWNER, "a new secret")
        .unwrap();
    let there = world.caller(Some(&tokens.access_token));
    there.get("/api/v1/nodes").await.failed(401);
    assert_eq!(there.get("/oauth/userinfo").await.status, 401);
    let token = tokens.refresh_token.unwrap();
    assert_refused(&refresh(&world, &token).await, 400, "invalid_grant");
    assert_refused(&redeem(&world, &waiting).await, 400, "invalid_grant");
    world.owner().get("/api/v1/nodes").await.done(200);
    let mut browser = Browser::new(&world);
    browser.authorize(&request(EVERYTHING)).await.done(200);
    browser.log_in(OWNER, "owner").await.done(403);
    browser.log_in(OWNER, "a new secret").await.done(303);
}

#[tokio::test]
async fn a_disabled_account_logs_in_nowhere_and_its_links_rest() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a", "1").await;
    let link: cairn_wire::shares::Share = owner
        .post("/api/v1/shares", &serde_json::json!({"file_id": file.id}))
        .await
        .ok();
    let path = format!("/api/v1/public/shares/{}", link.short_code);
    world.nobody().get(&path).await.done(200);
    world.app.set_user_disabled(OWNER, true).unwrap();
    let refusal = owner.get("/api/v1/nodes").await.failed(403);
    assert!(refusal.contains("disabled"), "{refusal}");
    assert!(!world.nobody().get(&path).await.status.is_success());
    let mut browser = Browser::new(&world);
    browser.authorize(&request(EVERYTHING)).await.done(200);
    let page = browser.log_in(OWNER, "owner").await;
    page.done(403);
    assert!(String::from_utf8_lossy(&page.body).contains("disabled"));
    world.app.set_user_disabled(OWNER, false).unwrap();
    owner.get("/api/v1/nodes").await.done(200);
    world.nobody().get(&path).await.done(200);
}
