//! Conventions that hold on every endpoint: error bodies, request ids, path forms, authentication,
//! limits.

use super::world::{World, id_of, new_node};
use axum::http::Method;
use cairn_server::{Options, RateLimits};
use cairn_wire::account::Quota;
use cairn_wire::compression;
use serde_json::{Value, json};

#[tokio::test]
async fn every_failure_has_the_error_body_and_a_request_id() {
    let world = World::new();
    let owner = world.owner();
    let responses = [
        (owner.get("/nope").await, 404),
        (owner.get("/api/v1/nope/").await, 404),
        (owner.get("/api/v1/nodes/not-a-uuid").await, 404),
        (
            owner.send(Method::PATCH, "/api/v1/nodes", &[], "").await,
            405,
        ),
        (
            owner.send(Method::POST, "/api/v1/nodes", &[], "{").await,
            400,
        ),
        (
            owner
                .send(Method::POST, "/api/v1/nodes", &[], r#"{"kind":"folder"}"#)
                .await,
            400,
        ),
        (
            owner
                .send(
                    Method::POST,
                    "/api/v1/nodes",
                    &[],
                    vec![b' '; 1024 * 1024 + 1],
                )
                .await,
            413,
        ),
        (owner.get("/api/v1/nodes?page=x").await, 400),
        (owner.get("/api/v1/nodes?parent_id=x").await, 400),
        (
            owner
                .send(
                    Method::GET,
                    "/api/v1/nodes",
                    &[("x-device-id", "laptop")],
                    "",
                )
                .await,
            400,
        ),
        (world.nobody().get("/api/v1/nodes").await, 401),
    ];
    for (response, status) in responses {
        response.failed(status);
        assert_eq!(response.header("content-type"), "application/json");
        assert!(!response.header("x-request-id").is_empty());
        assert!(response.header("ratelimit").contains("r="));
        assert!(response.header("ratelimit-policy").contains("w=60"));
    }
}

#[tokio::test]
async fn a_wrong_method_names_the_right_ones() {
    let world = World::new();
    let response = world
        .owner()
        .send(Method::PATCH, "/api/v1/trash", &[], "")
        .await;
    response.failed(405);
    assert!(
        response.header("allow").contains("DELETE"),
        "{}",
        response.header("allow")
    );
}

#[tokio::test]
async fn a_panic_is_a_response_and_the_server_lives_on() {
    let world = World::new();
    let owner = world.owner();
    owner
        .post(
            "/_dev/faults",
            &json!({"path_pattern": "/api/v1/nodes", "panic": true, "count": 1}),
        )
        .await
        .done(201);
    let response = owner.get("/api/v1/nodes").await;
    let message = response.failed(500);
    assert!(!message.contains("fault"), "causes stay inside: {message}");
    assert!(!response.header("x-request-id").is_empty());
    owner.get("/api/v1/nodes").await.done(200);
}

#[tokio::test]
async fn a_request_id_of_the_client_comes_back() {
    let world = World::new();
    let response = world
        .owner()
        .send(
            Method::GET,
            "/api/v1/nodes",
            &[("x-request-id", "mine-1")],
            "",
        )
        .await;
    assert_eq!(response.header("x-request-id"), "mine-1");
}

#[tokio::test]
async fn both_path_families_and_slashes_reach_the_same_nodes() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "a").await;
    for path in [
        "/api/v1/nodes",
        "/api/v1/nodes/",
        "/v2/nodes",
        "/v2/nodes/",
        "/v2/nodes?page_size=5",
    ] {
        let page: serde_json::Value = owner.get(path).await.ok();
        assert_eq!(page["content"][0]["id"], folder.id.to_string(), "{path}");
    }
    for path in [
        format!("/v2/nodes/{}", folder.id),
        format!("/api/v1/nodes/{}/", folder.id),
    ] {
        owner.get(&path).await.done(200);
    }
    owner.get("/v2/nodesque").await.failed(404);
    let message = owner.get("/api/v1/nodes//").await.failed(404);
    assert!(message.contains("/api/v1/nodes//"), "{message}");
    // An id that was left empty.
    owner.delete("/api/v1/trash//").await.failed(404);
    owner.get("/api/v1/search/?query=ab").await.done(200);
}

#[tokio::test]
async fn only_tokens_in_force_are_let_in() {
    let world = World::new();
    let token = world.app.issue_token("owner@example.com").unwrap();
    let by_token = world.caller(Some(&token));
    by_token.get("/api/v1/nodes").await.done(200);
    for bad in [
        "",
        "ck_",
        "ck_unknown",
        "nonsense",
        "a.b.c",
        &format!("{token}x"),
    ] {
        let response = world.caller(Some(bad)).get("/api/v1/nodes").await;
        response.failed(401);
        let expected = if bad.is_empty() {
            "Bearer"
        } else {
            "Bearer error=\"invalid_token\""
        };
        assert_eq!(response.header("www-authenticate"), expected, "{bad}");
    }
    let basic = world
        .nobody()
        .send(
            Method::GET,
            "/api/v1/nodes",
            &[("authorization", "Basic abc")],
            "",
        )
        .await;
    basic.failed(401);
    world.app.source().advance(600_000);
    by_token.get("/api/v1/nodes").await.failed(401);
    world.owner().get("/api/v1/nodes").await.done(200);
}

#[tokio::test]
async fn what_is_somebody_else_s_is_forbidden_and_what_does_not_exist_is_not_found() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "secret").await;
    let revision = file.revision_id.unwrap();
    let outsider = world.outsider();
    for (node, status) in [(file.id, 403), (new_node(), 404)] {
        let path = format!("/api/v1/nodes/{node}");
        let refused = outsider.get(&path).await.failed(status);
        assert!(!refused.contains("a.txt"), "{refused}");
        outsider.delete(&path).await.failed(status);
        let name = json!({"name": "b"});
        outsider.put(&path, &name).await.failed(status);
        let copy = format!("{path}/copy");
        outsider.post(&copy, &name).await.failed(status);
        for below in ["revisions", "comments"] {
            let path = format!("{path}/{below}");
            outsider.get(&path).await.failed(status);
        }
        let manifest = format!("{path}/revisions/{revision}/manifest");
        outsider.get(&manifest).await.failed(status);
        outsider.chunk(node, "secret").await.failed(status);
        let list = format!("/api/v1/nodes?parent_id={node}");
        outsider.get(&list).await.failed(status);
        let inside = json!({"kind": "folder", "name": "x", "parent_id": node});
        outsider.post("/api/v1/nodes", &inside).await.failed(status);
        let restore = format!("/api/v1/trash/{node}/restore");
        outsider.post(&restore, &json!({})).await.failed(status);
        let purge = format!("/api/v1/trash/{node}");
        outsider.delete(&purge).await.failed(status);
    }
    // What was deleted for good exists for nobody.
    let path = format!("/api/v1/nodes/{}", file.id);
    owner.delete(&path).await.done(200);
    outsider.get(&path).await.failed(403);
    let purge = format!("/api/v1/trash/{}", file.id);
    owner.delete(&purge).await.done(200);
    outsider.get(&path).await.failed(404);
    let page: serde_json::Value = outsider.get("/api/v1/nodes").await.ok();
    assert_eq!(page["totalElements"], 0);
    let feed: serde_json::Value = outsider.get("/api/v1/changes").await.ok();
    assert_eq!(feed["changes"], json!([]));
}

#[tokio::test]
async fn tokens_make_no_buckets_of_their_own() {
    let rate = RateLimits {
        write: 2,
        open: 3,
        ..RateLimits::default()
    };
    let world = World::with(Options {
        rate_limits: rate,
        ..Options::ephemeral()
    });
    for invented in ["ck_1", "ck_2", "a.b.c"] {
        let stranger = world.caller(Some(invented));
        stranger.get("/api/v1/nodes").await.failed(401);
    }
    let stranger = world.caller(Some("ck_3"));
    stranger.get("/api/v1/nodes").await.failed(429);
    world.nobody().get("/api/v1/nodes").await.failed(429);
    world.owner().get("/api/v1/nodes").await.done(200);

    let token = world.app.issue_token("owner@example.com").unwrap();
    world.owner().folder(None, "a").await;
    let same = world.caller(Some(&token));
    same.folder(None, "b").await;
    let refused = same
        .post("/api/v1/nodes", &json!({"kind": "folder", "name": "c"}))
        .await;
    refused.failed(429);
}

#[tokio::test]
async fn a_full_bucket_answers_429_until_time_empties_it() {
    let rate = RateLimits {
        write: 2,
        ..RateLimits::default()
    };
    let world = World::with(Options {
        rate_limits: rate,
        ..Options::ephemeral()
    });
    let owner = world.owner();
    owner.folder(None, "a").await;
    owner.folder(None, "b").await;
    let refused = owner
        .post("/api/v1/nodes", &json!({"kind": "folder", "name": "c"}))
        .await;
    refused.failed(429);
    assert_eq!(refused.header("retry-after"), "30");
    assert_eq!(refused.header("ratelimit"), "\"write\";r=0;t=60");
    assert_eq!(refused.header("ratelimit-policy"), "\"write\";q=2;w=60");
    // Another endpoint and another account have buckets of their own.
    owner.get("/api/v1/nodes").await.done(200);
    world.outsider().folder(None, "c").await;
    world.app.source().advance(30_000);
    owner.folder(None, "c").await;
}

#[tokio::test]
async fn a_look_at_the_headers_has_the_bucket_of_the_reading() {
    let rate = RateLimits {
        read: 2,
        ..RateLimits::default()
    };
    let world = World::with(Options {
        rate_limits: rate,
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let mut statuses = Vec::new();
    for method in [Method::GET, Method::HEAD, Method::HEAD, Method::GET] {
        let response = owner.send(method, "/api/v1/nodes", &[], "").await;
        statuses.push(response.status.as_u16());
    }
    assert_eq!(statuses, [200, 200, 429, 429]);
}

#[tokio::test]
async fn a_message_names_what_the_request_has() {
    let world = World::with(Options {
        signed_logs: true,
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let nowhere = new_node();
    let log = owner.get(&format!("/api/v1/spaces/{nowhere}/log")).await;
    let message = log.failed(404);
    assert!(!message.contains("X-Space-Id"), "{message}");
    let source = json!({"node_id": nowhere, "revision_id": nowhere});
    let upload = json!({
        "node_id": nowhere, "revision_id": nowhere, "name": "a", "size": 1, "copy_of": source,
        "chunks": [{"id": "0".repeat(64), "size": 1}]
    });
    let message = owner.post("/api/v1/uploads", &upload).await.failed(400);
    assert!(message.contains("for files of a batch"), "{message}");
    let role = json!({"role": "zz"});
    let member = format!("/api/v1/teams/{nowhere}/members/{nowhere}");
    let message = owner.put(&member, &role).await.failed(400);
    assert!(
        message.contains("admin") && !message.contains("owner"),
        "{message}"
    );
}

#[tokio::test]
async fn an_array_is_no_object() {
    let world = World::new();
    let owner = world.owner();
    for path in [
        "/api/v1/shares/defaults",
        "/api/v1/shares/theme",
        "/api/v1/social/profile",
        "/api/v1/useraccount/email-preferences",
    ] {
        let response = owner.send(Method::PUT, path, &[], " [null, null]").await;
        response.failed(400);
    }
}

#[tokio::test]
async fn every_list_bounds_its_page_size() {
    let world = World::new();
    let owner = world.owner();
    for path in ["/api/v1/social/notifications", "/api/v1/nodes/"] {
        owner.get(&format!("{path}?page_size=0")).await.failed(400);
        owner
            .get(&format!("{path}?page_size=101"))
            .await
            .failed(400);
        let page: Value = owner.get(&format!("{path}?page_size=7")).await.ok();
        assert_eq!(page["pageSize"], 7, "{path}");
    }
    owner
        .get("/api/v1/diagnostics/upload?file_size_bytes=9223372036854775808")
        .await
        .failed(400);
}

#[tokio::test]
async fn health_needs_no_token() {
    let world = World::new();
    let health: serde_json::Value = world.nobody().get("/api/v1/health").await.ok();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["time"], "2026-01-01T00:00:00.000Z");
}

#[tokio::test]
async fn a_browser_gets_a_page_about_the_address_and_a_program_a_404() {
    let world = World::new();
    let nobody = world.nobody();
    nobody.get("/").await.failed(404);
    let accept = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let page = nobody.send(Method::GET, "/", &accept, "").await;
    page.done(200);
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(
        html.contains("<main>") && html.contains("This is a Cairn server"),
        "{html}"
    );
    let icon = nobody.get("/favicon.ico").await;
    icon.done(200);
    assert_eq!(icon.header("content-type"), "image/svg+xml");
}

#[tokio::test]
async fn what_is_wrong_is_named_with_its_rule() {
    let world = World::new();
    let owner = world.owner();
    for (path, status, parts) in [
        ("/api/v1/nodes/nonsense", 404, ["`id`", "UUID"]),
        ("/api/v1/nodes?page=x", 400, ["`page`", "whole number"]),
        (
            "/api/v1/nodes?page_size=-1",
            400,
            ["`page_size`", "whole number"],
        ),
        ("/api/v1/nodes?parent_id=x", 400, ["`parent_id`", "UUID"]),
        (
            "/api/v1/social/notifications?unread_only=maybe",
            400,
            ["`unread_only`", "`true` or `false`"],
        ),
    ] {
        let message = owner.get(path).await.failed(status);
        for part in parts {
            assert!(message.contains(part), "{path}: {message}");
        }
        for word in ["deserialize", "Cannot parse", "invalid digit"] {
            assert!(!message.contains(word), "{path}: {message}");
        }
    }
    let file = owner.file(None, "a", "x").await;
    let list = format!("/api/v1/nodes?parent_id={}", file.id);
    assert!(owner.get(&list).await.failed(400).contains("is a file"));
}

#[tokio::test]
async fn a_body_that_says_it_is_no_json_is_refused() {
    let world = World::new();
    let owner = world.owner();
    let body = json!({"kind": "folder", "name": "a"}).to_string();
    let send = async |kind: &str| {
        let headers = [("content-type", kind)];
        let path = "/api/v1/nodes";
        owner.send(Method::POST, path, &headers, body.clone()).await
    };
    for kind in ["text/plain", "application/x-www-form-urlencoded", "json"] {
        assert!(send(kind).await.failed(415).contains(kind));
    }
    send("application/json; charset=utf-8").await.done(201);
}

#[tokio::test]
async fn what_the_client_has_is_not_sent_again() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a", "x").await;
    let path = format!("/api/v1/nodes/{}", file.id);
    let tag = owner.get(&path).await.header("etag").to_owned();
    let again = async |path: &str, tag: &str| {
        let headers = [("if-none-match", tag)];
        owner.send(Method::GET, path, &headers, "").await
    };
    let known = again(&path, &tag).await;
    assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), tag);
    again(&path, "\"other\"").await.done(200);
    let chunk = format!("/api/v1/chunks/{}?node={}", id_of(b"x"), file.id);
    let tag = owner.get(&chunk).await.header("etag").to_owned();
    let used = async || {
        owner
            .get("/api/v1/userusage/quota-limit")
            .await
            .ok::<Quota>()
    };
    let before = used().await;
    again(&chunk, &tag).await.done(304);
    assert_eq!(used().await, before, "nothing was transferred");
    // A change is no matter of what the client has.
    let headers = [("if-none-match", "*")];
    owner
        .send(Method::DELETE, &path, &headers, "")
        .await
        .done(200);
}

#[tokio::test]
async fn sync_is_answered_compressed_if_the_request_accepts_it() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..20 {
        owner.folder(None, &format!("folder {number}")).await;
    }
    let get = async |path: &str, accept: &str| {
        owner
            .send(Method::GET, path, &[("accept-encoding", accept)], "")
            .await
    };
    let plain = get("/api/v1/changes", "gzip, zstd;q=0").await;
    let compressed = get("/api/v1/changes", "gzip, zstd").await;
    assert!(plain.headers.get("content-encoding").is_none());
    for response in [&plain, &compressed] {
        let vary = response.headers.get_all("vary");
        assert!(vary.iter().any(|value| value == "accept-encoding"));
        assert_eq!(response.header("content-type"), "application/json");
    }
    assert_eq!(compressed.header("content-encoding"), "zstd");
    assert!(compressed.body.len() * 3 < plain.body.len());
    let text = compression::decompress(&compressed.body, plain.body.len()).unwrap();
    assert_eq!(text, plain.body);
    // Nothing to gain, and a route whose responses may have secrets beside texts of others.
    let empty = get("/api/v1/changes?limit=1", "zstd").await;
    assert!(empty.headers.get("content-encoding").is_none());
    let other = get("/api/v1/openapi.json", "zstd").await;
    assert!(other.headers.get("content-encoding").is_none());
    assert!(other.body.len() > 10_000);
}

#[tokio::test]
async fn a_compressed_body_is_refused_with_the_coding_that_is_taken() {
    let world = World::new();
    let owner = world.owner();
    for (coding, status) in [("gzip", 415), ("zstd", 415), ("identity", 201)] {
        let headers = [("content-encoding", coding)];
        let body = serde_json::to_vec(&json!({"kind": "folder", "name": coding})).unwrap();
        let sent = owner
            .send(Method::POST, "/api/v1/nodes", &headers, body)
            .await;
        assert_eq!(sent.status, status, "{coding}");
        if status == 415 {
            sent.failed(415);
            assert_eq!(sent.header("accept-encoding"), "identity");
        }
    }
}

#[tokio::test]
async fn messages_have_no_names_of_types() {
    let world = World::new();
    let owner = world.owner();
    for (path, body) in [
        ("/api/v1/nodes", "\"x\""),
        ("/api/v1/nodes", r#"{"kind": 7, "name": "x"}"#),
        ("/api/v1/nodes/batch", r#"{"operations": [7]}"#),
        ("/api/v1/nodes/batch", r#"{"operations": [{"op": 7}]}"#),
        ("/api/v1/uploads/batch", r#"{"files": [7]}"#),
        ("/api/v1/uploads/batch", r#"{"files": [{"name": 7}]}"#),
        ("/api/v1/shares", "7"),
        ("/api/v1/webhooks", "true"),
    ] {
        let sent = owner.send(Method::POST, path, &[], body).await;
        sent.failed(400);
        let text = String::from_utf8_lossy(&sent.body).into_owned();
        for word in ["struct", "enum", "variant", "sequence", "tuple"] {
            assert!(!text.contains(word), "{text}");
        }
    }
}
