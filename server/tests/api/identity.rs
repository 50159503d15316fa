//! The OAuth and OpenID provider: every grant type, what ends a login, and what is refused.

mod account_page;
mod administration;
pub(crate) mod browser;
mod device;
mod library;
mod refusals;
mod second_factor;
mod service_accounts;

use super::world::{Caller, TestResponse, World};
use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use browser::Browser;
use cairn_wire::account::RemovedDevice;
use cairn_wire::identity::{CreatedServiceAccount, OAuthErrorBody, TokenResponse};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

const CALLBACK: &str = "http://127.0.0.1:5000/callback";
const VERIFIER: &str = "a-verifier-that-is-long-enough-for-rfc-7636-0123456789";
const EVERYTHING: &str = "openid profile email offline_access files";

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))
}

/// The parameters of a good authorization request.
pub(crate) fn request(scope: &str) -> Vec<(&'static str, String)> {
    vec![
        ("response_type", "code".into()),
        ("client_id", "cairn".into()),
        ("redirect_uri", CALLBACK.into()),
        ("scope", scope.into()),
        ("state", "some state".into()),
        ("nonce", "some nonce".into()),
        ("code_challenge", challenge()),
        ("code_challenge_method", "S256".into()),
    ]
}

/// Logs the owner in and returns the code.
async fn code(world: &World, scope: &str) -> String {
    let mut browser = Browser::new(world);
    browser.authorize(&request(scope)).await.done(200);
    let response = browser.log_in("owner@example.com", "owner").await;
    browser::parameter(&response, "code")
}

/// Logs somebody in and returns the tokens.
pub(crate) async fn log_in_as(world: &World, email: &str, password: &str) -> TokenResponse {
    let mut browser = Browser::new(world);
    browser.authorize(&request(EVERYTHING)).await.done(200);
    let response = browser.log_in(email, password).await;
    redeem(world, &browser::parameter(&response, "code"))
        .await
        .ok()
}

pub(crate) async fn post_form(
    caller: &Caller,
    path: &str,
    fields: &[(&str, &str)],
) -> TestResponse {
    let body = serde_urlencoded::to_string(fields).unwrap();
    let form = ("content-type", "application/x-www-form-urlencoded");
    caller.send(Method::POST, path, &[form], body).await
}

/// Returns a caller with a token of a new service account of the owner.
pub(crate) async fn service_caller(world: &World, scope: &str) -> Caller {
    let account = json!({"name": "export", "scope": scope});
    let owner = world.owner();
    let account: CreatedServiceAccount =
        owner.post("/api/v1/service-accounts", &account).await.ok();
    let fields = [
        ("grant_type", "client_credentials"),
        ("client_id", account.info.client_id.as_str()),
        ("client_secret", account.client_secret.as_str()),
    ];
    let tokens: TokenResponse = post_form(&world.nobody(), "/oauth/token", &fields)
        .await
        .ok();
    world.caller(Some(&tokens.access_token))
}

async fn redeem(world: &World, code: &str) -> TestResponse {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("client_id", "cairn"),
    ];
    post_form(&world.nobody(), "/oauth/token", &fields).await
}

async fn refresh(world: &World, token: &str) -> TestResponse {
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", token),
        ("client_id", "cairn"),
    ];
    post_form(&world.nobody(), "/oauth/token", &fields).await
}

async fn log_in(world: &World) -> TokenResponse {
    redeem(world, &code(world, EVERYTHING).await).await.ok()
}

#[track_caller]
fn assert_refused(response: &TestResponse, status: u16, error: &str) {
    response.done(status);
    let body: OAuthErrorBody = response.json();
    assert_eq!(body.error, error, "{body:?}");
    assert!(body.error_description.is_some_and(|text| !text.is_empty()));
}

async fn works(world: &World, access: &str) -> bool {
    let response = world.caller(Some(access)).get("/api/v1/nodes").await;
    if response.status != 200 {
        response.failed(401);
    }
    response.status == 200
}

#[tokio::test]
async fn a_browser_login_gives_tokens_that_open_the_account() {
    let world = World::new();
    let tokens = log_in(&world).await;
    assert_eq!(
        (tokens.token_type.as_str(), tokens.expires_in),
        ("Bearer", 600)
    );
    assert_eq!(tokens.scope.as_deref(), Some(EVERYTHING));
    assert!(works(&world, &tokens.access_token).await);
    let me = world.caller(Some(&tokens.access_token));
    let info: serde_json::Value = me.get("/oauth/userinfo").await.ok();
    assert_eq!(info["email"], "owner@example.com");
    assert_eq!(info["name"], "owner");
    let account: serde_json::Value = me.get("/api/v1/useraccount/composite").await.ok();
    assert_eq!(info["sub"], account["id"]);

    world.app.source().advance(600_000);
    assert!(!works(&world, &tokens.access_token).await);
    let next: TokenResponse = refresh(&world, &tokens.refresh_token.unwrap()).await.ok();
    assert!(works(&world, &next.access_token).await);
}

#[tokio::test]
async fn a_code_works_once_and_its_second_use_ends_the_login() {
    let world = World::new();
    let code = code(&world, EVERYTHING).await;
    let tokens: TokenResponse = redeem(&world, &code).await.ok();
    assert_refused(&redeem(&world, &code).await, 400, "invalid_grant");
    assert!(!works(&world, &tokens.access_token).await);
    let token = tokens.refresh_token.unwrap();
    assert_refused(&refresh(&world, &token).await, 400, "invalid_grant");
}

#[tokio::test]
async fn a_code_is_good_for_a_minute_and_for_whoever_asked() {
    let world = World::new();
    let late = code(&world, "files").await;
    world.app.source().advance(60_000);
    assert_refused(&redeem(&world, &late).await, 400, "invalid_grant");
    let code = code(&world, "files").await;
    let good = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("client_id", "cairn"),
    ];
    let other = "another-verifier-that-is-long-enough-for-the-rfc-0123";
    for (field, value) in [
        ("redirect_uri", "http://127.0.0.1:5001/callback"),
        ("code_verifier", other),
        ("code", "nonsense"),
    ] {
        let fields = good.map(|(name, old)| (name, if name == field { value } else { old }));
        let response = post_form(&world.nobody(), "/oauth/token", &fields).await;
        assert_refused(&response, 400, "invalid_grant");
    }
    redeem(&world, &code).await.done(200);
}

#[tokio::test]
async fn refresh_tokens_replace_each_other_and_an_old_one_ends_the_login() {
    let world = World::new();
    let first = log_in(&world).await;
    let first_token = first.refresh_token.unwrap();
    let second: TokenResponse = refresh(&world, &first_token).await.ok();
    let second_token = second.refresh_token.unwrap();
    let third: TokenResponse = refresh(&world, &second_token).await.ok();
    assert!(works(&world, &third.access_token).await);
    assert_refused(&refresh(&world, &first_token).await, 400, "invalid_grant");
    for access in [
        &first.access_token,
        &second.access_token,
        &third.access_token,
    ] {
        assert!(!works(&world, access).await);
    }
    let last = third.refresh_token.unwrap();
    assert_refused(&refresh(&world, &last).await, 400, "invalid_grant");
}

#[tokio::test]
async fn a_refresh_narrows_a_login_to_reading_and_never_widens_it() {
    let world = World::new();
    let code = code(&world, "openid offline_access files").await;
    let tokens: TokenResponse = redeem(&world, &code).await.ok();
    let refresh_token = tokens.refresh_token.unwrap();
    let ask = async |token: &str, scope: &str| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token),
            ("client_id", "cairn"),
            ("scope", scope),
        ];
        post_form(&world.nobody(), "/oauth/token", &fields).await
    };
    let narrow: TokenResponse = ask(&refresh_token, "files.read").await.ok();
    assert_eq!(narrow.scope.as_deref(), Some("files.read"));
    let reader = world.caller(Some(&narrow.access_token));
    reader.get("/api/v1/nodes").await.done(200);
    let folder = json!({"kind": "folder", "name": "a"});
    reader.post("/api/v1/nodes", &folder).await.failed(403);
    // The login itself stays as it was.
    let next = narrow.refresh_token.unwrap();
    let whole: TokenResponse = refresh(&world, &next).await.ok();
    let writer = world.caller(Some(&whole.access_token));
    writer.post("/api/v1/nodes", &folder).await.done(201);
    // One that names nothing asks for the same as before.
    let same: TokenResponse = ask(&whole.refresh_token.unwrap(), "").await.ok();
    assert_eq!(same.scope.as_deref(), Some("openid offline_access files"));
    let last = same.refresh_token.unwrap();
    assert_refused(&ask(&last, "files email").await, 400, "invalid_scope");
}

#[tokio::test]
async fn a_response_that_got_lost_costs_no_login_and_its_token_is_watched() {
    let world = World::new();
    let token = log_in(&world).await.refresh_token.unwrap();
    let lost: TokenResponse = refresh(&world, &token).await.ok();
    world.app.source().advance(61_000);
    let again: TokenResponse = refresh(&world, &token).await.ok();
    assert!(works(&world, &again.access_token).await);
    // Whoever has what was lost can't use it unnoticed.
    let lost = lost.refresh_token.unwrap();
    assert_refused(&refresh(&world, &lost).await, 400, "invalid_grant");
    assert!(!works(&world, &again.access_token).await);
}

#[tokio::test]
async fn refreshes_at_the_same_moment_cost_no_login_whichever_response_is_kept() {
    for kept in 0..3 {
        let world = World::new();
        let token = log_in(&world).await.refresh_token.unwrap();
        world.app.source().advance(600_000);
        let mut successors = Vec::new();
        for _ in 0..3 {
            let tokens: TokenResponse = refresh(&world, &token).await.ok();
            successors.push(tokens.refresh_token.unwrap());
        }
        world.app.source().advance(600_000);
        let next: TokenResponse = refresh(&world, &successors[kept]).await.ok();
        assert!(works(&world, &next.access_token).await, "{kept}");
        let last: TokenResponse = refresh(&world, &next.refresh_token.unwrap()).await.ok();
        // Its successor has been used.
        assert_refused(&refresh(&world, &token).await, 400, "invalid_grant");
        assert!(!works(&world, &last.access_token).await, "{kept}");
    }
}

#[tokio::test]
async fn whoever_takes_turns_with_the_owner_of_a_login_ends_it() {
    let world = World::new();
    let stolen = log_in(&world).await.refresh_token.unwrap();
    let (mut owner, mut thief) = (stolen.clone(), stolen);
    let mut refused = false;
    for turn in 0..6 {
        world.app.source().advance(300_000);
        let held = if turn % 2 == 0 {
            &mut owner
        } else {
            &mut thief
        };
        let response = refresh(&world, held).await;
        if response.status != 200 {
            refused = true;
            break;
        }
        *held = response.ok::<TokenResponse>().refresh_token.unwrap();
    }
    assert!(refused);
    for token in [&owner, &thief] {
        assert_refused(&refresh(&world, token).await, 400, "invalid_grant");
    }
}

#[tokio::test]
async fn revoking_either_token_ends_the_login_at_once_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let one = log_in(&world).await;
    let two = log_in(&world).await;
    let kept = log_in(&world).await;
    let refresh_token = one.refresh_token.unwrap();
    for token in [&refresh_token, &two.access_token] {
        let fields = [("token", token.as_str()), ("client_id", "cairn")];
        post_form(&world.nobody(), "/oauth/revoke", &fields)
            .await
            .done(200);
    }
    let unknown = [("token", "nonsense"), ("client_id", "cairn")];
    post_form(&world.nobody(), "/oauth/revoke", &unknown)
        .await
        .done(200);
    assert!(!works(&world, &one.access_token).await);
    assert!(!works(&world, &two.access_token).await);
    assert_refused(&refresh(&world, &refresh_token).await, 400, "invalid_grant");
    drop(world);
    let world = World::stored_in(dir.path());
    assert!(!works(&world, &one.access_token).await);
    assert!(works(&world, &kept.access_token).await);
    refresh(&world, &kept.refresh_token.unwrap())
        .await
        .done(200);
}

#[tokio::test]
async fn removing_a_device_ends_the_logins_that_it_uses_and_no_other() {
    let world = World::new();
    let lost = log_in(&world).await;
    let kept = log_in(&world).await;
    let laptop = world.caller(Some(&lost.access_token)).on_device(7);
    let other = world.caller(Some(&kept.access_token)).on_device(8);
    for (caller, number) in [(&laptop, 7), (&other, 8)] {
        let id = Uuid::from_bytes([number; 16]);
        let device = json!({"id": id, "name": "mine"});
        let path = format!("/api/v1/devices/{id}");
        caller.put(&path, &device).await.done(200);
    }
    let path = format!("/api/v1/devices/{}", Uuid::from_bytes([7; 16]));
    let removed: RemovedDevice = other.delete(&path).await.ok();
    assert_eq!(removed.logins_ended, 1);
    assert!(!works(&world, &lost.access_token).await);
    assert_refused(
        &refresh(&world, &lost.refresh_token.unwrap()).await,
        400,
        "invalid_grant",
    );
    assert!(works(&world, &kept.access_token).await);
}

#[tokio::test]
async fn a_login_that_is_not_used_for_sixty_days_ends() {
    let world = World::new();
    let token = log_in(&world).await.refresh_token.unwrap();
    let day = 24 * 3600 * 1000;
    world.app.source().advance(59 * day);
    world.app.housekeep().await.unwrap();
    let next: TokenResponse = refresh(&world, &token).await.ok();
    world.app.source().advance(60 * day);
    world.app.housekeep().await.unwrap();
    let late = refresh(&world, &next.refresh_token.unwrap()).await;
    assert_refused(&late, 400, "invalid_grant");
}

#[tokio::test]
async fn scopes_bound_what_a_token_does() {
    let world = World::new();
    let reading: TokenResponse = redeem(&world, &code(&world, "files.read").await).await.ok();
    assert_eq!(reading.refresh_token, None);
    assert_eq!(reading.id_token, None);
    let reader = world.caller(Some(&reading.access_token));
    reader.get("/api/v1/nodes").await.done(200);
    let none = serde_json::json!({"files": [], "content": false});
    reader
        .post("/api/v1/downloads/batch", &none)
        .await
        .done(200);
    let none = serde_json::json!({"nodes": [], "at": "2026-01-01T00:00:00Z"});
    reader
        .post("/api/v1/revisions/batch", &none)
        .await
        .done(200);
    let folder = serde_json::json!({"kind": "folder", "name": "a"});
    reader.post("/api/v1/nodes", &folder).await.failed(403);
    assert_refused(
        &reader.get("/oauth/userinfo").await,
        403,
        "insufficient_scope",
    );

    let knowing: TokenResponse = redeem(&world, &code(&world, "openid").await).await.ok();
    let knower = world.caller(Some(&knowing.access_token));
    knower.get("/api/v1/nodes").await.failed(403);
    let info: serde_json::Value = knower.get("/oauth/userinfo").await.ok();
    assert_eq!(info.as_object().unwrap().len(), 1);
}
