//! Service accounts and the client-credentials flow.

use super::super::openapi::fill_path;
use super::super::world::World;
use super::{assert_refused, post_form, service_caller, works};
use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_wire::identity::TokenResponse;
use serde_json::{Value, json};

async fn create_service_account(world: &World, body: &Value) -> (String, String, String) {
    let made: Value = world
        .owner()
        .post("/api/v1/service-accounts", body)
        .await
        .ok();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("client_id"), text("client_secret"))
}

fn fields<'a>(id: &'a str, secret: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("grant_type", "client_credentials"),
        ("client_id", id),
        ("client_secret", secret),
    ]
}

#[tokio::test]
async fn a_service_account_acts_for_its_owner_until_it_is_deleted() {
    let world = World::new();
    let owner = world.owner();
    let (id, client, secret) = create_service_account(&world, &json!({"name": "export"})).await;
    let nobody = world.nobody();
    let tokens: TokenResponse = post_form(&nobody, "/oauth/token", &fields(&client, &secret))
        .await
        .ok();
    assert_eq!(tokens.refresh_token, None);
    assert!(works(&world, &tokens.access_token).await);
    let service = world.caller(Some(&tokens.access_token));
    let folder = service.folder(None, "made by a program").await;
    owner.node(folder.id).await.done(200);

    let list: Value = owner.get("/api/v1/service-accounts").await.ok();
    assert_eq!(list["content"][0]["name"], "export");
    assert!(list["content"][0]["last_used_at"].is_string());
    assert_eq!(list["content"][0]["client_secret"], Value::Null);
    let path = format!("/api/v1/service-accounts/{id}");
    world.outsider().delete(&path).await.failed(403);
    owner.delete(&path).await.done(204);
    owner.delete(&path).await.failed(404);
    assert!(!works(&world, &tokens.access_token).await);
    let response = post_form(&nobody, "/oauth/token", &fields(&client, &secret)).await;
    assert_refused(&response, 401, "invalid_client");
}

#[tokio::test]
async fn a_wrong_secret_or_a_wider_scope_is_refused() {
    let world = World::new();
    let nobody = world.nobody();
    let body = json!({"name": "reader", "scope": "files.read"});
    let (_, client, secret) = create_service_account(&world, &body).await;
    let wrong = post_form(&nobody, "/oauth/token", &fields(&client, "cs_wrong")).await;
    assert_refused(&wrong, 401, "invalid_client");
    let stranger = post_form(&nobody, "/oauth/token", &fields("cairn", "x")).await;
    assert_refused(&stranger, 401, "invalid_client");
    let mut wider = fields(&client, &secret);
    wider.push(("scope", "files"));
    assert_refused(
        &post_form(&nobody, "/oauth/token", &wider).await,
        400,
        "invalid_scope",
    );
    let tokens: TokenResponse = post_form(&nobody, "/oauth/token", &fields(&client, &secret))
        .await
        .ok();
    let folder = json!({"kind": "folder", "name": "a"});
    let reader = world.caller(Some(&tokens.access_token));
    reader.post("/api/v1/nodes", &folder).await.failed(403);
    for bad in [
        json!({"name": ""}),
        json!({"name": "x".repeat(101)}),
        json!({"name": "x", "scope": "admin"}),
        json!({"name": "x", "more": 1}),
        json!({}),
    ] {
        world
            .owner()
            .post("/api/v1/service-accounts", &bad)
            .await
            .failed(400);
    }
}

#[tokio::test]
async fn a_service_account_makes_nothing_that_outlives_it_and_a_reader_sees_files_alone() {
    let world = World::new();
    let nobody = world.nobody();
    for (scope, reads) in [("files", 200), ("files.read", 403)] {
        let (_, client, secret) =
            create_service_account(&world, &json!({"name": scope, "scope": scope})).await;
        let tokens: TokenResponse = post_form(&nobody, "/oauth/token", &fields(&client, &secret))
            .await
            .ok();
        let service = world.caller(Some(&tokens.access_token));
        for path in ["/api/v1/apikeys", "/api/v1/service-accounts"] {
            service.post(path, &json!({"name": "x"})).await.failed(403);
        }
        let hook = json!({"url": "https://hooks.example.com/", "events": ["file.uploaded"]});
        service.post("/api/v1/webhooks", &hook).await.failed(403);
        service.delete("/api/v1/useraccount").await.failed(403);
        service.get("/api/v1/useraccount/composite").await.done(200);
        service.get("/api/v1/nodes").await.done(200);
        for path in [
            "/api/v1/apikeys",
            "/api/v1/payment/wallet",
            "/api/v1/webhooks",
        ] {
            let response = service.get(path).await;
            assert_eq!(response.status.as_u16(), reads, "{scope} {path}");
        }
    }
}

/// The families of paths that are about files, and what is shared of them.
const OF_FILES: [&str; 10] = [
    "/api/v1/comments/",
    "/api/v1/downloads/",
    "/api/v1/nodes",
    "/api/v1/public/shares/",
    "/api/v1/retention-rules",
    "/api/v1/revisions/",
    "/api/v1/shares",
    "/api/v1/spaces/",
    "/api/v1/trash",
    "/api/v1/uploads",
];
/// Settings of the whole account among them.
const SETTINGS: [&str; 2] = ["/api/v1/shares/defaults", "/api/v1/shares/theme"];

/// Returns the operations of the document that change something and are not about files. Those under `/oauth` take no
/// access token.
fn beyond_files(document: &Value) -> Vec<(Method, String)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let is_of_files = OF_FILES.iter().any(|family| path.starts_with(family));
        if path.starts_with("/oauth") || is_of_files && !SETTINGS.contains(&path.as_str()) {
            continue;
        }
        for method in item.as_object().unwrap().keys().filter(|one| *one != "get") {
            found.push((method.to_uppercase().parse().unwrap(), fill_path(path)));
        }
    }
    found
}

#[tokio::test]
async fn a_token_for_files_changes_nothing_else_and_moves_no_money() {
    let world = World::new();
    let service = service_caller(&world, "files").await;
    let document: Value = world.nobody().get("/api/v1/openapi.json").await.ok();
    let operations = beyond_files(&document);
    assert!(operations.len() > 60, "{operations:?}");
    for (method, path) in operations {
        let sent = service.send(method.clone(), &path, &[], "{}").await;
        let text = String::from_utf8_lossy(&sent.body).into_owned();
        assert_eq!(sent.status, 403, "{method} {path}: {text}");
        assert!(
            text.contains("this access token is for files"),
            "{method} {path}: {text}"
        );
    }
    // Files, and what is shared of them, are its matter; other things may be looked at.
    let folder = service.folder(None, "of a program").await;
    service.node(folder.id).await.done(200);
    for path in [
        "/api/v1/payment/wallet",
        "/api/v1/shares/defaults",
        "/api/v1/devices",
        "/api/v1/teams",
    ] {
        service.get(path).await.done(200);
    }
}

#[tokio::test]
async fn a_reader_does_not_get_the_remembered_response_of_a_writer() {
    let world = World::new();
    let nobody = world.nobody();
    let (_, client, secret) =
        create_service_account(&world, &json!({"name": "reader", "scope": "files.read"})).await;
    let tokens: TokenResponse = post_form(&nobody, "/oauth/token", &fields(&client, &secret))
        .await
        .ok();
    let reader = world.caller(Some(&tokens.access_token));
    let folder = serde_json::to_vec(&json!({"kind": "folder", "name": "a"})).unwrap();
    let key = [("idempotency-key", "k")];
    let send = |who: &super::super::world::Caller| {
        let (who, folder) = (who.clone(), folder.clone());
        async move {
            who.send(axum::http::Method::POST, "/api/v1/nodes", &key, folder)
                .await
        }
    };
    send(&world.owner()).await.done(201);
    send(&reader).await.failed(403);
}

#[tokio::test]
async fn a_service_account_ends_one_of_its_tokens_and_no_other() {
    let world = World::new();
    let nobody = world.nobody();
    let (_, client, secret) = create_service_account(&world, &json!({"name": "export"})).await;
    let token = async || {
        let response = post_form(&nobody, "/oauth/token", &fields(&client, &secret)).await;
        response.ok::<TokenResponse>().access_token
    };
    let (first, second) = (token().await, token().await);
    let revoke = async |secret: &str, token: &str| {
        let fields = [
            ("client_id", client.as_str()),
            ("client_secret", secret),
            ("token", token),
        ];
        post_form(&nobody, "/oauth/revoke", &fields).await
    };
    assert_refused(&revoke("cs_wrong", &first).await, 401, "invalid_client");
    assert!(works(&world, &first).await);
    revoke(&secret, &first).await.done(200);
    // Once more, and one that is none: as good as ended.
    revoke(&secret, &first).await.done(200);
    revoke(&secret, "nonsense").await.done(200);
    assert!(!works(&world, &first).await);
    assert!(works(&world, &second).await);
    assert!(works(&world, &token().await).await);
    let (_, other, other_secret) =
        create_service_account(&world, &json!({"name": "another"})).await;
    let fields = [
        ("client_id", other.as_str()),
        ("client_secret", other_secret.as_str()),
        ("token", second.as_str()),
    ];
    post_form(&nobody, "/oauth/revoke", &fields).await.done(200);
    assert!(works(&world, &second).await, "it is not the other's");
}

#[tokio::test]
async fn the_name_of_the_scheme_has_no_case() {
    let world = World::new();
    let (_, client, secret) = create_service_account(&world, &json!({"name": "export"})).await;
    let credentials = STANDARD.encode(format!("{client}:{secret}"));
    for scheme in ["Basic", "basic", "BASIC"] {
        let headers = [
            ("authorization", format!("{scheme} {credentials}")),
            (
                "content-type",
                "application/x-www-form-urlencoded".to_owned(),
            ),
        ];
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let body = "grant_type=client_credentials";
        let nobody = world.nobody();
        let response = nobody
            .send(Method::POST, "/oauth/token", &headers, body)
            .await;
        assert!(response.status.is_success(), "{scheme}");
    }
}
