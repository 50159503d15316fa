//! The page where people look after their own account.

use super::super::world::{TestResponse, World};
use super::browser::Browser;
use super::second_factor::{App, status, step};
use super::{EVERYTHING, log_in, log_in_as, refresh, request, works};
use cairn_wire::Page;
use cairn_wire::notifications::Notification;
use cairn_wire::second_factor::BegunSecondFactor;

const AT: &str = "/oauth/account";
const OWNER: &str = "owner@example.com";

fn html(response: &TestResponse) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

/// Returns all values that stand between a text and the next quotation mark.
fn values(response: &TestResponse, before: &str) -> Vec<String> {
    let html = html(response);
    let parts = html.split(before).skip(1);
    parts
        .map(|part| part.split('"').next().unwrap().to_owned())
        .collect()
}

/// Opens the page and logs in to it; a second factor is asked for first.
async fn open_with(world: &World, password: &str) -> (Browser, TestResponse) {
    let mut browser = Browser::new(world);
    browser.open(AT).await.done(200);
    let page = browser.log_in(OWNER, password).await;
    (browser, page)
}

async fn open(world: &World) -> (Browser, TestResponse) {
    let (browser, page) = open_with(world, "owner").await;
    page.done(200);
    assert!(html(&page).contains(OWNER), "{}", html(&page));
    (browser, page)
}

async fn act(browser: &mut Browser, action: &str) -> TestResponse {
    browser.submit(&[("action", action)]).await
}

/// Asks for a second factor on the page, and scans its secret.
async fn set_up(browser: &mut Browser) -> App {
    let page = browser
        .submit(&[("action", "set-up"), ("password", "owner")])
        .await;
    page.done(200);
    assert!(html(&page).contains("aria-label=\"QR code with the secret\""));
    let links = values(&page, "href=\"otpauth://");
    let otpauth_uri = format!("otpauth://{}", links[0].replace("&amp;", "&"));
    let (_, rest) = otpauth_uri.split_once("secret=").unwrap();
    let secret = rest.split('&').next().unwrap().to_owned();
    let typed: String = html(&page)
        .split_once("<code>")
        .and_then(|(_, rest)| rest.split_once("</code>"))
        .map(|(shown, _)| shown.replace(' ', ""))
        .unwrap();
    assert_eq!(typed, secret);
    App::scan(&BegunSecondFactor {
        secret,
        otpauth_uri,
    })
}

#[tokio::test]
async fn logins_are_listed_and_ended() {
    let world = World::new();
    let phone = log_in(&world).await;
    step(&world);
    let laptop = log_in(&world).await;
    let others = log_in_as(&world, "member@example.com", "member").await;
    let (mut browser, page) = open(&world).await;
    let logins = values(&page, "name=\"session\" value=\"");
    assert_eq!(logins.len(), 2);
    assert!(html(&page).contains("Cairn"));
    // The oldest comes first.
    let end = [("action", "end"), ("session", logins[0].as_str())];
    let page = browser.submit(&end).await;
    page.done(200);
    assert_eq!(
        values(&page, "name=\"session\" value=\""),
        [logins[1].clone()]
    );
    assert!(!works(&world, &phone.access_token).await);
    assert!(works(&world, &laptop.access_token).await);
    // Sent again it changes nothing.
    browser.submit(&end).await.done(200);

    let page = act(&mut browser, "end-all").await;
    page.done(200);
    assert!(values(&page, "name=\"session\" value=\"").is_empty());
    let token = laptop.refresh_token.unwrap();
    refresh(&world, &token).await.done(400);
    assert!(works(&world, &others.access_token).await);
}

#[tokio::test]
async fn nobody_ends_the_login_of_another_account() {
    let world = World::new();
    let (mut browser, _) = open(&world).await;
    log_in_as(&world, "member@example.com", "member").await;
    let sessions = world.app.user_sessions("member@example.com").unwrap();
    let id = sessions[0].id.to_string();
    let page = browser.submit(&[("action", "end"), ("session", &id)]).await;
    page.done(200);
    let left = world.app.user_sessions("member@example.com").unwrap();
    assert_eq!(left, sessions);
}

#[tokio::test]
async fn a_second_factor_is_set_up_used_and_switched_off() {
    let world = World::new();
    let owner = world.owner();
    let (mut browser, _) = open(&world).await;
    let wrong = [("action", "set-up"), ("password", "wrong")];
    let page = browser.submit(&wrong).await;
    page.done(403);
    assert!(html(&page).contains("The password is wrong."));
    let app = set_up(&mut browser).await;
    assert!(!status(&owner).await.enabled);

    let code = app.wrong_code(&world);
    let page = browser
        .submit(&[("action", "confirm"), ("code", &code)])
        .await;
    page.done(403);
    assert!(html(&page).contains("The code is wrong"));
    assert!(html(&page).contains("otpauth://"), "it is shown again");
    let code = app.code(&world, 0);
    let page = browser
        .submit(&[("action", "confirm"), ("code", &code)])
        .await;
    page.done(200);
    let shown = html(&page);
    assert_eq!(shown.matches("<li><code>").count(), 10);
    assert!(status(&owner).await.enabled);
    let recovery = shown
        .split_once("<li><code>")
        .and_then(|(_, rest)| rest.split_once('<'))
        .map(|(code, _)| code.to_owned())
        .unwrap();
    let page = act(&mut browser, "show").await;
    assert!(!html(&page).contains(&recovery), "they are shown once");
    assert!(html(&page).contains("Recovery codes left: 10"));

    step(&world);
    let (mut other, page) = open_with(&world, "owner").await;
    page.done(200);
    assert!(html(&page).contains("one-time-code") && !html(&page).contains("Logins"));
    let page = other.submit(&[("code", &app.wrong_code(&world))]).await;
    page.done(403);
    let page = other.submit(&[("code", &app.code(&world, 0))]).await;
    page.done(200);
    assert!(html(&page).contains("Logins"));

    let code = app.wrong_code(&world);
    let page = other.submit(&[("action", "remove"), ("code", &code)]).await;
    page.done(403);
    assert!(status(&owner).await.enabled);
    let typed = recovery.to_lowercase();
    let page = other
        .submit(&[("action", "remove"), ("code", &typed)])
        .await;
    page.done(200);
    assert!(!status(&owner).await.enabled);
}

#[tokio::test]
async fn a_second_factor_that_was_begun_long_ago_has_to_be_begun_again() {
    let world = World::new();
    let (mut browser, _) = open(&world).await;
    let app = set_up(&mut browser).await;
    world.app.source().advance(9 * 60_000);
    act(&mut browser, "show").await.done(200);
    world.app.source().advance(9 * 60_000);
    let code = app.code(&world, 0);
    let page = browser
        .submit(&[("action", "confirm"), ("code", &code)])
        .await;
    page.done(409);
    assert!(html(&page).contains("Begin again."));
    assert!(!status(&world.owner()).await.enabled);
}

#[tokio::test]
async fn a_new_password_ends_the_logins_and_the_pages_that_are_open_elsewhere() {
    let world = World::new();
    let tokens = log_in(&world).await;
    let (mut browser, _) = open(&world).await;
    let (mut elsewhere, _) = open(&world).await;
    let change = |present: &'static str, new: &'static str, again: &'static str| {
        [
            ("action", "change-password"),
            ("password", present),
            ("new_password", new),
            ("again", again),
        ]
    };
    for (fields, code, text) in [
        (
            change("wrong", "a new secret", "a new secret"),
            403,
            "wrong",
        ),
        (change("owner", "a new secret", "another"), 400, "differ"),
        (change("owner", "short", "short"), 400, "at least 8"),
        (
            change("owner", "password1", "password1"),
            400,
            "easy to guess",
        ),
    ] {
        let page = browser.submit(&fields).await;
        page.done(code);
        assert!(html(&page).contains(text), "{text}");
    }
    assert!(works(&world, &tokens.access_token).await);
    let page = browser
        .submit(&change("owner", "a new secret", "a new secret"))
        .await;
    page.done(200);
    assert!(html(&page).contains("The password is changed"));
    assert!(!works(&world, &tokens.access_token).await);
    act(&mut browser, "show").await.done(200);
    act(&mut elsewhere, "show").await.done(400);
    open_with(&world, "owner").await.1.done(403);
    open_with(&world, "a new secret").await.1.done(200);
    let notices: Page<Notification> = world.owner().get("/api/v1/social/notifications").await.ok();
    assert!(
        notices.content[0].title.contains("password was changed"),
        "{notices:?}"
    );
}

#[tokio::test]
async fn a_page_belongs_to_its_browser_and_ends() {
    let world = World::new();
    let (mut foreign, _) = open(&world).await;
    foreign.forget_cookies();
    act(&mut foreign, "end-all").await.done(400);

    let (mut idle, _) = open(&world).await;
    let (mut busy, _) = open(&world).await;
    world.app.source().advance(9 * 60_000);
    act(&mut busy, "show").await.done(200);
    world.app.source().advance(60_000);
    act(&mut idle, "show").await.done(400);
    for _ in 0..5 {
        act(&mut busy, "show").await.done(200);
        world.app.source().advance(9 * 60_000);
    }
    act(&mut busy, "show").await.done(200);
    world.app.source().advance(5 * 60_000);
    act(&mut busy, "show").await.done(400);

    let (mut browser, _) = open(&world).await;
    act(&mut browser, "log-out").await.done(200);
    act(&mut browser, "show").await.done(400);

    let (mut browser, _) = open(&world).await;
    world.app.set_user_disabled(OWNER, true).unwrap();
    let page = act(&mut browser, "end-all").await;
    page.done(403);
    assert!(html(&page).contains("disabled"));
}

#[tokio::test]
async fn no_other_form_opens_the_page() {
    let world = World::new();
    let mut browser = Browser::new(&world);
    for path in ["/oauth/account", "/oauth/authorize"] {
        if path == AT {
            browser.open(AT).await.done(200);
        } else {
            browser.authorize(&request(EVERYTHING)).await.done(200);
        }
        browser.lead_form_to("/oauth/account/change");
        let page = act(&mut browser, "end-all").await;
        page.done(400);
        assert!(!html(&page).contains(OWNER), "{path}");
    }
    // And that of the page is no login at another place.
    for path in ["/oauth/account", "/oauth/second-factor", "/oauth/authorize"] {
        let (mut browser, _) = open(&world).await;
        browser.lead_form_to(path);
        let page = browser.submit(&[("code", "123456")]).await;
        assert!(page.status.is_client_error(), "{path}: {}", page.status);
    }
}

#[tokio::test]
async fn wrong_passwords_on_the_page_count_like_those_of_the_login() {
    let world = World::new();
    let (mut browser, _) = open(&world).await;
    let wrong = [("action", "set-up"), ("password", "wrong")];
    for _ in 0..10 {
        browser.submit(&wrong).await.done(403);
    }
    let page = browser.submit(&wrong).await;
    page.done(429);
    assert!(!page.header("retry-after").is_empty());
    let page = open_with(&world, "owner").await.1;
    page.done(429);
    assert!(!page.header("retry-after").is_empty());
}

#[tokio::test]
async fn an_account_that_is_about_to_be_deleted_is_not_changed() {
    let world = World::new();
    world.app.request_user_deletion(OWNER).unwrap();
    let (mut browser, _) = open(&world).await;
    let page = browser
        .submit(&[("action", "set-up"), ("password", "owner")])
        .await;
    page.done(403);
    assert!(html(&page).contains("is to be deleted on"));
    act(&mut browser, "end-all").await.done(200);
}
