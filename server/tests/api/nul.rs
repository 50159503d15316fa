//! NUL and other control characters in paths, parameters and bodies, none of which may reach the database.

use super::world::World;
use axum::http::Method;
use cairn_wire::payments::BillingPortal;
use serde_json::{Value, json};

#[tokio::test]
async fn a_path_with_a_nul_names_nothing() {
    let world = World::new();
    let nobody = world.nobody();
    let link = "/api/v1/public/shares/a%00b";
    for path in ["/s/%00", "/s/assets/%00", "/api/v1/public/shares/%00", link] {
        nobody.get(path).await.done(404);
    }
    for action in ["open", "downloads"] {
        let refused = nobody.post(&format!("{link}/{action}"), &json!({})).await;
        refused.failed(404);
    }
    let page = nobody.get("/s/%00").await;
    let media = page.header("content-type").to_owned();
    assert!(media.starts_with("text/html"), "{media}");
    let owner = world.owner();
    for below in ["", "/access-log", "/audit", "/health"] {
        let path = format!("/api/v1/shares/%00{below}");
        owner.get(&path).await.failed(404);
    }
    owner
        .put("/api/v1/shares/%00", &json!({}))
        .await
        .failed(404);
    owner.delete("/api/v1/shares/%00").await.failed(404);
}

#[tokio::test]
async fn a_parameter_with_a_nul_is_refused() {
    let owner = World::new().owner();
    for path in [
        "nodes/?name=a%00b",
        "search/?query=ab%00",
        "changes?cursor=%00",
        "changes/past?after=%00",
        "search/?query=trip&ext=%00",
    ] {
        let refused = owner.get(&format!("/api/v1/{path}")).await;
        refused.failed(400);
    }
}

#[tokio::test]
async fn a_parameter_in_another_encoding_is_refused() {
    let owner = World::new().owner();
    owner.folder(None, "caf\u{fffd}").await;
    // Read with replacement characters, it would find another name.
    let latin = owner.get("/api/v1/nodes/?name=caf%E9").await.failed(400);
    assert!(latin.contains("UTF-8"), "{latin}");
    owner.get("/api/v1/search/?query=caf%E9").await.failed(400);
    owner.get("/api/v1/nodes/?name=caf%C3%A9").await.done(200);
}

#[tokio::test]
async fn a_form_with_a_nul_is_refused() {
    let nobody = World::new().nobody();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = "grant_type=refresh_token&client_id=cairn&refresh_token=%00";
    let refused = nobody.send(Method::POST, "/oauth/token", &form, body).await;
    refused.done(400);
    let why: Value = refused.json();
    let why = why["error_description"].as_str().unwrap();
    assert!(
        why.contains("refresh_token") && why.contains("NUL"),
        "{why}"
    );
}

#[tokio::test]
async fn a_form_keeps_the_rules_of_its_fields() {
    let world = World::new();
    let (owner, nobody) = (world.owner(), world.nobody());
    let portal: BillingPortal = owner.get("/api/v1/payment/billing-portal").await.ok();
    let path = portal.url.strip_prefix("http://cairn.test").unwrap();
    let path = format!("{path}/tokens");
    let form = ("content-type", "application/x-www-form-urlencoded");
    for (body, words) in [
        ("pack=starter&coupon=%00", "`coupon`: it has a NUL"),
        (
            "pack=starter&coupon=a%1b",
            "`coupon`: of control characters",
        ),
        ("pack=huge", "`pack`: it has to be one of"),
        ("coupon=a", "the form can't be read"),
    ] {
        let refused = nobody.send(Method::POST, &path, &[form], body).await;
        let why = refused.failed(400);
        assert!(why.contains(words), "{body}: {why}");
    }
    let json = ("content-type", "application/json");
    let refused = nobody.send(Method::POST, &path, &[json], "{}").await;
    refused.failed(415);
    let long = format!("pack=starter&coupon={}", "a".repeat(16 * 1024));
    let refused = nobody.send(Method::POST, &path, &[form], long).await;
    refused.failed(413);
}

#[tokio::test]
async fn a_page_says_to_a_person_that_its_address_has_a_nul() {
    let nobody = World::new().nobody();
    for path in [
        "authorize?state=%00",
        "device?user_code=%00",
        "password?token=%00",
    ] {
        let refused = nobody.get(&format!("/oauth/{path}")).await;
        refused.done(400);
        let kind = refused.header("content-type");
        assert!(kind.starts_with("text/html"), "{path}: {kind}");
    }
}

#[tokio::test]
async fn texts_of_bodies_have_no_control_characters_but_tabs_and_ends_of_lines() {
    let owner = World::new().owner();
    let node = owner.folder(None, "d").await.id;
    let node = format!("/api/v1/nodes/{node}");
    for bad in ["a\0b", "\0", "a\u{1b}[31mb"] {
        for body in [
            json!({"description": bad}),
            json!({"labels": {"a": bad}}),
            json!({"labels": {bad: "a"}}),
            json!({"tags": [bad]}),
        ] {
            owner.put(&node, &body).await.failed(400);
        }
        let comments = format!("{node}/comments");
        owner
            .post(&comments, &json!({"text": bad}))
            .await
            .failed(400);
        for field in ["display_name", "bio"] {
            let theme = "/api/v1/shares/theme";
            owner.put(theme, &json!({field: bad})).await.failed(400);
        }
        let tokens = "/api/v1/payment/tokens/purchase";
        let wanted = json!({"pack": "starter", "coupon": bad});
        let why = owner.post(tokens, &wanted).await.failed(400);
        assert!(why.contains("coupon"), "{why}");
    }
    let lines = json!({"description": "a\n\tb\r\n", "labels": {"a b": "\u{e9}"}, "tags": ["t"]});
    owner.put(&node, &lines).await.done(200);
}
