//! Requests that the login page and the token endpoint refuse.

use super::super::world::World;
use super::browser::{Browser, parameter};
use super::{
    CALLBACK, EVERYTHING, VERIFIER, assert_refused, code, post_form, redeem, request,
    service_caller,
};
use axum::http::Method;
use cairn_server::{Options, RateLimits, RegisteredClient};
use cairn_wire::identity::TokenResponse;

fn with(field: &'static str, value: &str) -> Vec<(&'static str, String)> {
    let mut all = request("files");
    all.retain(|(name, _)| *name != field);
    if !value.is_empty() {
        all.push((field, value.to_owned()));
    }
    all
}

#[tokio::test]
async fn the_page_lets_the_form_lead_to_the_address_of_the_application() {
    for (address, source) in [
        ("com.example.app:/back", "com.example.app:"),
        ("com.example.app://back", "com.example.app:"),
        ("http://127.0.0.1:25/back", "http://127.0.0.1:25"),
        ("https://app.example.com/back", "https://app.example.com"),
    ] {
        let world = World::with(Options {
            clients: vec![RegisteredClient {
                id: "app".into(),
                name: None,
                redirect_uris: vec![address.into()],
                secret: None,
            }],
            ..Options::ephemeral()
        });
        let mut asked = with("redirect_uri", address);
        asked.retain(|(name, _)| *name != "client_id");
        asked.push(("client_id", "app".to_owned()));
        let page = Browser::new(&world).authorize(&asked).await;
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains(&format!("form-action 'self' {source};")),
            "{policy}"
        );
    }
}

#[tokio::test]
async fn an_unknown_client_or_address_leads_nowhere() {
    let world = World::new();
    for (field, value) in [
        ("client_id", "other"),
        ("client_id", ""),
        ("redirect_uri", "https://evil.example.com/callback"),
        ("redirect_uri", "http://127.0.0.1.evil.example.com/callback"),
        ("redirect_uri", ""),
    ] {
        let response = Browser::new(&world).authorize(&with(field, value)).await;
        response.done(400);
        assert_eq!(response.header("location"), "", "{field}={value}");
        assert!(response.header("content-type").starts_with("text/html"));
    }
}

#[tokio::test]
async fn a_request_without_pkce_or_with_unknown_wishes_goes_back_with_an_error() {
    let world = World::new();
    for (field, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "", "unsupported_response_type"),
        ("response_mode", "form_post", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("scope", "admin", "invalid_scope"),
        ("scope", "admin other", "invalid_scope"),
        ("prompt", "none", "login_required"),
        ("prompt", "none login", "invalid_request"),
        ("response_mode", "fragment", "invalid_request"),
        (
            "request",
            "eyJhbGciOiJub25lIn0.e30.",
            "request_not_supported",
        ),
        (
            "request_uri",
            "https://cairn.test/r",
            "request_uri_not_supported",
        ),
    ] {
        let response = Browser::new(&world).authorize(&with(field, value)).await;
        assert_eq!(parameter(&response, "error"), error, "{field}={value}");
        assert_eq!(parameter(&response, "state"), "some state");
        assert_eq!(parameter(&response, "iss"), "http://cairn.test");
    }
}

#[tokio::test]
async fn a_parameter_without_a_value_counts_as_left_out() {
    let world = World::new();
    for field in ["response_mode", "prompt", "nonce", "request", "request_uri"] {
        let mut browser = Browser::new(&world);
        browser.authorize(&with(field, "")).await.done(200);
    }
    let mut browser = Browser::new(&world);
    browser.send_request(&with("state", "")).await.done(200);
    let response = browser.log_in("owner@example.com", "owner").await;
    let location = response.header("location");
    assert!(
        location.contains("code=") && !location.contains("state="),
        "{location}"
    );
}

#[tokio::test]
async fn a_wrong_password_shows_the_page_again_and_the_eleventh_has_to_wait() {
    let world = World::new();
    let mut browser = Browser::new(&world);
    browser.authorize(&request("files")).await.done(200);
    for email in ["owner@example.com", "nobody@example.com"] {
        for _ in 0..10 {
            let response = browser.log_in(email, "wrong").await;
            response.done(403);
            assert!(String::from_utf8_lossy(&response.body).contains("password is wrong"));
        }
        let refused = browser.log_in(email, "owner").await;
        refused.done(429);
        assert_eq!(refused.header("retry-after"), "900");
    }
    world.app.source().advance(15 * 60 * 1000);
    browser.authorize(&request("files")).await.done(200);
    let response = browser.log_in("OWNER@example.com", "owner").await;
    assert!(!parameter(&response, "code").is_empty());
}

#[tokio::test]
async fn an_address_logs_in_in_any_letters() {
    let world = World::new();
    let first = "\u{dc}nal@example.com";
    world.app.add_user(first, "secret").unwrap();
    for spelling in [first, "\u{fc}nal@example.com", "u\u{308}NAL@example.com"] {
        let mut browser = Browser::new(&world);
        browser.authorize(&request("files")).await.done(200);
        let response = browser.log_in(spelling, "secret").await;
        assert!(!parameter(&response, "code").is_empty(), "{spelling}");
    }
}

#[tokio::test]
async fn a_reset_forgets_wrong_passwords_of_a_time_to_come() {
    let world = World::new();
    let mut browser = Browser::new(&world);
    world.app.source().advance(30 * 24 * 3600 * 1000);
    browser.authorize(&request("files")).await.done(200);
    for _ in 0..10 {
        browser.log_in("owner@example.com", "wrong").await.done(403);
    }
    let nothing = serde_json::json!({});
    world.nobody().post("/_dev/reset", &nothing).await.done(204);
    browser.authorize(&request("files")).await.done(200);
    let response = browser.log_in("owner@example.com", "owner").await;
    assert!(!parameter(&response, "code").is_empty());
}

#[tokio::test]
async fn a_form_of_another_browser_or_of_an_hour_ago_is_refused() {
    let world = World::new();
    let mut browser = Browser::new(&world);
    browser.authorize(&request("files")).await.done(200);
    world.app.source().advance(600_000);
    browser.log_in("owner@example.com", "owner").await.done(400);
    browser.authorize(&request("files")).await.done(200);
    browser.forget_cookies();
    browser.log_in("owner@example.com", "owner").await.done(400);
}

#[tokio::test]
async fn cancelling_tells_the_client_and_markup_stays_text() {
    let world = World::new();
    let mut browser = Browser::new(&world);
    browser.authorize(&request("files")).await.done(200);
    let response = browser.log_in("\"><b>x</b>", "wrong").await;
    assert!(!String::from_utf8_lossy(&response.body).contains("<b>x"));
    let response = browser.submit(&[("action", "cancel")]).await;
    assert_eq!(parameter(&response, "error"), "access_denied");
}

#[tokio::test]
async fn the_token_endpoint_answers_as_the_rfc_says() {
    let world = World::new();
    let nobody = world.nobody();
    let post = async |fields: &[(&str, &str)]| post_form(&nobody, "/oauth/token", fields).await;
    assert_refused(&post(&[]).await, 400, "invalid_request");
    assert_refused(
        &post(&[("client_id", "cairn")]).await,
        400,
        "invalid_request",
    );
    let password = [("client_id", "cairn"), ("grant_type", "password")];
    assert_refused(&post(&password).await, 400, "unsupported_grant_type");
    let twice = [("client_id", "cairn"), ("client_id", "cairn")];
    assert_refused(&post(&twice).await, 400, "invalid_request");
    let stranger = [
        ("client_id", "x"),
        ("grant_type", "refresh_token"),
        ("refresh_token", "x"),
    ];
    assert_refused(&post(&stranger).await, 401, "invalid_client");
    let json = nobody.post("/oauth/token", &serde_json::json!({})).await;
    assert_refused(&json, 400, "invalid_request");
    let long = "x".repeat(20_000);
    assert_refused(&post(&[("code", &long)]).await, 413, "invalid_request");
}

#[tokio::test]
async fn another_method_is_refused_as_the_rfc_says_and_the_right_one_is_named() {
    let nobody = World::new().nobody();
    let asked = nobody.get("/oauth/token").await;
    assert_refused(&asked, 405, "invalid_request");
    assert_eq!(asked.header("allow"), "POST");
    assert_eq!(asked.header("cache-control"), "no-store");
    let lost = nobody.get("/oauth/tokens").await;
    assert_refused(&lost, 404, "invalid_request");
}

#[tokio::test]
async fn too_many_requests_for_tokens_are_refused_as_the_rfc_says() {
    let world = World::with(Options {
        rate_limits: RateLimits {
            open: 1,
            ..RateLimits::default()
        },
        ..Options::ephemeral()
    });
    let nobody = world.nobody();
    let fields = [("client_id", "cairn")];
    let first = post_form(&nobody, "/oauth/token", &fields).await;
    assert_refused(&first, 400, "invalid_request");
    let second = post_form(&nobody, "/oauth/token", &fields).await;
    assert_refused(&second, 429, "temporarily_unavailable");
    assert_eq!(second.header("retry-after"), "60");
    nobody.get("/api/v1/nodes").await.failed(401);
    nobody.get("/api/v1/nodes").await.failed(429);
}

#[tokio::test]
async fn a_browser_reads_on_a_page_that_it_has_to_wait() {
    let world = World::with(Options {
        rate_limits: RateLimits {
            open: 1,
            ..RateLimits::default()
        },
        ..Options::ephemeral()
    });
    let nobody = world.nobody();
    let browser = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    for path in [
        "/oauth/authorize",
        "/oauth/device",
        "/oauth/account",
        "/s/unknown",
        "/",
    ] {
        nobody.get(path).await;
        let page = nobody.send(Method::GET, path, &browser, "").await;
        page.done(429);
        assert_eq!(page.header("retry-after"), "60", "{path}");
        assert!(
            page.header("content-type").starts_with("text/html"),
            "{path}"
        );
        let html = String::from_utf8_lossy(&page.body);
        assert!(html.contains("Try again in 60 s"), "{html}");
        assert!(page.header("ratelimit").contains("r=0"), "{path}");
    }
    nobody.get("/api/v1/nodes").await.failed(401);
    let data = nobody
        .send(Method::GET, "/api/v1/nodes", &browser, "")
        .await;
    data.failed(429);
}

#[tokio::test]
async fn user_info_says_why_a_token_is_refused() {
    let world = World::new();
    let none = world.nobody().get("/oauth/userinfo").await;
    none.done(401);
    assert_eq!(none.header("www-authenticate"), "Bearer");
    let bad = world.caller(Some("a.b.c")).get("/oauth/userinfo").await;
    assert_refused(&bad, 401, "invalid_token");
    assert_eq!(
        bad.header("www-authenticate"),
        "Bearer error=\"invalid_token\""
    );
    let narrow = service_caller(&world, "files").await;
    let narrow = narrow.get("/oauth/userinfo").await;
    assert_refused(&narrow, 403, "insufficient_scope");
    assert_eq!(
        narrow.header("www-authenticate"),
        "Bearer error=\"insufficient_scope\", scope=\"openid\""
    );
}

#[tokio::test]
async fn a_token_that_does_not_reach_that_far_learns_which_scope_would() {
    let world = World::new();
    let reader = service_caller(&world, "files.read").await;
    let folder = serde_json::json!({"kind": "folder", "name": "a"});
    let tokens: TokenResponse = redeem(&world, &code(&world, "openid").await).await.ok();
    let person = world.caller(Some(&tokens.access_token));
    for refused in [
        reader.post("/api/v1/nodes", &folder).await,
        person.get("/api/v1/nodes").await,
    ] {
        refused.failed(403);
        assert_eq!(
            refused.header("www-authenticate"),
            "Bearer error=\"insufficient_scope\", scope=\"files\""
        );
    }
}

#[tokio::test]
async fn an_application_listens_at_any_port_of_its_machine() {
    let world = World::with(Options {
        clients: vec![RegisteredClient {
            id: "native".into(),
            name: None,
            redirect_uris: vec!["http://127.0.0.1/cb".into()],
            secret: None,
        }],
        ..Options::ephemeral()
    });
    for (address, status) in [
        ("http://127.0.0.1:9999/cb", 200),
        ("http://127.0.0.1/cb", 200),
        ("http://127.0.0.1:9999/other", 400),
        ("http://127.0.0.2:9999/cb", 400),
    ] {
        let mut asked = request("files");
        for (name, value) in &mut asked {
            match *name {
                "client_id" => *value = "native".into(),
                "redirect_uri" => *value = address.into(),
                _ => {}
            }
        }
        let mut browser = Browser::new(&world);
        browser.authorize(&asked).await.done(status);
    }
}

#[tokio::test]
async fn a_registered_client_has_to_prove_itself() {
    let address = "https://app.example.com/back";
    let world = World::with(Options {
        clients: vec![RegisteredClient {
            id: "app".into(),
            name: Some("An <app>".into()),
            redirect_uris: vec![address.into()],
            secret: Some("s3cret/+".into()),
        }],
        ..Options::ephemeral()
    });
    let mut browser = Browser::new(&world);
    let asked: Vec<(&str, String)> = request(EVERYTHING)
        .into_iter()
        .map(|(name, value)| match name {
            "client_id" => (name, "app".to_owned()),
            "redirect_uri" => (name, address.to_owned()),
            _ => (name, value),
        })
        .collect();
    let page = browser.authorize(&asked).await;
    let html = String::from_utf8_lossy(&page.body).into_owned();
    assert!(html.contains("An &lt;app&gt;"), "{html}");
    assert!(
        page.header("content-security-policy")
            .contains("form-action 'self' https://app.example.com;")
    );
    let response = browser.log_in("owner@example.com", "owner").await;
    let location = response.header("location").to_owned();
    let code = location
        .split_once("code=")
        .unwrap()
        .1
        .split('&')
        .next()
        .unwrap()
        .to_owned();

    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", address),
        ("code_verifier", VERIFIER),
    ];
    let nobody = world.nobody();
    for secret in ["", "wrong"] {
        let own = [
            fields.as_slice(),
            &[("client_id", "app"), ("client_secret", secret)],
        ]
        .concat();
        assert_refused(
            &post_form(&nobody, "/oauth/token", &own).await,
            401,
            "invalid_client",
        );
    }
    // `app:s3cret%2F%2B`, as RFC 6749 has it encoded.
    let basic = ("authorization", "Basic YXBwOnMzY3JldCUyRiUyQg==");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let body = serde_urlencoded::to_string(fields).unwrap();
    let post = axum::http::Method::POST;
    nobody
        .send(post, "/oauth/token", &[basic, form], body)
        .await
        .done(200);
    assert_ne!(address, CALLBACK);
}

#[tokio::test]
async fn a_client_may_send_its_request_as_a_form_and_unknown_scopes_are_passed_over() {
    let world = World::new();
    let mut asked = request("openid files calendar");
    asked.push(("prompt", "login consent".to_owned()));
    asked.push(("response_mode", "query".to_owned()));
    let mut browser = Browser::new(&world);
    let page = browser.send_request(&asked).await;
    page.done(200);
    let response = browser.log_in("owner@example.com", "owner").await;
    let tokens = super::redeem(&world, &parameter(&response, "code")).await;
    let tokens: cairn_wire::identity::TokenResponse = tokens.ok();
    assert_eq!(tokens.scope.as_deref(), Some("openid files"));
    let refused = browser.send_request(&with("prompt", "none")).await;
    assert_eq!(parameter(&refused, "error"), "login_required");
}

#[tokio::test]
async fn the_name_of_a_media_type_has_no_case() {
    let world = World::new();
    for (kind, error) in [
        (
            "Application/X-WWW-Form-URLencoded; charset=utf-8",
            "invalid_grant",
        ),
        ("application/x-www-form-urlencodedly", "invalid_request"),
    ] {
        let body = "grant_type=refresh_token&refresh_token=x&client_id=cairn";
        let headers = [("content-type", kind)];
        let nobody = world.nobody();
        let sent = nobody.send(axum::http::Method::POST, "/oauth/token", &headers, body);
        assert_refused(&sent.await, 400, error);
    }
}
