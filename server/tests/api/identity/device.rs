//! Device authorization: polling, allowing, denying, being late.

use super::super::world::{TestResponse, World};
use super::browser::Browser;
use super::{assert_refused, post_form, works};
use cairn_wire::identity::{DeviceAuthorization, TokenResponse};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

async fn begin(world: &World) -> DeviceAuthorization {
    let fields = [("client_id", "cairn"), ("scope", "files offline_access")];
    post_form(&world.nobody(), "/oauth/device_authorization", &fields)
        .await
        .ok()
}

async fn poll(world: &World, device: &DeviceAuthorization) -> TestResponse {
    let fields = [
        ("grant_type", GRANT),
        ("device_code", device.device_code.as_str()),
        ("client_id", "cairn"),
    ];
    post_form(&world.nobody(), "/oauth/token", &fields).await
}

/// Opens the page that the complete address leads to.
async fn page(world: &World, device: &DeviceAuthorization) -> Browser {
    let mut browser = Browser::new(world);
    let address = device.verification_uri_complete.as_deref().unwrap();
    let path = address.strip_prefix("http://cairn.test").unwrap();
    let response = browser.open(path).await;
    response.done(200);
    assert!(String::from_utf8_lossy(&response.body).contains(&device.user_code));
    browser
}

#[tokio::test]
async fn a_device_that_is_allowed_gets_tokens_once() {
    let world = World::new();
    let device = begin(&world).await;
    assert_eq!(device.verification_uri, "http://cairn.test/oauth/device");
    assert_refused(&poll(&world, &device).await, 400, "authorization_pending");
    let mut browser = page(&world, &device).await;
    browser.log_in("owner@example.com", "wrong").await.done(403);
    browser.log_in("owner@example.com", "owner").await.done(200);
    let tokens: TokenResponse = poll(&world, &device).await.ok();
    assert!(tokens.refresh_token.is_some());
    assert!(works(&world, &tokens.access_token).await);
    assert_refused(&poll(&world, &device).await, 400, "expired_token");
    browser.log_in("owner@example.com", "owner").await.done(400);
}

#[tokio::test]
async fn a_code_can_be_typed_by_hand() {
    let world = World::new();
    let device = begin(&world).await;
    let mut browser = Browser::new(&world);
    browser.open("/oauth/device").await.done(200);
    let typed = device.user_code.to_lowercase().replace('-', "%20");
    browser
        .open(&format!("/oauth/device?user_code={typed}"))
        .await
        .done(200);
    browser.log_in("owner@example.com", "owner").await.done(200);
    poll(&world, &device).await.done(200);
    browser
        .open("/oauth/device?user_code=BBBB-BBBB")
        .await
        .done(400);
}

#[tokio::test]
async fn a_device_that_is_denied_learns_it_and_denying_needs_no_password() {
    let world = World::new();
    let device = begin(&world).await;
    let mut browser = page(&world, &device).await;
    browser.submit(&[("action", "deny")]).await.done(200);
    assert_refused(&poll(&world, &device).await, 400, "access_denied");
}

#[tokio::test]
async fn a_device_that_polls_too_fast_is_slowed_down_and_codes_end_after_ten_minutes() {
    let world = World::new();
    let device = begin(&world).await;
    let interval = device.interval.unwrap() * 1000;
    assert_refused(&poll(&world, &device).await, 400, "authorization_pending");
    world.app.source().advance(interval - 1);
    assert_refused(&poll(&world, &device).await, 400, "slow_down");
    world.app.source().advance(interval);
    assert_refused(&poll(&world, &device).await, 400, "slow_down");
    world.app.source().advance(interval + 10_000);
    assert_refused(&poll(&world, &device).await, 400, "authorization_pending");
    let mut browser = page(&world, &device).await;
    world.app.source().advance(600_000);
    assert_refused(&poll(&world, &device).await, 400, "expired_token");
    browser.log_in("owner@example.com", "owner").await.done(400);
}

#[tokio::test]
async fn an_unknown_client_gets_no_code() {
    let world = World::new();
    let fields = [("client_id", "other")];
    let response = post_form(&world.nobody(), "/oauth/device_authorization", &fields).await;
    assert_refused(&response, 401, "invalid_client");
}

#[tokio::test]
async fn wrong_passwords_beside_a_code_make_the_browser_wait() {
    let world = World::new();
    let device = begin(&world).await;
    let mut browser = page(&world, &device).await;
    for _ in 0..10 {
        browser.log_in("owner@example.com", "wrong").await.done(403);
    }
    let refused = browser.log_in("owner@example.com", "owner").await;
    refused.done(429);
    assert_eq!(refused.header("retry-after"), "900");
}
