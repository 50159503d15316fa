//! A server that sends mail: it says so, and it proves addresses by codes.

use super::identity::browser::{Browser, parameter};
use super::identity::request;
use super::shares::share;
use super::visitors::{open, path};
use super::world::{TestResponse, World};
use cairn_server::{MailOptions, Options};
use cairn_wire::shares::{OpenedShare, PublicShare, SharedByEmail};
use serde_json::{Value, json};

/// Makes a server whose mails nobody takes: what these tests look at is what waits.
fn mailing_world() -> World {
    World::with(Options {
        mail: Some(MailOptions {
            url: "smtp://127.0.0.1:9".into(),
            from: "Cairn <cairn@example.com>".into(),
        }),
        public_url: Some("https://files.example.com".into()),
        ..Options::ephemeral()
    })
}

async fn mails(world: &World) -> Vec<Value> {
    let mails: Value = world.nobody().get("/_dev/mail").await.ok();
    mails["mails"].as_array().unwrap().clone()
}

/// The text of the last mail, which has to be to this address.
async fn last_mail(world: &World, to: &str) -> String {
    let mails = mails(world).await;
    let mail = mails.last().unwrap();
    assert_eq!(
        (&mail["to"], &mail["state"]),
        (&json!(to), &json!("waiting"))
    );
    mail["body"].as_str().unwrap().to_owned()
}

fn code_in(text: &str) -> String {
    text.split(|c: char| !c.is_ascii_digit())
        .find(|run| run.len() == 8)
        .unwrap()
        .to_owned()
}

/// The path and query of the link in a mail.
fn link_in(text: &str) -> String {
    let (_, rest) = text
        .split_once("https://files.example.com/oauth/password")
        .unwrap();
    format!("/oauth/password{}", rest.split_whitespace().next().unwrap())
}

#[tokio::test]
async fn mails_are_called_sent_only_where_there_is_a_mail_server() {
    for (world, sent) in [(mailing_world(), true), (World::new(), false)] {
        let owner = world.owner();
        let file = owner.file(None, "a.txt", "x").await;
        let body = json!({"file_id": file.id, "email": "ada@example.com"});
        let made: SharedByEmail = owner.post("/api/v1/shares/email", &body).await.ok();
        assert_eq!(made.email_sent, sent);
        let state = if sent { "waiting" } else { "kept" };
        assert_eq!(mails(&world).await[0]["state"], state);
    }
}

#[tokio::test]
async fn an_allowed_address_is_proved_by_the_code_that_was_sent_there() {
    let world = mailing_world();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(
        &owner,
        &file,
        json!({"allowed_emails": ["ada@example.com"]}),
    )
    .await;
    let look: PublicShare = stranger.get(&path(&link, "")).await.ok();
    assert!(look.asks_email && look.verifies_email);
    let ada = json!({"email": "Ada@example.com"});
    open(&stranger, &link, ada).await.done(202);
    let code = code_in(&last_mail(&world, "ada@example.com").await);
    // Somebody else's address gets the same response, and no mail.
    let before = mails(&world).await.len();
    let eve = json!({"email": "eve@example.com"});
    open(&stranger, &link, eve).await.done(202);
    assert_eq!(mails(&world).await.len(), before);
    for wrong in [
        json!({"email": "ada@example.com", "email_code": "00000000"}),
        json!({"email": "eve@example.com", "email_code": code}),
    ] {
        open(&stranger, &link, wrong).await.failed(403);
    }
    let right = json!({"email": "ada@example.com", "email_code": code});
    let opened: OpenedShare = open(&stranger, &link, right.clone()).await.ok();
    assert!(!opened.access.is_empty());
    open(&stranger, &link, right).await.failed(403);
}

#[tokio::test]
async fn a_code_opens_only_the_link_that_it_was_sent_for() {
    let world = mailing_world();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let settings = json!({"allowed_emails": ["ada@example.com"]});
    let first = share(&owner, &file, settings.clone()).await;
    let second = share(&owner, &file, settings).await;
    open(&stranger, &first, json!({"email": "ada@example.com"}))
        .await
        .done(202);
    let code = code_in(&last_mail(&world, "ada@example.com").await);
    let body = json!({"email": "ada@example.com", "email_code": code});
    open(&stranger, &second, body.clone()).await.failed(403);
    open(&stranger, &first, body).await.done(200);
}

#[tokio::test]
async fn a_forgotten_password_is_replaced_through_a_link_once() {
    let world = mailing_world();
    let mut browser = Browser::new(&world);
    let page = browser.open("/oauth/forgotten").await;
    page.done(200);
    // The page says the same for an address without an account.
    let nobody = browser.submit(&[("email", "nobody@example.com")]).await;
    assert!(mails(&world).await.is_empty());
    browser.open("/oauth/forgotten").await.done(200);
    let known = browser.submit(&[("email", "owner@example.com")]).await;
    let text = |response: &TestResponse| {
        String::from_utf8_lossy(&response.body).replace(char::is_whitespace, "")
    };
    let main = |text: String| text.split_once("<main>").unwrap().1.to_owned();
    assert_eq!(main(text(&nobody)), main(text(&known)));
    let link = link_in(&last_mail(&world, "owner@example.com").await);
    // Looking at it uses nothing up: programs that check mails open links.
    browser.open(&link).await.done(200);
    browser.open(&link).await.done(200);
    browser
        .submit(&[("password", "short"), ("again", "short")])
        .await
        .done(400);
    browser
        .submit(&[("password", "a new password"), ("again", "another one")])
        .await
        .done(400);
    let same = [("password", "a new password"), ("again", "a new password")];
    browser.submit(&same).await.done(200);
    browser.submit(&same).await.done(410);
    browser.open(&link).await.done(410);
    let account = world.app.user("owner@example.com").unwrap();
    assert_eq!(account.sessions, 0);
}

#[tokio::test]
async fn an_invited_person_makes_an_account_with_a_proved_address() {
    let world = mailing_world();
    // Who has the link proves the address: only the mail has it.
    assert_eq!(world.app.invite_user("new@example.com").unwrap(), None);
    let link = link_in(&last_mail(&world, "new@example.com").await);
    let mut browser = Browser::new(&world);
    browser.open(&link).await.done(200);
    let same = [("password", "a new password"), ("again", "a new password")];
    browser.submit(&same).await.done(200);
    assert!(world.app.user("new@example.com").unwrap().email_verified);
    assert!(!world.app.user("owner@example.com").unwrap().email_verified);
    browser.open(&link).await.done(410);
    world.app.invite_user("new@example.com").unwrap_err();
}

#[tokio::test]
async fn a_link_that_was_handed_over_proves_no_address() {
    let world = World::with(Options {
        public_url: Some("https://files.example.com".into()),
        ..Options::ephemeral()
    });
    let link = world.app.invite_user("new@example.com").unwrap();
    let mut browser = Browser::new(&world);
    browser.open(&link_in(&link.unwrap())).await.done(200);
    let same = [("password", "a new password"), ("again", "a new password")];
    browser.submit(&same).await.done(200);
    assert!(!world.app.user("new@example.com").unwrap().email_verified);
}

#[tokio::test]
async fn a_reset_goes_to_the_address_of_the_account_however_it_is_typed_and_three_at_most() {
    let world = mailing_world();
    for typed in [
        "OWNER@example.com",
        "Owner@Example.com",
        "owner@example.com",
        "oWner@example.com",
    ] {
        let mut browser = Browser::new(&world);
        browser.open("/oauth/forgotten").await.done(200);
        browser.submit(&[("email", typed)]).await.done(200);
    }
    let mails = mails(&world).await;
    assert_eq!(mails.len(), 3);
    assert!(mails.iter().all(|mail| mail["to"] == "owner@example.com"));
}

#[tokio::test]
async fn a_new_password_through_a_link_ends_the_wait_after_wrong_ones() {
    let world = mailing_world();
    let email = "owner@example.com";
    let mut browser = Browser::new(&world);
    browser.authorize(&request("files")).await.done(200);
    for _ in 0..10 {
        browser.log_in(email, "wrong").await.done(403);
    }
    browser.log_in(email, "owner").await.done(429);
    browser.open("/oauth/forgotten").await.done(200);
    browser.submit(&[("email", email)]).await.done(200);
    let link = link_in(&last_mail(&world, email).await);
    browser.open(&link).await.done(200);
    let same = [("password", "a new password"), ("again", "a new password")];
    browser.submit(&same).await.done(200);
    browser.authorize(&request("files")).await.done(200);
    let response = browser.log_in(email, "a new password").await;
    assert!(!parameter(&response, "code").is_empty());
}

#[tokio::test]
async fn wrong_codes_tell_nothing_about_the_addresses_of_a_link() {
    let world = mailing_world();
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "a.txt", "x").await;
    let link = share(
        &owner,
        &file,
        json!({"allowed_emails": ["ada@example.com"]}),
    )
    .await;
    for email in ["ada@example.com", "eve@example.com"] {
        for _ in 0..4 {
            open(&stranger, &link, json!({"email": email}))
                .await
                .done(202);
        }
        for _ in 0..5 {
            let wrong = json!({"email": email, "email_code": "x"});
            open(&stranger, &link, wrong).await.failed(403);
        }
    }
    assert_eq!(mails(&world).await.len(), 3);
}

#[tokio::test]
async fn an_account_mails_so_many_strangers_a_day() {
    let world = mailing_world();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let mut sent = 0;
    for number in 0..201 {
        let body = json!({"file_id": file.id, "email": format!("a{number}@example.com")});
        let made: SharedByEmail = owner.post("/api/v1/shares/email", &body).await.ok();
        sent += u32::from(made.email_sent);
    }
    assert_eq!(sent, 200);
}

#[test]
fn mail_without_a_configured_address_is_refused() {
    let options = Options {
        mail: Some(MailOptions {
            url: "smtp://127.0.0.1:9".into(),
            from: "cairn@example.com".into(),
        }),
        ..Options::ephemeral()
    };
    let refused = cairn_server::build(options).err().unwrap();
    assert!(refused.to_string().contains("public_url"), "{refused}");
}

#[tokio::test]
async fn without_mail_no_link_is_offered() {
    let world = World::new();
    let mut browser = Browser::new(&world);
    browser.open("/oauth/forgotten").await.done(404);
    // An invitation needs an address that people can open.
    let refused = world.app.invite_user("new@example.com").unwrap_err();
    assert!(refused.to_string().contains("public_url"), "{refused}");
}
