//! The second factor: set up, asked for by the pages, and what it leaves alone.

use super::super::world::{Caller, TestResponse, World};
use super::browser::{Browser, parameter};
use super::{EVERYTHING, log_in, post_form, redeem, refresh, request, service_caller, works};
use cairn_wire::Page;
use cairn_wire::identity::{DeviceAuthorization, TokenResponse};
use cairn_wire::notifications::Notification;
use cairn_wire::second_factor::{BegunSecondFactor, RecoveryCodes, SecondFactorStatus};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::json;
use sha1::Sha1;

const OWNER: &str = "owner@example.com";
const AT: &str = "/api/v1/useraccount/second-factor";
const CONFIRM: &str = "/api/v1/useraccount/second-factor/confirm";
const REMOVE: &str = "/api/v1/useraccount/second-factor/remove";

/// An authenticator app, made from the RFCs and not from the server's own code.
pub(super) struct App(Vec<u8>);

impl App {
    /// Takes the secret out of the address, as an app does.
    pub(super) fn scan(begun: &BegunSecondFactor) -> Self {
        let (_, query) = begun.otpauth_uri.split_once('?').unwrap();
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap();
        let value = |name: &str| &pairs.iter().find(|(key, _)| key == name).unwrap().1;
        assert_eq!(
            [
                value("algorithm"),
                value("digits"),
                value("period"),
                value("issuer")
            ],
            ["SHA1", "6", "30", "Cairn"]
        );
        assert_eq!(value("secret"), &begun.secret);
        let bits: String = begun
            .secret
            .chars()
            .map(|c| {
                let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
                format!("{:05b}", alphabet.find(c).unwrap())
            })
            .collect();
        let byte = |bits: &[u8]| u8::from_str_radix(std::str::from_utf8(bits).unwrap(), 2).unwrap();
        Self(bits.as_bytes().chunks_exact(8).map(byte).collect())
    }

    /// The code that it shows so many steps from now.
    pub(super) fn code(&self, world: &World, steps: i64) -> String {
        let counter = world.app.source().now_ms() / 30_000 + steps;
        let mut mac = Hmac::<Sha1>::new_from_slice(&self.0).unwrap();
        mac.update(&counter.to_be_bytes());
        let hash = mac.finalize().into_bytes();
        let at = usize::from(hash[19] & 15);
        let number = u32::from_be_bytes(hash[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
        format!("{:06}", number % 1_000_000)
    }

    /// A code that is none of those around now.
    pub(super) fn wrong_code(&self, world: &World) -> String {
        let right: Vec<String> = (-1..=1).map(|steps| self.code(world, steps)).collect();
        let all = (0..4).map(|number| format!("{number:06}"));
        all.into_iter().find(|code| !right.contains(code)).unwrap()
    }
}

pub(super) fn step(world: &World) {
    world.app.source().advance(30_000);
}

async fn begin(caller: &Caller) -> BegunSecondFactor {
    let response = caller.post(AT, &json!({"password": "owner"})).await;
    assert_eq!(response.header("cache-control"), "no-store");
    response.ok()
}

/// Sets a second factor up for the owner; the code of the present step is used by that.
async fn set_up(world: &World) -> (App, Vec<String>) {
    let app = App::scan(&begin(&world.owner()).await);
    let code = json!({"code": app.code(world, 0)});
    let response = world.owner().post(CONFIRM, &code).await;
    assert_eq!(response.header("cache-control"), "no-store");
    let codes: RecoveryCodes = response.ok();
    (app, codes.recovery_codes)
}

pub(super) async fn status(caller: &Caller) -> SecondFactorStatus {
    caller.get(AT).await.ok()
}

/// Opens the login page and gives the right password.
async fn give_password(world: &World) -> (Browser, TestResponse) {
    let mut browser = Browser::new(world);
    browser.authorize(&request(EVERYTHING)).await.done(200);
    let response = browser.log_in(OWNER, "owner").await;
    (browser, response)
}

/// The page that asks for the code.
async fn code_page(world: &World) -> Browser {
    let (browser, response) = give_password(world).await;
    response.done(200);
    assert!(String::from_utf8_lossy(&response.body).contains("one-time-code"));
    let policy = response.header("content-security-policy");
    assert!(
        policy.contains("form-action 'self' http://127.0.0.1:5000"),
        "{policy}"
    );
    browser
}

#[tokio::test]
async fn logins_ask_for_a_code_from_the_confirmation_on() {
    let world = World::new();
    let owner = world.owner();
    let wrong = owner.post(AT, &json!({"password": "wrong"})).await;
    wrong.failed(403);
    let app = App::scan(&begin(&owner).await);
    assert!(!status(&owner).await.enabled);
    give_password(&world).await.1.done(303);
    let code = json!({"code": app.wrong_code(&world)});
    owner.post(CONFIRM, &code).await.failed(403);
    give_password(&world).await.1.done(303);

    let confirmed = owner
        .post(CONFIRM, &json!({"code": app.code(&world, 0)}))
        .await;
    let codes: RecoveryCodes = confirmed.ok();
    assert_eq!(codes.recovery_codes.len(), 10);
    let state = status(&owner).await;
    assert!(state.enabled && state.confirmed_at.is_some());
    assert_eq!(state.recovery_codes_left, 10);

    let mut browser = code_page(&world).await;
    let wrong = app.wrong_code(&world);
    let page = browser.submit(&[("code", &wrong)]).await;
    page.done(403);
    assert!(String::from_utf8_lossy(&page.body).contains("The code is wrong"));
    step(&world);
    let response = browser.submit(&[("code", &app.code(&world, 0))]).await;
    assert_eq!(parameter(&response, "state"), "some state");
    let code = parameter(&response, "code");
    let tokens: TokenResponse = redeem(&world, &code).await.ok();
    assert!(works(&world, &tokens.access_token).await);
}

#[tokio::test]
async fn no_code_is_taken_twice_and_none_of_another_time() {
    let world = World::new();
    let (app, _) = set_up(&world).await;
    let mut browser = code_page(&world).await;
    // The one that confirmed it, and one from before.
    for steps in [0, -1, 2] {
        let code = app.code(&world, steps);
        browser.submit(&[("code", &code)]).await.done(403);
    }
    let next = app.code(&world, 1);
    browser.submit(&[("code", &next)]).await.done(303);
    let mut thief = code_page(&world).await;
    thief.submit(&[("code", &next)]).await.done(403);
    step(&world);
    thief.submit(&[("code", &next)]).await.done(403);
}

#[tokio::test]
async fn a_recovery_code_lets_a_device_in_once() {
    let world = World::new();
    let (_, codes) = set_up(&world).await;
    for status_of_page in [200, 403] {
        let fields = [("client_id", "cairn"), ("scope", "files")];
        let device: DeviceAuthorization =
            post_form(&world.nobody(), "/oauth/device_authorization", &fields)
                .await
                .ok();
        let mut browser = Browser::new(&world);
        let address = device.verification_uri_complete.unwrap();
        let path = address.strip_prefix("http://cairn.test").unwrap();
        browser.open(path).await.done(200);
        let page = browser.log_in(OWNER, "owner").await;
        assert!(String::from_utf8_lossy(&page.body).contains("one-time-code"));
        let poll = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", device.device_code.as_str()),
            ("client_id", "cairn"),
        ];
        post_form(&world.nobody(), "/oauth/token", &poll)
            .await
            .done(400);
        let typed = codes[3].to_lowercase().replace('-', " ");
        browser
            .submit(&[("code", &typed)])
            .await
            .done(status_of_page);
        world.app.source().advance(10_000);
        let polled = post_form(&world.nobody(), "/oauth/token", &poll).await;
        assert_eq!(polled.status == 200, status_of_page == 200);
    }
    assert_eq!(status(&world.owner()).await.recovery_codes_left, 9);
    let notices: Page<Notification> = world.owner().get("/api/v1/social/notifications").await.ok();
    assert!(
        notices.content[0].title.contains("9 are left"),
        "{notices:?}"
    );
}

#[tokio::test]
async fn ten_wrong_codes_make_the_account_wait_and_its_owner_is_notified() {
    let world = World::new();
    let (app, codes) = set_up(&world).await;
    let mut browser = code_page(&world).await;
    step(&world);
    let wrong = app.wrong_code(&world);
    for _ in 0..10 {
        browser.submit(&[("code", &wrong)]).await.done(403);
    }
    // The right password doesn't end the wait.
    let mut browser = code_page(&world).await;
    let right = app.code(&world, 0);
    for code in [&right, &codes[0]] {
        let refused = browser.submit(&[("code", code)]).await;
        refused.done(429);
        assert!(!refused.header("retry-after").is_empty());
    }
    let notices: Page<Notification> = world.owner().get("/api/v1/social/notifications").await.ok();
    assert!(
        notices.content[0].title.contains("wrong codes"),
        "{notices:?}"
    );
    world.app.source().advance(15 * 60_000);
    let mut browser = code_page(&world).await;
    let right = app.code(&world, 0);
    browser.submit(&[("code", &right)]).await.done(303);
}

#[tokio::test]
async fn wrong_passwords_of_strangers_use_no_attempts_of_the_owner_up() {
    let world = World::new();
    let (app, _) = set_up(&world).await;
    let id = world.owner().id().await;
    for address in [
        format!("second factor {id}"),
        format!("\nsecond factor {id}"),
    ] {
        let mut stranger = Browser::new(&world);
        stranger.authorize(&request(EVERYTHING)).await.done(200);
        for _ in 0..5 {
            stranger.log_in(&address, "wrong").await.done(403);
        }
    }
    let mut browser = code_page(&world).await;
    step(&world);
    let right = app.code(&world, 0);
    browser.submit(&[("code", &right)]).await.done(303);
}

#[tokio::test]
async fn a_second_factor_that_was_begun_long_ago_is_not_confirmed() {
    let world = World::new();
    let app = App::scan(&begin(&world.owner()).await);
    world.app.source().advance(15 * 60_000);
    let code = json!({"code": app.code(&world, 0)});
    world.owner().post(CONFIRM, &code).await.failed(409);
    assert!(!status(&world.owner()).await.enabled);
    set_up(&world).await;
}

#[tokio::test]
async fn a_page_that_waits_for_a_code_ends_with_the_password_and_is_one_browsers_own() {
    let world = World::new();
    let (app, _) = set_up(&world).await;
    let mut before = code_page(&world).await;
    let mut other = code_page(&world).await;
    let mut old = code_page(&world).await;
    step(&world);
    let code = app.code(&world, 0);
    other.forget_cookies();
    other.submit(&[("code", &code)]).await.done(400);
    world
        .app
        .reset_user_password(OWNER, "a new secret")
        .unwrap();
    before.submit(&[("code", &code)]).await.done(400);
    world.app.source().advance(600_000);
    old.submit(&[("code", &app.code(&world, 0))])
        .await
        .done(400);
    let mut browser = Browser::new(&world);
    browser.authorize(&request(EVERYTHING)).await.done(200);
    browser.log_in(OWNER, "a new secret").await.done(200);
    world.app.set_user_disabled(OWNER, true).unwrap();
    let page = browser.submit(&[("code", &app.code(&world, 0))]).await;
    page.done(403);
    assert!(String::from_utf8_lossy(&page.body).contains("disabled"));
}

#[tokio::test]
async fn no_form_passes_for_another() {
    let world = World::new();
    let (app, _) = set_up(&world).await;
    step(&world);
    let code = app.code(&world, 0);
    // The login page's form proves no password.
    let mut browser = Browser::new(&world);
    browser.authorize(&request(EVERYTHING)).await.done(200);
    browser.lead_form_to("/oauth/second-factor");
    browser.submit(&[("code", &code)]).await.done(400);
    // And the page after the password proves none to the others.
    for path in ["/oauth/authorize", "/oauth/device", "/oauth/password"] {
        let mut browser = code_page(&world).await;
        browser.lead_form_to(path);
        let response = browser.submit(&[("action", "login")]).await;
        assert!(response.status.is_client_error(), "{path}");
    }
}

#[tokio::test]
async fn cancelling_the_code_turns_the_client_away() {
    let world = World::new();
    set_up(&world).await;
    let mut browser = code_page(&world).await;
    let response = browser.submit(&[("action", "cancel")]).await;
    assert_eq!(parameter(&response, "error"), "access_denied");
}

#[tokio::test]
async fn what_was_let_in_before_goes_on() {
    let world = World::new();
    let tokens = log_in(&world).await;
    set_up(&world).await;
    assert!(works(&world, &tokens.access_token).await);
    let next: TokenResponse = refresh(&world, &tokens.refresh_token.unwrap()).await.ok();
    assert!(works(&world, &next.access_token).await);
    world.owner().get("/api/v1/nodes").await.done(200);
    let program = service_caller(&world, "files.read").await;
    program.get("/api/v1/nodes").await.done(200);
}

#[tokio::test]
async fn a_token_that_was_handed_on_reaches_no_second_factor() {
    let world = World::new();
    for scope in ["files", "files.read"] {
        let program = service_caller(&world, scope).await;
        program
            .post(AT, &json!({"password": "owner"}))
            .await
            .failed(403);
        program
            .post(CONFIRM, &json!({"code": "123456"}))
            .await
            .failed(403);
        if scope == "files.read" {
            program.get(AT).await.failed(403);
        }
    }
    assert!(!status(&world.owner()).await.enabled);
}

#[tokio::test]
async fn removing_it_takes_the_password_and_a_code() {
    let world = World::new();
    let owner = world.owner();
    let body = |password: &str, code: &str| json!({"password": password, "code": code});
    owner
        .post(REMOVE, &body("owner", "123456"))
        .await
        .failed(409);
    let (app, codes) = set_up(&world).await;
    owner
        .post(AT, &json!({"password": "owner"}))
        .await
        .failed(409);
    owner
        .post(CONFIRM, &json!({"code": app.code(&world, 1)}))
        .await
        .failed(409);
    let right = app.code(&world, 1);
    owner.post(REMOVE, &body("wrong", &right)).await.failed(403);
    let wrong = app.wrong_code(&world);
    owner.post(REMOVE, &body("owner", &wrong)).await.failed(403);
    assert!(status(&owner).await.enabled);
    owner.post(REMOVE, &body("owner", &right)).await.done(204);
    assert_eq!(status(&owner).await.recovery_codes_left, 0);
    give_password(&world).await.1.done(303);

    // Another one has another secret and other codes.
    let (next, fresh) = set_up(&world).await;
    assert_ne!(next.0, app.0);
    assert!(!fresh.contains(&codes[0]));
    let mut browser = code_page(&world).await;
    browser.submit(&[("code", &codes[0])]).await.done(403);
    browser.submit(&[("code", &fresh[0])]).await.done(303);
    owner
        .post(REMOVE, &body("owner", &fresh[1]))
        .await
        .done(204);
}

#[tokio::test]
async fn whoever_runs_the_server_can_take_it_away() {
    let world = World::new();
    assert!(world.app.reset_user_second_factor(OWNER).is_err());
    set_up(&world).await;
    assert!(world.app.user(OWNER).unwrap().second_factor);
    let mut waiting = code_page(&world).await;
    world.app.reset_user_second_factor(OWNER).unwrap();
    assert!(!world.app.user(OWNER).unwrap().second_factor);
    // Without a factor no code is right; a new login needs none.
    waiting.submit(&[("code", "123456")]).await.done(403);
    give_password(&world).await.1.done(303);
    let notices: Page<Notification> = world.owner().get("/api/v1/social/notifications").await.ok();
    assert!(
        notices.content[0].title.contains("administrator"),
        "{notices:?}"
    );
}
